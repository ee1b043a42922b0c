//! The check of links with a delay.

use hopbench_testbed::Finding;

use super::probe::{LINK, on_a_link};
use crate::doctor::check::Check;

pub(crate) const CHECK: Check =
    Check { name: "netem", needed_for: "delay between zones", inside: true, run };

fn run() -> Finding {
    match on_a_link(|netlink| netlink.delay(LINK, 1_000_000)) {
        Ok(()) => Finding::works("a link was delayed by 1 ms"),
        Err(error) => Finding::missing(
            error.to_string(),
            "`modprobe sch_netem`, or scenarios without `zone-delay:`",
        ),
    }
}
