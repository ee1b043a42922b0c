//! The check of links of a given rate.

use hopbench_testbed::Finding;

use super::probe::{LINK, on_a_link};
use crate::doctor::check::Check;

pub(crate) const CHECK: Check = Check { name: "tbf", needed_for: "link rates", inside: true, run };

fn run() -> Finding {
    match on_a_link(|netlink| netlink.shape(LINK, 1_000_000_000, 1500)) {
        Ok(()) => Finding::works("a link was shaped to 1 Gbit/s"),
        Err(error) => {
            Finding::missing(error.to_string(), "`modprobe sch_tbf`, or scenarios without `link:`")
        }
    }
}
