//! The environment of the commands of subjects.

use std::os::fd::AsRawFd;

use hopbench_model::Subject;
use hopbench_testbed::Commands;

use crate::lab::built::Built;

/// Of each node of a subject its network namespace, for `nsenter --net=$HOPBENCH_NODE_a`. The node
/// has the name of the one that it stands for.
pub(in crate::lab) fn variables(built: &Built, subject: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for node in &built.nodes {
        let own = match &node.spec.stands_for {
            Some(of) if node.spec.name == Subject::node_name(of, subject) => of,
            Some(_) => continue,
            None => &node.spec.name,
        };
        let fd = node.stack.namespace.fd().as_raw_fd();
        let file = format!("/proc/{}/fd/{fd}", std::process::id());
        out.push((Commands::node_variable(own), file));
    }
    out
}
