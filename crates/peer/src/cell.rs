//! The cells that a tool can measure, wherever it is started.

use std::net::SocketAddr;

use hopbench_model::{Path, Point, Via};

use crate::tool::{Commands, PeerTool, Server, Task};
use crate::tools::{PEERS, peer};

/// The port of a tool's server, unless a testbed needs another.
pub const PORT: u16 = 5201;

/// The tool of a point; `None`: hopbench measures it, or nobody knows the tool.
pub fn of_point(point: &Point) -> Option<&'static PeerTool> {
    peer(&point.peer.as_ref()?.tool)
}

/// The program that the tool of a point starts as its server on this path; `None`: it starts none.
pub fn server_program(path: &Path, point: &Point) -> Option<&'static str> {
    match sketch(of_point(point)?, path, point).ok()?.server {
        Server::Tool(program, _) => Some(program),
        Server::There | Server::Ours(_) => None,
    }
}

/// Whether the tool of a point starts a server of its own on this path.
pub fn brings_server(path: &Path, point: &Point) -> bool {
    server_program(path, point).is_some()
}

/// Why the tool of a point cannot measure on this path, and what to do about it. `None` if it can,
/// and if hopbench measures.
pub fn unsupported(path: &Path, point: &Point) -> Option<String> {
    let name = &point.peer.as_ref()?.tool;
    let Some(tool) = of_point(point) else {
        let known: Vec<&str> = PEERS.iter().map(|tool| tool.name).collect();
        return Some(format!("hopbench starts no tool `{name}`; one of {}", known.join(", ")));
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
    match sketch(tool, path, point) {
        Err(why) => Some(format!("{name}: {why}")),
        Ok(commands) if commands.has_more_ports && path.via != Via::Direct => {
            Some(format!("{name} needs ports that no Service leads to ({})", path.via))
        }
        Ok(_) => None,
    }
}

/// The command lines as far as they are known before anything stands: the address is made up.
fn sketch(tool: &PeerTool, path: &Path, point: &Point) -> Result<Commands, String> {
    let address = path.family.unwrap_or_default().loopback();
    tool.commands(&Task::of(point, SocketAddr::new(address, PORT), PORT))
}

#[cfg(test)]
mod tests {
    use hopbench_model::{IpFamily, Job, MeshMode, Peer, Variant, WorkloadKind, fixture};
    use serde_json::json;

    use super::*;

    fn point(tool: &str, kind: &str) -> Point {
        let job = Job {
            kind: Some(WorkloadKind::of(kind)),
            ..fixture::job("", json!({"size": "64B", "direction": "to-server"}))
        };
        let peer = Some(Peer { tool: tool.to_owned(), of: "w".to_owned() });
        Point { peer, ..fixture::point("w", job) }
    }

    fn why(path: &Path, tool: &str, kind: &str) -> String {
        unsupported(path, &point(tool, kind)).unwrap_or_default()
    }

    #[test]
    fn cells_that_a_tool_cannot_measure_say_why() {
        let plain = || fixture::path("p");
        assert!(
            why(&plain(), "iperf", "stream").starts_with("hopbench starts no tool `iperf`; one of")
        );
        assert_eq!(why(&plain(), "iperf3", "stream"), "");
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
        for tool in ["qperf", "netperf"] {
            let why = why(&service, tool, "rr");
            assert!(why.contains("no Service leads to (cluster-ip)"), "{why}");
        }
    }

    #[test]
    fn some_tools_bring_their_server() {
        let brings = |tool, kind| brings_server(&fixture::path("p"), &point(tool, kind));
        assert!(brings("iperf3", "stream") && brings("sockperf", "rr"));
        let netperf = point("netperf", "crr");
        assert_eq!(server_program(&fixture::path("p"), &netperf), Some("netserver"));
        assert!(!brings("wrk", "http") && !brings("ping", "ping"));
        assert!(!brings("iperf3", "rr"), "it cannot measure that");
        let ours = Point { peer: None, ..point("iperf3", "stream") };
        assert!(!brings_server(&fixture::path("p"), &ours));
        assert_eq!(unsupported(&fixture::path("p"), &ours), None);
    }
}
