//! The tools of others in a lab: where their clients connect to, and what they cannot measure.

use std::net::SocketAddr;

use hopbench_model::{Fault, Path, Point, ServerSpec, Via};
use hopbench_peer::{PORT, of_point, server_program};
use hopbench_testbed::placement::{Endpoints, PodId};

use super::built::Built;
use super::target::target as of_agents;
use crate::processes::peers;
use crate::services::pod_ports::program_port;

/// The port on which the server of a tool listens in a pod. A Service leads to the port of server
/// programs.
pub(super) fn port(path: &Path, pod: &PodId) -> u16 {
    if path.via == Via::Direct { PORT } else { program_port(pod) }
}

/// The address that the clients of a point connect to.
pub(super) fn target(
    built: &Built,
    endpoints: &Endpoints,
    point: &Point,
) -> Result<SocketAddr, Fault> {
    let (job, server) = (&point.job, &point.server);
    let Some(peer) = point.peer.as_ref().filter(|_| server.is_agent()) else {
        return of_agents(built, endpoints, job, server);
    };
    // It stands in the place of a server program.
    let program = ServerSpec { program: peer.tool.clone(), ..server.clone() };
    let mut target = of_agents(built, endpoints, job, &program)?;
    if endpoints.path.via == Via::Direct {
        target.set_port(PORT);
    }
    Ok(target)
}

/// Why a tool cannot measure a cell, and what to do about it.
pub(super) fn unsupported(path: &Path, point: &Point) -> Option<String> {
    if let Some(why) = hopbench_peer::unsupported(path, point) {
        return Some(why);
    }
    let tool = of_point(point)?;
    let programs = [Some(tool.name), server_program(path, point)];
    let missing = programs.into_iter().flatten().find_map(|name| peers::find(name).err())?;
    let name = tool.name;
    Some(format!("{name} is missing: {missing} or the folders of system programs; {}", tool.remedy))
}

/// The name of the fact that has the version of a tool.
pub(super) fn version_fact(tool: &str) -> String {
    format!("{tool} version")
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Job, Peer, WorkloadKind, fixture};
    use hopbench_peer::PEERS;
    use serde_json::json;

    use super::*;

    fn why(path: &Path, tool: &str, kind: &str) -> String {
        let job = Job {
            kind: Some(WorkloadKind::of(kind)),
            ..fixture::job("", json!({"size": "64B", "direction": "to-server"}))
        };
        let peer = Some(Peer { tool: tool.to_owned(), of: "w".to_owned() });
        let point = Point { peer, ..fixture::point("w", job) };
        unsupported(path, &point).unwrap_or_default()
    }

    #[test]
    fn what_no_testbed_measures_the_lab_does_not_either() {
        let told = why(&fixture::path("p"), "iperf3", "rr");
        assert_eq!(told, "iperf3: it measures TCP streams and UDP datagrams");
    }

    #[test]
    fn a_tool_that_is_not_there_is_named_with_its_package() {
        for tool in PEERS.iter().filter(|tool| peers::find(tool.name).is_err()) {
            let kinds = ["stream", "rr", "ping", "http"];
            let told = kinds.map(|kind| why(&fixture::path("p"), tool.name, kind));
            let missing = told.iter().find(|why| why.contains(" is missing: ")).unwrap();
            assert!(missing.ends_with(tool.remedy), "{missing}");
        }
    }
}
