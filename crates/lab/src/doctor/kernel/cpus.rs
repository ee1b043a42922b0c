//! The check of the CPUs that nodes can get.

use hopbench_testbed::Finding;

use crate::doctor::check::Check;

pub(crate) const CHECK: Check =
    Check { name: "CPUs", needed_for: "nodes that do not share CPUs", inside: false, run };

fn run() -> Finding {
    match hopbench_sys::cpu::allowed().map(|cpus| cpus.len()) {
        Ok(1) => Finding::limited(
            "1 CPU: both ends of every path share it",
            "figures of paths can be compared, they are lower than on a larger machine",
        ),
        Ok(n @ 2..4) => Finding::limited(
            format!(
                "{n} CPUs: in labs of more than {n} nodes, nodes that are no two ends of a path \
                 share them"
            ),
            "every run says what is shared",
        ),
        Ok(n) => Finding::works(format!("{n} CPUs")),
        Err(error) => Finding::missing(
            format!("the allowed CPUs cannot be read: {error}"),
            "look at the container's limits",
        ),
    }
}
