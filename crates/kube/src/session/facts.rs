//! Facts about the cluster that a reader of the results has to know.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::IpFamily;

use crate::mesh;
use crate::provision::built::Built;
use crate::provision::pod_status;

/// Facts by name. Nothing that differs from run to run on the same cluster, but for the addresses.
pub(crate) fn facts(built: &Built, server: &str) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut put = |name: String, value: String| {
        if !value.is_empty() {
            facts.insert(name, value);
        }
    };
    put("kubernetes".to_owned(), built.discovery.version.clone());
    put("api server".to_owned(), server.to_owned());
    put("namespace".to_owned(), built.run.namespace.clone());
    put("cluster nodes".to_owned(), built.discovery.nodes.len().to_string());
    for (name, node) in &built.nodes {
        put(format!("node {name}"), node.name.clone());
        put(format!("node {name} zone"), node.zone().unwrap_or_default().to_owned());
        put(format!("node {name} cpus"), node.cpus.clone());
        put(
            format!("node {name} kernel"),
            format!("{} ({}, {})", node.kernel, node.os, node.architecture),
        );
        put(format!("node {name} kubelet"), node.kubelet.clone());
        put(format!("node {name} runtime"), node.container_runtime.clone());
        let addresses: Vec<String> = node.addresses.iter().map(ToString::to_string).collect();
        put(format!("node {name} address"), addresses.join(", "));
    }
    put("cni".to_owned(), cni(built));
    let unknown = || "unknown: neither its port for metrics nor a ConfigMap tells".to_owned();
    put("kube-proxy".to_owned(), built.kube_proxy.clone().unwrap_or_else(unknown));
    let security = if built.beyond.is_empty() {
        built.level.to_string()
    } else {
        let pods = built.beyond.iter().map(|(pod, what)| format!("{pod}: {}", what.join(", ")));
        format!("{} ({})", built.level, pods.collect::<Vec<_>>().join("; "))
    };
    put("pod security".to_owned(), security);
    for (place, attachment) in &built.attachments {
        if let Some(class) = &attachment.runtime_class {
            let handler = built.discovery.runtime_classes.as_ref().and_then(|all| all.get(class));
            let handler =
                handler.map(|handler| format!(" (handler {handler})")).unwrap_or_default();
            put(format!("place {place} RuntimeClass"), format!("{class}{handler}"));
        }
    }
    for (id, pod) in &built.pods {
        let all = IpFamily::ALL.map(|family| built.address_of(id, pod, Some(family)));
        let all: Vec<String> = all.iter().flatten().map(ToString::to_string).collect();
        put(format!("pod {id} address"), all.join(", "));
        put(format!("pod {id} node"), pod_status::node(pod).to_owned());
    }
    mesh::facts(built).into_iter().for_each(|(name, value)| put(name, value));
    for (id, why) in &built.refused {
        put(format!("pod {id} is missing"), why.clone());
    }
    let images: BTreeSet<(&str, &str)> =
        built.pods.values().flat_map(pod_status::images).map(|(_, image)| image).collect();
    for (image, digest) in images {
        put(format!("image {image}"), digest.to_owned());
    }
    for service in &built.services {
        let entry = built.entries.get(&service.name);
        let address = entry.and_then(|entry| entry.address).map(|address| address.to_string());
        put(format!("service {} address", service.name), address.unwrap_or_default());
        let port = entry.map(|entry| entry.node_port).filter(|port| *port > 0);
        put(
            format!("service {} node port", service.name),
            port.map(|port| port.to_string()).unwrap_or_default(),
        );
    }
    for (route, gateway) in &built.gateways {
        let (Ok(told) | Err(told)) = gateway;
        put(format!("route {route} gateway"), told.clone());
    }
    facts
}

/// The pod network by the traces that its agents leave on the nodes.
fn cni(built: &Built) -> String {
    let found: BTreeSet<&str> =
        built.nodes.values().filter_map(|node| node.cni.as_deref()).collect();
    if found.is_empty() {
        "unknown: it leaves no trace on the nodes".to_owned()
    } else {
        found.into_iter().collect::<Vec<_>>().join(", ")
    }
}
