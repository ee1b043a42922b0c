//! Plans, as a scenario would make them.

use hopbench_model::{
    Job, LabNode, LabSpec, MeshMode, Path, Place, Plan, Point, ServerSpec, TestbedSpec, Timing,
    Variant, Via, fixture,
};

/// Nodes `a`, `b` and `c` of one zone.
pub(crate) fn spec() -> LabSpec {
    let node = |name: &str| LabNode {
        name: name.to_owned(),
        zone: "z".to_owned(),
        link_bits_per_s: Some(10_000_000_000),
        server_work_ns: None,
        stands_for: None,
        settings: hopbench_model::NodeSettings::default(),
    };
    LabSpec {
        nodes: ["a", "b", "c"].map(node).to_vec(),
        mtu: 1500,
        zone_link_bits_per_s: None,
        zone_delay_ns: 0,
    }
}

/// `bridge@a`, `bridge@[a, b]`.
pub(crate) fn place(text: &str) -> Place {
    let (network, nodes) = text.split_once('@').expect("a place");
    let mut nodes = nodes.trim_matches(['[', ']']).split(", ").map(str::to_owned);
    let first = nodes.next().expect("a node");
    Place { more_nodes: nodes.collect(), ..fixture::place(network, &first) }
}

/// A path with one client and one server.
pub(crate) fn path(from: &str, to: &str, via: Via) -> Path {
    let name = format!("{from} to {to} {via}");
    Path { from: place(from), to: place(to), via, ..fixture::path(&name) }
}

/// A path through proxies of this variant.
pub(crate) fn meshed(from: &str, to: &str, via: Via, mesh: MeshMode, variant: &Variant) -> Path {
    let plain = path(from, to, via);
    let name = format!("{} {mesh} {}", plain.name, variant.name).replace([' ', '@'], "-");
    Path { name, mesh, variant: Some(variant.clone()), ..plain }
}

/// A job with nothing special about it.
pub(crate) fn job(workload: &str, connections: u32) -> Job {
    let timing = Timing { warmup_ns: 0, window_ns: 1, interval_ns: 1, timeout_ns: 1 };
    Job { connections, timing, ..fixture::job(workload, serde_json::Value::Null) }
}

/// What the agent itself answers.
pub(crate) fn agent() -> ServerSpec {
    fixture::server()
}

/// A point of one workload and server.
pub(crate) fn point(workload: &str, server: ServerSpec) -> Point {
    Point { server, ..fixture::point(workload, job(workload, 1)) }
}

/// Every path with every point.
pub(crate) fn plan(spec: &LabSpec, paths: Vec<Path>, points: Vec<Point>) -> Plan {
    Plan { testbed: TestbedSpec::Lab(spec.clone()), ..fixture::plan(paths, points) }
}
