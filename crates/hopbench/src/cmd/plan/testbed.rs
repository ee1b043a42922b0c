//! The testbed of a plan, and what its paths need of it.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_kube::Sight;
use hopbench_model::units::{BitRate, Span};
use hopbench_model::{
    ClusterNode, ClusterSpec, Host, HostsSpec, LabNode, LabSpec, MeshProvider, Path, Plan,
    PodNetwork, PrometheusSpec, SECOND, ServerImage, TestbedSpec, Via,
};
use hopbench_run::{LEAST_METERED_NS, is_metered};
use serde_json::Value;

use super::words::listed;

/// The rows of a testbed, by name. `nodes`: the machines that its nodes would be, as far as that is
/// known.
pub(super) fn rows(plan: &Plan, nodes: &BTreeMap<String, String>) -> Vec<(&'static str, String)> {
    match &plan.testbed {
        TestbedSpec::Lab(spec) => vec![("testbed", lab(spec))],
        TestbedSpec::Kubernetes(spec) => cluster(spec, plan, nodes),
        TestbedSpec::Hosts(spec) => hosts(spec),
    }
}

/// `lab: nodes a (one), b (two); links 1Gbit, 500Mbit between zones; MTU 1500`.
fn lab(lab: &LabSpec) -> String {
    let zones = lab.nodes.windows(2).any(|pair| pair[0].zone != pair[1].zone);
    let node = |node: &LabNode| {
        if zones { format!("{} ({})", node.name, node.zone) } else { node.name.clone() }
    };
    let nodes: Vec<String> = lab.nodes.iter().map(node).collect();
    let rate = |rate: Option<u64>| {
        rate.map_or_else(|| "not shaped".to_owned(), |rate| BitRate(rate).to_string())
    };
    let mut rates: Vec<String> = lab.nodes.iter().map(|node| rate(node.link_bits_per_s)).collect();
    rates.dedup();
    let mut links = vec![listed(&rates)];
    links.extend(lab.zone_link_bits_per_s.map(|rate| format!("{} between zones", BitRate(rate))));
    if lab.zone_delay_ns > 0 {
        links.push(format!("{} later between zones", Span(lab.zone_delay_ns)));
    }
    let work = lab.nodes.iter().filter_map(|node| {
        let work = Span(node.server_work_ns?);
        Some(format!("; servers on {} spin {work} before each answer", node.name))
    });
    let work: String = work.collect();
    format!("lab: nodes {}; links {}; MTU {}{work}", listed(&nodes), links.join(", "), lab.mtu)
}

fn cluster(
    spec: &ClusterSpec,
    plan: &Plan,
    places: &BTreeMap<String, String>,
) -> Vec<(&'static str, String)> {
    let kubeconfig = match &spec.kubeconfig {
        Some(file) => format!("the kubeconfig {file}"),
        None => "the kubeconfig".to_owned(),
    };
    let context = match &spec.context {
        Some(context) => format!("context {context} of {kubeconfig}"),
        None => format!("the current context of {kubeconfig}"),
    };
    let nodes: Vec<String> =
        spec.nodes.iter().map(|wanted| node(wanted, places.get(&wanted.name))).collect();
    let mut networks = vec!["host".to_owned(), "pod".to_owned(), "bridge (as pod)".to_owned()];
    networks.retain(|word| spec.networks.keys().all(|name| word.split(' ').next() != Some(name)));
    networks.extend(spec.networks.iter().map(|(name, how)| format!("{name}: {}", network(how))));
    let mut rows = vec![
        ("testbed", format!("kubernetes: {context}")),
        ("nodes", nodes.join("; ")),
        ("image", image(spec)),
        ("networks", networks.join("; ")),
    ];
    if let Some(name) = &spec.namespace {
        rows.push(("namespace", format!("{name}, which exists and stays")));
    }
    let runtimes: Vec<String> =
        spec.runtimes.iter().map(|(name, class)| format!("{name}: RuntimeClass {class}")).collect();
    if !runtimes.is_empty() {
        rows.push(("runtimes", runtimes.join("; ")));
    }
    let servers: Vec<String> =
        spec.servers.iter().map(|(name, image)| format!("{name}: {}", server(image))).collect();
    if !servers.is_empty() {
        rows.push(("servers", servers.join("; ")));
    }
    if let Some(peers) = &spec.peers {
        rows.push(("peers", format!("image {}", peers.image)));
    }
    if plan.paths.iter().any(Path::is_proxied) {
        rows.push(("mesh", mesh(spec)));
    }
    let named = spec.gateways.iter().map(|(name, gateway)| (format!("{name}: "), gateway));
    let only = spec.gateway.iter().map(|gateway| (String::new(), gateway));
    for (name, gateway) in only.chain(named) {
        let labels: Vec<String> =
            gateway.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let pods = match (&gateway.namespace, &gateway.class) {
            (Some(space), _) => format!("pods {} of namespace {space}", labels.join(", ")),
            (None, Some(_)) => "pods by its address or its label".to_owned(),
            (None, None) => "pods not known: their CPU is not counted".to_owned(),
        };
        let at = |gateway: String| format!("routes of the run at {gateway}");
        let parent = gateway.parent.as_ref().map(|parent| at(format!("Gateway {parent}")));
        let class = gateway.class.as_ref();
        let made = class.map(|class| at(format!("a Gateway of class {class} that it makes")));
        let ingress = gateway.ingress.as_ref().map(|class| {
            let at = gateway.address.iter().map(|address| format!(" at {address}"));
            format!("an Ingress of the run, of class {class}{}", at.collect::<String>())
        });
        let entrance =
            ingress.or_else(|| gateway.address.clone()).or(parent).or(made).unwrap_or_default();
        rows.push(("gateway", format!("{name}{entrance}; {pods}")));
    }
    match &spec.prometheus {
        None => {}
        Some(PrometheusSpec::Url(url)) => rows.push(("prometheus", url.clone())),
        Some(PrometheusSpec::Service { namespace, name, port }) => {
            rows.push(("prometheus", format!("Service {namespace}/{name}, port {port}")));
        }
    }
    rows.extend(metering(spec, plan).map(|text| ("metered", text)));
    for object in &spec.objects {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
        rows.push(("object", format!("{kind} {name} ({})", text(&object["apiVersion"]))));
    }
    if let Some(patch) = &spec.patch {
        rows.push(("patch", format!("of every pod: {patch}")));
    }
    if spec.network_policy {
        rows.push((
            "policy",
            "a NetworkPolicy lets only the run's pods reach each other".to_owned(),
        ));
    }
    rows
}

