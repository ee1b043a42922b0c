//! The tools of others on a cluster: the pods that they are in, and the cells that they cannot
//! measure.

use hopbench_model::{ClusterSpec, Path, Point, Via};
use hopbench_peer::brings_server;
use hopbench_testbed::placement::{Endpoints, Placement, PodId};

/// The image of the tools beside a pod's agent; `None`: no tool measures there.
pub(crate) fn image<'a>(
    spec: &'a ClusterSpec,
    placement: &Placement,
    pod: &PodId,
) -> Option<&'a str> {
    let image = spec.peers.as_ref()?.image.as_str();
    let measures = |ends: &Endpoints| ends.peers && ends.ends().any(|end| end == pod);
    // Where a server program answers, no tool has a server.
    (pod.program.is_none() && placement.paths.values().any(measures)).then_some(image)
}

/// Whether tools send HTTP requests to the agent in a pod.
pub(crate) fn ask_agent(spec: &ClusterSpec, placement: &Placement, pod: &PodId) -> bool {
    let asks = |ends: &Endpoints| ends.peers_ask_agents && ends.servers.contains(pod);
    spec.peers.is_some() && pod.program.is_none() && placement.paths.values().any(asks)
}

/// Why a tool cannot measure a cell, and what to do about it.
pub(crate) fn unsupported(spec: &ClusterSpec, path: &Path, point: &Point) -> Option<String> {
    let name = &point.peer.as_ref()?.tool;
    if let Some(why) = hopbench_peer::unsupported(path, point) {
        return Some(why);
    }
    if spec.peers.is_none() {
        return Some(format!(
            "nothing says where `{name}` is on the cluster: give an image that has it under \
             `testbed: kubernetes: peers: {{image: IMAGE}}`"
        ));
    }
    if brings_server(path, point) && matches!(path.via, Via::Address(_)) {
        return Some(format!(
            "{name} has a server of its own, and what is set up outside of the run does not lead \
             to it ({})",
            path.via
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Job, Peer, PeerImage, WorkloadKind};
    use serde_json::json;

    use super::*;
    use crate::plan::fixture::{path, plan, point, spec};
    use crate::plan::placement::placement;

    /// A point that a tool measures.
    fn by(tool: &str, kind: &str, program: &str) -> Point {
        let peer = Some(Peer { tool: tool.into(), of: "w".into() });
        let point = point(kind, program);
        let params = json!({"size": "1KiB", "direction": "to-server"}).into();
        let job = Job { kind: Some(WorkloadKind::of(kind)), params, ..point.job };
        Point { peer, job, ..point }
    }

    fn with_image() -> ClusterSpec {
        ClusterSpec { peers: Some(PeerImage { image: "tools:1".into() }), ..spec() }
    }

    #[test]
    fn tools_are_beside_the_agents_of_their_paths() {
        let paths = vec![path("p", "pod@a", "pod@b", Via::ClusterIp)];
        let points = vec![point("rr", "hopbench"), by("wrk", "http", "nginx")];
        let mut plan = plan(paths, points);
        let of = |spec: &ClusterSpec, plan: &hopbench_model::Plan| {
            let placement = placement(plan);
            let has = |pod: &&PodId| image(spec, &placement, pod) == Some("tools:1");
            let asked = |pod: &&PodId| ask_agent(spec, &placement, pod);
            let names = |pods: Vec<&PodId>| pods.iter().map(|pod| pod.to_string()).collect();
            let [with, asked]: [Vec<String>; 2] = [
                names(placement.pods.iter().filter(has).collect()),
                names(placement.pods.iter().filter(asked).collect()),
            ];
            (with.join(" "), asked.join(" "))
        };
        let told = |with: &str, asked: &str| (with.to_owned(), asked.to_owned());
        assert_eq!(of(&spec(), &plan), told("", ""));
        assert_eq!(of(&with_image(), &plan), told("pod@a pod@b/p", ""));
        plan.points[1].server.program = "hopbench".into();
        assert_eq!(of(&with_image(), &plan), told("pod@a pod@b/p", "pod@b/p"));
        plan.points.iter_mut().for_each(|point| point.peer = None);
        assert_eq!(of(&with_image(), &plan), told("", ""));
    }

    #[test]
    fn cells_that_a_tool_cannot_measure_say_why() {
        let why = |spec: &ClusterSpec, via: Via, tool, kind| {
            let path = path("p", "pod@a", "pod@b", via);
            unsupported(spec, &path, &by(tool, kind, "hopbench")).unwrap_or_default()
        };
        let here = with_image();
        assert_eq!(why(&here, Via::Direct, "iperf3", "stream"), "");
        assert_eq!(why(&here, Via::ClusterIp, "iperf3", "stream"), "");
        assert!(why(&spec(), Via::Direct, "iperf3", "stream").contains("peers: {image: IMAGE}"));
        assert!(why(&here, Via::Gateway("c".into()), "wrk", "http").contains("proxies"));
        let address = || Via::Address("203.0.113.7:80".into());
        assert!(why(&here, address(), "iperf3", "stream").ends_with("(address@203.0.113.7:80)"));
        assert_eq!(why(&here, address(), "wrk", "http"), "");
    }
}
