//! The parts that the tests share.

use hopbench_model::{Job, Plan, Transport, Unit};
use hopbench_scenario::{
    Network, Overrides, PeerWord, Resolved, ScenarioProblem, Server, TestbedChoice, Vocabularies,
    Vocabulary, read,
};

fn network(name: &str, pod: bool) -> Network {
    Network { name: name.to_owned(), summary: "a way".to_owned(), pod, both_ends: name != "vlan" }
}

fn nginx() -> Vec<Server> {
    let (name, summary) = ("nginx".to_owned(), "a web server".to_owned());
    vec![Server { name, summary, request: format!("/bytes/{}", Server::BYTES) }]
}

/// Tools that labs and clusters start. Here `wrk` takes server programs only.
const ALL_PEERS: [PeerWord; 4] = [
    PeerWord { name: "iperf3", summary: "streams", kind_of },
    PeerWord { name: "sockperf", summary: "round trips", kind_of },
    PeerWord { name: "wrk", summary: "pages", kind_of },
    PeerWord { name: "ping", summary: "echoes", kind_of },
];

fn kind_of(tool: &'static str, job: &Job, is_agent: bool) -> Result<&'static str, String> {
    match (tool, job.kind().transport, job.kind().unit) {
        ("iperf3", _, Unit::Bits) => Ok("peer-stream"),
        ("sockperf", Transport::Tcp, Unit::Requests) => Ok("peer-rr"),
        ("wrk", Transport::Http, Unit::Requests) if !is_agent => Ok("peer-http"),
        ("ping", _, Unit::Echoes) => Ok("peer-ping"),
        _ => Err("it measures something else".to_owned()),
    }
}

/// The testbeds' words.
pub(crate) fn vocabularies() -> Vocabularies {
    let networks =
        |names: &[&str]| names.iter().map(|name| network(name, *name != "host")).collect();
    let runtimes = vec![("runsc".to_owned(), "gVisor".to_owned())];
    Vocabularies {
        lab: vocabulary(),
        kubernetes: Vocabulary {
            networks: networks(&["host", "pod", "bridge", "overlay", "ptp", "macvlan", "eni"]),
            runtimes,
            any_runtime: true,
            sidecars_in_runtimes: true,
            servers: nginx(),
            peers: ALL_PEERS.into(),
        },
        hosts: Vocabulary {
            networks: networks(&["host"]),
            runtimes: Vec::new(),
            any_runtime: false,
            sidecars_in_runtimes: false,
            servers: Vec::new(),
            peers: Vec::new(),
        },
    }
}

/// A lab's words. No host here holds both ends of a `vlan` path, so that the reader's rule for that
/// shows.
pub(crate) fn vocabulary() -> Vocabulary {
    Vocabulary {
        networks: vec![
            network("host", false),
            network("bridge", true),
            network("overlay", true),
            network("ptp", true),
            network("macvlan", true),
            network("eni", true),
            network("vlan", true),
        ],
        runtimes: vec![("runsc".to_owned(), "gVisor".to_owned())],
        any_runtime: false,
        sidecars_in_runtimes: false,
        servers: nginx(),
        peers: ALL_PEERS.into(),
    }
}

/// Reads a scenario with nothing overridden and 1 as the new seed.
pub(crate) fn try_plan(text: &str) -> Result<Plan, Vec<ScenarioProblem>> {
    try_with(text, &Overrides::default()).map(|resolved| resolved.plan)
}

/// The same, with this overridden.
pub(crate) fn try_with(
    text: &str,
    overrides: &Overrides,
) -> Result<Resolved, Vec<ScenarioProblem>> {
    read("x.yaml", text, &vocabularies(), &Overrides { new_seed: 1, ..overrides.clone() })
}

/// `--testbed NAME`.
pub(crate) fn testbed(name: &str) -> Overrides {
    Overrides { testbed: Some(TestbedChoice::Named(name.to_owned())), ..Overrides::default() }
}

/// `--testbed FILE`, with this in the file.
pub(crate) fn testbed_file(text: &str) -> Overrides {
    let file = TestbedChoice::File { name: "bed.yaml".to_owned(), text: text.to_owned() };
    Overrides { testbed: Some(file), ..Overrides::default() }
}

/// What became of a scenario that must be right.
pub(crate) fn resolved(text: &str, overrides: &Overrides) -> Resolved {
    try_with(text, overrides).unwrap_or_else(|problems| panic!("{text}\n{}", lines(&problems)))
}

/// The plan of a scenario that must be right.
pub(crate) fn plan(text: &str) -> Plan {
    try_plan(text).unwrap_or_else(|problems| panic!("{text}\n{}", lines(&problems)))
}

/// Problems as they are printed.
pub(crate) fn lines(problems: &[ScenarioProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A text as a table has it on one line: a line break is written `\n`, and nothing is `""`.
pub(crate) fn text(line: &str) -> String {
    if line == "\"\"" { String::new() } else { line.replace("\\n", "\n") }
}

/// A scenario with one workload on one path.
pub(crate) fn with(workload: &str) -> String {
    format!("name: x\npaths: {{p: host@a -> host@b}}\nworkloads:\n  w: {workload}\n")
}

/// A scenario with these paths and one workload.
pub(crate) fn on(paths: &str) -> String {
    format!("name: x\n{paths}\nworkloads: {{w: {{rr: {{}}}}}}\n")
}

/// What can be said of a cluster, under `testbed.kubernetes`.
pub(crate) const CLUSTER: &str = "
    context: staging
    image: example.org/tools/hopbench:1
    pull-policy: Never
    nodes:
      a: {name: worker-1.example}
      b: {labels: {pool: fast, example.org/numa: 1}, zone: z1}
      c: {zone: z2}
      d:
    networks:
      overlay: {runtime-class: overlay}
      macvlan:
        annotations: {k8s.v1.cni.cncf.io/networks: '[{\"name\": \"m\"}]', example.org/on: true}
        labels: {app: x}
        interface: net1
        patch: {spec: {hostNetwork: false}}
      eni:
    runtimes: {runsc: sandbox, kata: kata-qemu}
    servers:
      nginx: {image: 'nginx:1.28', port: 8080, cpus: 0.5, args: [-g, 1], request: '/bytes/{bytes}'}
      own: {image: web}
    peers: {image: 'tools:1'}
    patch: {spec: {tolerations: [{key: a, operator: Exists}], priority: 5, name: '5'}}
    mesh: {provider: istio, revision: canary, families: [ipv6, ipv4]}
    gateway: {address: 'gw.example:80', namespace: ingress, labels: {app: gateway}}
    prometheus: {service: 'monitoring/prometheus:9090'}
    network-policy: true
    start-timeout: 90s
";