/// Who reads the CPU and memory of what is no agent, and what waiting for that costs; `None`: there
/// is nothing but agents.
fn metering(spec: &ClusterSpec, plan: &Plan) -> Option<String> {
    let (mut agents, mut long, mut short) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (cell, sight) in Sight::of_cells(plan) {
        let (_, point) = plan.at(cell);
        agents.extend(sight.by_agents);
        let by_meters = if is_metered(point.job.timing.window_ns) { &mut long } else { &mut short };
        by_meters.extend(sight.by_meters);
    }
    let [agents, long, short] = [agents, long, short].map(|words| Vec::from_iter(words).join(", "));
    let prometheus = if spec.prometheus.is_some() { ", Prometheus" } else { "" };
    let by_agents =
        format!("{agents}: by the agents beside them, from /proc at the window's edges");
    let by_meters = format!(
        "{long}: by kubelets, cAdvisor{prometheus}; each such trial waits for their readings, \
         some 8 to 16 s with the usual interval, 40 s at most"
    );
    let too_short = format!(
        "{short}: by kubelets, cAdvisor{prometheus}; with the usual interval, trials of less than \
         {} s are too short for their CPU and memory: `--time 10s` gives these; throughput and \
         latency have figures anyway",
        LEAST_METERED_NS / SECOND
    );
    let parts = [(agents, by_agents), (long, by_meters), (short, too_short)].into_iter();
    let parts: Vec<String> =
        parts.filter(|(whose, _)| !whose.is_empty()).map(|(_, text)| text).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// `a is worker-1`, `b with pool=fast in zone z2`, `c any`; where the place is known,
/// `c: worker-3`.
fn node(node: &ClusterNode, place: Option<&String>) -> String {
    let mut out = node.name.clone();
    match (&node.node, place) {
        (Some(name), _) => out.push_str(&format!(" is {name}")),
        (None, Some(place)) => out.push_str(&format!(": {place}")),
        (None, None) => {}
    }
    if !node.labels.is_empty() {
        let labels: Vec<String> =
            node.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        out.push_str(&format!(" with {}", labels.join(", ")));
    }
    if let Some(zone) = &node.zone {
        out.push_str(&format!(" in zone {zone}"));
    }
    if out == node.name { format!("{out} any") } else { out }
}

fn network(how: &PodNetwork) -> String {
    let PodNetwork { runtime_class, annotations, labels, interface, patch } = how;
    let keys = |map: &BTreeMap<String, String>| map.keys().cloned().collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if let Some(class) = runtime_class {
        parts.push(format!("RuntimeClass {class}"));
    }
    if !annotations.is_empty() {
        parts.push(format!("annotation {}", keys(annotations)));
    }
    if !labels.is_empty() {
        parts.push(format!("label {}", keys(labels)));
    }
    if patch.is_some() {
        parts.push("a patch".to_owned());
    }
    if let Some(name) = interface {
        parts.push(format!("interface {name}"));
    }
    if parts.is_empty() { "as pod".to_owned() } else { parts.join(", ") }
}

fn image(spec: &ClusterSpec) -> String {
    let secrets = match spec.pull_secrets.as_slice() {
        [] => String::new(),
        names => format!(", with the Secret {}", names.join(", ")),
    };
    format!("{} (pull policy {}{secrets})", spec.image, spec.pull_policy)
}

fn server(image: &ServerImage) -> String {
    let cpus = image
        .cpu_millis
        .map_or(String::new(), |millis| format!(", {} CPUs", millis as f64 / 1000.0));
    format!("{}, port {}{cpus}", image.image, image.port)
}

fn mesh(spec: &ClusterSpec) -> String {
    let mesh = &spec.mesh;
    let said = match (mesh.provider, &mesh.revision) {
        (MeshProvider::Envoy, _) => format!("envoy: our own, image {}", mesh.image),
        (provider, Some(revision)) => format!("{}, revision {revision}", provider.name()),
        (provider, None) => provider.name().to_owned(),
    };
    let families: Vec<&str> = mesh.families.iter().map(|family| family.word()).collect();
    if families.is_empty() { said } else { format!("{said}, families {}", families.join(", ")) }
}

fn hosts(spec: &HostsSpec) -> Vec<(&'static str, String)> {
    let host = |host: &Host| {
        let traffic = host
            .address
            .as_ref()
            .map_or(String::new(), |address| format!(", traffic to {address}"));
        let token =
            host.token_file.as_ref().map_or(String::new(), |file| format!(", token in {file}"));
        format!("{} at {}{traffic}{token}", host.name, host.control)
    };
    let token = match &spec.token_file {
        Some(file) => format!("token in {file}"),
        None => "agents that take anybody".to_owned(),
    };
    let nodes: Vec<String> = spec.nodes.iter().map(host).collect();
    vec![("testbed", format!("hosts: {token}")), ("nodes", nodes.join("; "))]
}

/// The needs of a path besides links and pods.
pub(super) fn needs(spec: &TestbedSpec, path: &Path, programs: BTreeSet<&str>) -> String {
    let needs = match spec {
        TestbedSpec::Lab(_) => of_lab(path, programs),
        TestbedSpec::Kubernetes(spec) => of_cluster(spec, path, programs),
        TestbedSpec::Hosts(_) => programs.into_iter().map(str::to_owned).collect(),
    };
    if needs.is_empty() { "-".to_owned() } else { Vec::from_iter(needs).join(", ") }
}

fn of_lab(path: &Path, programs: BTreeSet<&str>) -> BTreeSet<String> {
    let mut needs: BTreeSet<&str> = programs;
    let translated = matches!(path.via, Via::ClusterIp | Via::NodePort(_));
    if translated || !path.mesh.is_none() {
        needs.insert("nft");
    }
    if path.is_proxied() {
        needs.insert("envoy");
    }
    needs.extend([&path.from, &path.to].into_iter().filter_map(|place| place.runtime.as_deref()));
    needs.into_iter().map(str::to_owned).collect()
}

fn of_cluster(spec: &ClusterSpec, path: &Path, programs: BTreeSet<&str>) -> BTreeSet<String> {
    let mut needs: BTreeSet<String> =
        programs.into_iter().map(|program| format!("server {program}")).collect();
    for place in [&path.from, &path.to] {
        let runtime = place.runtime.as_ref().map(|name| spec.runtimes.get(name).unwrap_or(name));
        let network = spec.networks.get(&place.network);
        let classes = [runtime, network.and_then(|network| network.runtime_class.as_ref())];
        needs.extend(classes.into_iter().flatten().map(|class| format!("RuntimeClass {class}")));
        let known =
            network.is_some() || ["host", "pod", "bridge"].contains(&place.network.as_str());
        if !known {
            needs.insert(format!("network {}", place.network));
        }
        if place.network == "host" {
            needs.insert("host network".to_owned());
        }
    }
    if !path.mesh.is_none() {
        needs.insert(spec.mesh.provider.name().to_owned());
    }
    if let Via::Gateway(_) = path.via {
        let is_given = spec.gateway_of(path).is_some();
        needs.insert(if is_given { "the gateway" } else { "envoy" }.to_owned());
    }
    if path.via == Via::LoadBalancer {
        needs.insert("a load balancer".to_owned());
    }
    needs
}
