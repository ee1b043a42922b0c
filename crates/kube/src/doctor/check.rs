//! A check of a cluster: a function of its inventory, with a name.

use hopbench_testbed::Finding;

use crate::doctor::inventory::Inventory;

/// One thing that a cluster may or may not have.
pub(crate) struct Check {
    /// Its name in the table.
    pub(crate) name: &'static str,
    /// The feature that needs it.
    pub(crate) needed_for: &'static str,
    /// Looks at what was seen.
    pub(crate) judge: fn(&Inventory) -> Finding,
}
