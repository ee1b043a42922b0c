//! Sidecars that a mesh of the cluster injects, asked for as its users do: by labels and
//! annotations.
//!
//! One pod serves every mode. The agent listens at a port for each mode. The annotations say which
//! ports the sidecar takes on the way in, and which on the way out, as the rules of a lab do.
//!
//! A server program has one port. So its pods serve the modes with a sidecar at the server, or all
//! others. Clients of a path with a program have pods of their own in the modes with a sidecar at
//! the client. The sidecars in these pods take the program's port.

mod linkerd;

use std::collections::BTreeMap;

use hopbench_mesh::{ADMIN, STATS};
use hopbench_model::{ClusterSpec, MeshProvider, proxy_role};
use hopbench_testbed::placement::{Endpoints, Met, Placement, PodId};
use k8s_openapi::api::core::v1::{Container, Pod};
use serde_json::json;

use super::on_nodes;
use super::ports::{Ports, list};
use crate::api::labels::{PROXY_IMAGE, VARIANT, label};
use crate::objects::containers::SIDECAR;
use crate::objects::sidecar::Sidecar;
use crate::provision::built::Built;

/// Statistics that the proof needs, and that Istio leaves out unless it is asked for them.
const PROVING: &str = ".*(downstream_cx_total|downstream_rq_total|upstream_cx_total|\
                       upstream_cx_connect_.*|upstream_rq_total|upstream_rq_retry|\
                       downstream_cx_active|upstream_cx_active)";
/// Lines of Istio's sidecars that are not about the traffic: probes, and their own connections.
const OWN: [&str; 8] = [
    "_15021\"",
    "_15090\"",
    "prefix=\"status\"",
    "prefix=\"metrics\"",
    "prefix=\"agent\"",
    "prefix=\"stats\"",
    "cluster_name=\"prometheus_stats\"",
    "cluster_name=\"agent\"",
];

/// The beginnings of the annotations by which sidecars take what their mode says, and can be read.
const OURS: [&str; 7] = [
    "traffic.sidecar.istio.io/include",
    "proxy.istio.io/config",
    "linkerd.io/inject",
    "config.linkerd.io/skip-",
    "config.linkerd.io/opaque-ports",
    "config.linkerd.io/proxy-cpu-limit",
    "config.linkerd.io/proxy-await",
];

/// The labels, annotations and ports of a plan's pods.
pub(crate) fn sidecars(
    provider: MeshProvider,
    spec: &ClusterSpec,
    placement: &Placement,
) -> BTreeMap<PodId, Sidecar> {
    let of_pod = |pod: &PodId| {
        let ports = Ports::of(spec, placement, pod);
        let mut sidecar = match placement.sidecars.get(pod) {
            Some(variant) if provider == MeshProvider::Linkerd => linkerd::sidecar(&ports, variant),
            Some(variant) => istio(spec, &ports, variant.concurrency),
            None if ports.all.is_empty() => return None,
            None => Sidecar::default(),
        };
        if let Some(variant) = placement.sidecars.get(pod) {
            sidecar.labels.insert(VARIANT.to_owned(), label(&variant.name));
            sidecar.annotations.extend(variant.annotations.clone());
            let image = placement.settings.get(pod).and_then(|own| own.proxy.clone());
            sidecar.annotations.extend(image.map(|image| (PROXY_IMAGE.to_owned(), image)));
        }
        sidecar.also = ports.all;
        Some((pod.clone(), sidecar))
    };
    placement.pods.iter().filter_map(of_pod).collect()
}

fn istio(spec: &ClusterSpec, ports: &Ports, concurrency: u32) -> Sidecar {
    let mut sidecar = Sidecar::default();
    let mut set_label =
        |name: &str, value: &str| sidecar.labels.insert(name.to_owned(), value.to_owned());
    set_label("sidecar.istio.io/inject", "true");
    if let Some(revision) = &spec.mesh.revision {
        set_label("istio.io/rev", revision);
    }
    let config = json!({
        "concurrency": concurrency,
        "holdApplicationUntilProxyStarts": true,
        "proxyStatsMatcher": {"inclusionRegexps": [PROVING]},
    });
    let annotations = [
        ("traffic.sidecar.istio.io/includeInboundPorts", list(&ports.inbound)),
        ("traffic.sidecar.istio.io/includeOutboundIPRanges", String::new()),
        ("traffic.sidecar.istio.io/includeOutboundPorts", list(&ports.outbound)),
        ("proxy.istio.io/config", config.to_string()),
    ];
    sidecar.annotations = annotations.map(|(name, value)| (name.to_owned(), value)).into();
    sidecar
}

/// The name of a sidecar's container.
pub(crate) fn container(provider: MeshProvider) -> &'static str {
    match provider {
        MeshProvider::Envoy => SIDECAR,
        MeshProvider::Linkerd => "linkerd-proxy",
        MeshProvider::Istio | MeshProvider::IstioAmbient | MeshProvider::Cilium => "istio-proxy",
    }
}

/// The needs of a pod beyond `restricted` because of its injected containers.
pub(crate) fn beyond(provider: MeshProvider) -> Option<&'static str> {
    match provider {
        MeshProvider::Istio => {
            Some("NET_ADMIN for istio-init, unless Istio's CNI plugin sets the redirection")
        }
        MeshProvider::Linkerd => {
            Some("NET_ADMIN for linkerd-init, unless Linkerd's CNI plugin sets the redirection")
        }
        MeshProvider::Envoy | MeshProvider::IstioAmbient | MeshProvider::Cilium => None,
    }
}

