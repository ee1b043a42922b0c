//! The tools of others in a lab: where their clients connect to, and what they cannot measure.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use hopbench_model::{Fault, IpFamily, Path, Point, ServerSpec, Via};
use hopbench_testbed::placement::{Endpoints, PodId};

use super::built::Built;
use super::target::target as of_agents;
use crate::network::families::family_of;
use crate::processes::peers::{self, PeerTool, Task, peer};
use crate::services::pod_ports::program_port;

/// The port of a tool's server on a path without a Service.
pub(super) const PORT: u16 = 5201;

/// The tool of a point.
pub(super) fn tool(point: &Point) -> Option<&'static PeerTool> {
    peer(&point.peer.as_ref()?.tool)
}

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
    let name = &point.peer.as_ref()?.tool;
    let Some(tool) = tool(point) else {
        let known: Vec<&str> = peers::PEERS.iter().map(|tool| tool.name).collect();
        return Some(format!("the lab starts no tool `{name}`; one of {}", known.join(", ")));
    };
    if path.clients > 1 || path.backends > 1 {
        return Some(format!("{name} has one client and one server; take a path with one of each"));
    }
    if path.is_proxied() {
        return Some(format!("{name} is not started on paths with proxies; take one without"));
    }
    if path.from.runtime.is_some() || path.to.runtime.is_some() {
        return Some(format!("{name} is started outside of runtimes only; take a path without"));
    }
    let address = match family_of(path) {
        IpFamily::Ipv4 => Ipv4Addr::LOCALHOST.into(),
        IpFamily::Ipv6 => Ipv6Addr::LOCALHOST.into(),
    };
    let target = SocketAddr::new(address, PORT);
    match tool.commands(&task(point, target, PORT)) {
        Err(why) => return Some(format!("{name}: {why}")),
        Ok(commands) if commands.has_more_ports && path.via != Via::Direct => {
            return Some(format!("{name} needs ports that no Service leads to ({})", path.via));
        }
        Ok(_) => {}
    }
    let missing = peers::find(tool).err()?;
    Some(format!("{name} is missing: {missing} or the folders of system programs; {}", tool.remedy))
}

/// The task of a point's tool.
pub(super) fn task(point: &Point, target: SocketAddr, port: u16) -> Task<'_> {
    let (request, has_program) = (point.server.request.as_str(), !point.server.is_agent());
    Task { job: &point.job, request, has_program, target, port }
}

/// The name of the fact that has the version of a tool.
pub(super) fn version_fact(tool: &str) -> String {
    format!("{tool} version")
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Job, MeshMode, Peer, Variant, WorkloadKind, fixture};
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
    fn cells_that_a_tool_cannot_measure_say_why() {
        let plain = || fixture::path("p");
        assert!(
            why(&plain(), "iperf", "stream").starts_with("the lab starts no tool `iperf`; one")
        );
        let many = Path { clients: 2, ..plain() };
        assert!(why(&many, "iperf3", "stream").starts_with("iperf3 has one client"));
        let variant = Some(Variant::plain());
        let meshed = Path { mesh: MeshMode::Both, variant, ..plain() };
        assert!(why(&meshed, "wrk", "http").contains("proxies"));
        let mut sandboxed = plain();
        sandboxed.to.runtime = Some("runsc".to_owned());
        assert!(why(&sandboxed, "ping", "ping").contains("runtimes"));
        let measures = "iperf3: it measures TCP streams and UDP datagrams";
        assert_eq!(why(&plain(), "iperf3", "rr"), measures);
        let six = Path { family: Some(IpFamily::Ipv6), ..plain() };
        assert_eq!(why(&six, "qperf", "rr"), "qperf: it speaks IPv4 only");
        let service = Path { via: Via::ClusterIp, ..plain() };
        assert!(why(&service, "qperf", "rr").contains("no Service leads to (cluster-ip)"));
    }

    #[test]
    fn a_tool_that_is_not_there_is_named_with_its_package() {
        for tool in peers::PEERS.iter().filter(|tool| peers::find(tool).is_err()) {
            let kinds = ["stream", "rr", "ping", "http"];
            let told = kinds.map(|kind| why(&fixture::path("p"), tool.name, kind));
            let missing = told.iter().find(|why| why.contains(" is missing: ")).unwrap();
            assert!(missing.ends_with(tool.remedy), "{missing}");
        }
    }
}
