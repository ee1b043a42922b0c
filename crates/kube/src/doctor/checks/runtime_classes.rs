//! The check for RuntimeClasses.

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::doctor::inventory::Inventory;

pub(super) const CHECK: Check =
    Check { name: "RuntimeClasses", needed_for: "runtimes, further pod networks", judge };

fn judge(inventory: &Inventory) -> Finding {
    match &inventory.runtime_classes {
        Ok(none) if none.is_empty() => {
            Finding::limited("none", "paths in gVisor or Kata need a RuntimeClass")
        }
        Ok(classes) => Finding::works(classes.join(", ")),
        Err(why) => Finding::limited(
            format!("not known: {why}"),
            "`hopbench kube manifests` has the right to list them",
        ),
    }
}
