//! The facts about a lab that a reader of the results has to know.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{CpuSet, IpFamily, LabSpec};
use hopbench_testbed::placement::PodId;

use super::built::Built;
use crate::network::families::of_family;
use crate::processes::runtimes::{Runtime, runtime};
use crate::processes::tools;
use crate::services::service::Front;
use crate::topology::addresses;

/// Facts by name; `steering` says whether the nodes have CPUs of their own.
pub(crate) fn facts(
    spec: &LabSpec,
    built: &Built,
    families: &[IpFamily],
    steering: &Result<(), String>,
) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut put = |name: String, value: String| {
        facts.insert(name, value);
    };
    for node in &built.nodes {
        let name = &node.spec.name;
        put(format!("node {name} address"), addresses::node(node.number).to_string());
        put(format!("node {name} zone"), node.spec.zone.clone());
        let cpus =
            node.cpus.clone().map_or_else(|| "shared".to_owned(), |cpus| CpuSet(cpus).to_string());
        put(format!("node {name} cpus"), cpus);
    }
    for (id, pod) in built.pods.iter().filter(|(id, _)| !id.is_host()) {
        let all = families.iter().map(|family| of_family(pod.address, *family).to_string());
        put(format!("pod {id} address"), all.collect::<Vec<_>>().join(", "));
    }
    let runtimes: BTreeSet<&str> =
        built.pods.keys().filter_map(|id| id.place.runtime.as_deref()).collect();
    for name in runtimes {
        let found = runtime(name).and_then(Runtime::find);
        let version = found.map(|program| tools::version(&program, "--version"));
        put(
            format!("runtime {name}"),
            version.and_then(Result::ok).unwrap_or_else(|| "of unknown version".to_owned()),
        );
    }
    for (path, service) in &built.services {
        if let Front::Address(address) = service.front {
            put(format!("service {path} address"), address.to_string());
        } else {
            put(format!("service {path} node port"), service.ports[0].port.to_string());
        }
    }
    put("mtu_bytes".to_owned(), spec.mtu.to_string());
    let own = || built.nodes.iter().filter(|node| node.spec.stands_for.is_none());
    let mut given: Vec<usize> =
        own().filter_map(|node| node.cpus.as_ref()).flatten().copied().collect();
    let count = given.len();
    given.sort_unstable();
    given.dedup();
    let apart = given.len() == count;
    let (cpus, receive) = match steering {
        Err(why) if count == 0 => {
            (format!("not separate: {why}"), "not steered: no node has CPUs of its own".to_owned())
        }
        given => (
            if apart {
                "every node has CPUs of its own".to_owned()
            } else {
                format!("the ends of every path have different CPUs; {}", sharing(built).join(", "))
            },
            match given {
                Ok(()) => "steered to the node's CPUs".to_owned(),
                Err(why) => format!("not steered to the node's CPUs: {why}"),
            },
        ),
    };
    put("cpus".to_owned(), cpus);
    put("receive".to_owned(), receive);
    facts
}

/// The nodes that share CPUs: `b and c share CPU 1`.
fn sharing(built: &Built) -> Vec<String> {
    let mut on: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for node in built.nodes.iter().filter(|node| node.spec.stands_for.is_none()) {
        for cpu in node.cpus.iter().flatten() {
            on.entry(*cpu).or_default().push(&node.spec.name);
        }
    }
    let shared = on.into_iter().filter(|(_, nodes)| nodes.len() > 1);
    shared.map(|(cpu, nodes)| format!("{} share CPU {cpu}", nodes.join(" and "))).collect()
}

/// The other pods that run on CPUs of this one; `None` where no node has CPUs of its own.
pub(crate) fn beside(built: &Built, pod: &PodId) -> Option<String> {
    let cpus = |pod: &PodId| built.node(&pod.place.node)?.cpus.as_ref();
    let own = cpus(pod)?;
    let meets =
        |other: &&PodId| cpus(other).is_some_and(|cpus| cpus.iter().any(|cpu| own.contains(cpu)));
    let others: Vec<String> = built
        .pods
        .keys()
        .filter(|other| *other != pod)
        .filter(meets)
        .map(PodId::to_string)
        .collect();
    Some(if others.is_empty() { "no other pod".to_owned() } else { others.join(", ") })
}
