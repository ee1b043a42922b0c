//! A check of `doctor`.

use hopbench_testbed::Finding;

/// One thing that a machine may or may not be able to do.
#[derive(Debug)]
pub struct Check {
    /// Its name in the table.
    pub name: &'static str,
    /// Its use.
    pub needed_for: &'static str,
    /// Whether it can only be tried inside the lab's namespaces.
    pub inside: bool,
    /// Tries it.
    pub run: fn() -> Finding,
}
