//! Tools of others that measure beside hopbench.

use serde::{Deserialize, Serialize};

/// How the names of workloads begin that a tool of others measures in a run.
pub const BY_PEER: &str = "peer-";

/// A tool of others that measures a point in place of hopbench.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// The program: `iperf3`.
    pub tool: String,
    /// The workload of the scenario that it stands beside: `throughput`.
    pub of: String,
}

impl Peer {
    /// The name of the workload that the tool measures: `throughput (iperf3)`. No workload of a
    /// scenario can be called so: their names have no spaces.
    pub fn workload(&self) -> String {
        format!("{} ({})", self.of, self.tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Point, fixture};

    #[test]
    fn a_point_names_its_tool_and_old_plans_have_none() {
        let ours = fixture::point("bulk", fixture::job("stream", serde_json::json!({})));
        let text = serde_json::to_value(&ours).expect("a point is JSON");
        assert_eq!(text.get("peer"), None, "files of older versions have no such field");
        let peer = Peer { tool: "iperf3".to_owned(), of: "bulk".to_owned() };
        let theirs = Point { workload: peer.workload(), peer: Some(peer), ..ours };
        assert_eq!(theirs.workload, "bulk (iperf3)");
        let text = serde_json::to_string(&theirs).expect("a point is JSON");
        assert_eq!(serde_json::from_str::<Point>(&text).expect("as it was written"), theirs);
    }
}
