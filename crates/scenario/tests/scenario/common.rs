//! What the tests share.

use hopbench_model::Plan;
use hopbench_scenario::{Network, Overrides, ScenarioProblem, Server, Vocabulary, read};

/// A testbed's words. No host here holds both ends of a `vlan` path, so that the reader's rule for that shows.
pub(crate) fn vocabulary() -> Vocabulary {
    let network = |name, pod| Network { name, summary: "a way", pod, both_ends: name != "vlan" };
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
        runtimes: vec![("runsc", "gVisor")],
        servers: vec![Server { name: "nginx", summary: "a web server", sized: "/bytes/" }],
    }
}

/// Reads a scenario with nothing overridden and 1 as the new seed.
pub(crate) fn try_plan(text: &str) -> Result<Plan, Vec<ScenarioProblem>> {
    read("x.yaml", text, &vocabulary(), &Overrides { new_seed: 1, ..Overrides::default() })
}

/// The plan of a scenario that must be right.
pub(crate) fn plan(text: &str) -> Plan {
    try_plan(text).unwrap_or_else(|problems| panic!("{text}\n{}", lines(&problems)))
}

/// Problems as they are printed.
pub(crate) fn lines(problems: &[ScenarioProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A scenario with one workload on one path.
pub(crate) fn with(workload: &str) -> String {
    format!("name: x\npaths: {{p: host@a -> host@b}}\nworkloads:\n  w: {workload}\n")
}

/// A scenario with these paths and one workload.
pub(crate) fn on(paths: &str) -> String {
    format!("name: x\n{paths}\nworkloads: {{w: {{rr: {{}}}}}}\n")
}