fn injected(provider: MeshProvider, pod: &Pod) -> Option<&Container> {
    let spec = pod.spec.as_ref()?;
    let mut all = spec.containers.iter().chain(spec.init_containers.iter().flatten());
    all.find(|found| found.name == container(provider))
}

/// Why a pod that asked for a sidecar has none; `None`: it has one, or did not ask.
pub(crate) fn lacking(built: &Built, id: &PodId, pod: &Pod) -> Option<String> {
    let provider = built.spec.mesh.provider;
    if !built.placement.sidecars.contains_key(id) || injected(provider, pod).is_some() {
        return None;
    }
    if provider.is_on_nodes() {
        return on_nodes::lacking_capture(provider, pod);
    }
    let revision = built
        .spec
        .mesh
        .revision
        .as_ref()
        .map(|name| format!(" (revision {name})"))
        .unwrap_or_default();
    Some(format!(
        "nobody put a sidecar into it: is {}{revision} in this cluster, and does it inject into \
         namespaces that do not ask for it? `provider: envoy` needs nothing",
        provider.name()
    ))
}

/// The proxy that was put into a pod: its image, its limits, its workers.
pub(crate) fn describe(provider: MeshProvider, pod: &Pod) -> Option<String> {
    let found = injected(provider, pod)?;
    let limits = found.resources.as_ref().and_then(|resources| resources.limits.as_ref());
    let limits =
        limits.into_iter().flatten().map(|(what, most)| format!(", at most {} {what}", most.0));
    let arguments: Vec<&str> = found.args.iter().flatten().map(String::as_str).collect();
    let at = arguments.iter().position(|argument| *argument == "--concurrency");
    let workers =
        at.and_then(|at| arguments.get(at + 1)).map(|workers| format!(", {workers} workers"));
    let image = found.image.clone().unwrap_or_default();
    Some(format!(
        "{}: {image}{}{}",
        found.name,
        limits.collect::<String>(),
        workers.unwrap_or_default()
    ))
}

/// The place of a proxy's statistics: a port of its pod's loopback, and a path.
pub(crate) fn statistics(provider: MeshProvider) -> (u16, &'static str) {
    if provider == MeshProvider::Linkerd { (linkerd::METRICS, "/metrics") } else { (ADMIN, STATS) }
}

/// The counters of a proxy, as far as they are about the traffic.
pub(crate) fn counters(
    built: &Built,
    met: &Met,
    answer: &[u8],
) -> Result<BTreeMap<String, u64>, String> {
    match built.spec.mesh.provider {
        MeshProvider::Linkerd => {
            linkerd::counters(answer, proxy_role(&met.name) == "client-sidecar")
        }
        _ => hopbench_mesh::counters(&of_traffic(answer)),
    }
}

/// The gauges of a proxy.
pub(crate) fn gauges(built: &Built, answer: &[u8]) -> Result<BTreeMap<String, f64>, String> {
    match built.spec.mesh.provider {
        MeshProvider::Linkerd => Ok(BTreeMap::new()),
        _ => hopbench_mesh::gauges(&of_traffic(answer)),
    }
}

/// The lines of an answer that are about the traffic.
fn of_traffic(answer: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(answer);
    let lines = text.lines().filter(|line| !OWN.iter().any(|own| line.contains(own)));
    lines.flat_map(|line| [line, "\n"]).collect::<String>().into_bytes()
}

/// Reasons why a path cannot be measured with these sidecars, with remedies.
pub(crate) fn impossible(provider: MeshProvider, ends: &Endpoints) -> Vec<(String, &'static str)> {
    let path = &ends.path;
    let mut all = Vec::new();
    let mut add = |why: String, remedy: &'static str| all.push((why, remedy));
    if !ends.gateways.is_empty() {
        add(
            format!("a gateway of hopbench's own is no part of {}", provider.name()),
            "name the mesh's gateway under `gateway:`, and say `via: gateway`",
        );
    }
    if path.mesh.has_client()
        && !matches!(path.via, hopbench_model::Via::Direct | hopbench_model::Via::ClusterIp)
    {
        let why = format!("`via: {}`: the port is known only when the sidecar runs", path.via);
        add(why, "`mesh: server`, `via: direct` or `via: cluster-ip`");
    }
    if let Some(variant) = &path.variant {
        let is_ours = |key: &&String| OURS.iter().any(|ours| key.starts_with(ours));
        if let Some(key) = variant.annotations.keys().find(is_ours) {
            add(
                format!("variant {}: hopbench itself says {key}", variant.name),
                "leave it out; for workers there is `concurrency`",
            );
        }
        let plain = hopbench_model::Variant {
            name: variant.name.clone(),
            concurrency: variant.concurrency,
            annotations: variant.annotations.clone(),
            ..hopbench_model::Variant::plain()
        };
        if *variant != plain {
            add(
                format!(
                    "variant {}: how the proxies of {} are set up is its control plane's",
                    variant.name,
                    provider.name()
                ),
                "set it up there; of a variant `concurrency` and `annotations` are taken over",
            );
        }
    }
    all
}
