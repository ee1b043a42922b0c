//! The check for namespaces without Pod Security.

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::doctor::inventory::Inventory;

pub(super) const CHECK: Check =
    Check { name: "pod security", needed_for: "host networks; pods need `restricted` only", judge };

fn judge(inventory: &Inventory) -> Finding {
    match &inventory.privileged {
        Ok(()) => Finding::works(
            "a namespace may have pods in the host's network (it was asked for, and not made)",
        ),
        Err(why) => Finding::limited(
            format!("a namespace that may have any pods is refused: {why}"),
            "leave out paths from and to hosts, or have it allowed",
        ),
    }
}
