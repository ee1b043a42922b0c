//! The runtimes that pods can be in: one file each.

use crate::runtime::Runtime;

mod runsc;

/// Every runtime. To add one: a file here and a line there.
pub const RUNTIMES: &[&dyn Runtime] = &[&runsc::Runsc];

/// The runtime of this name.
pub fn runtime(name: &str) -> Option<&'static dyn Runtime> {
    RUNTIMES.iter().copied().find(|runtime| runtime.name() == name)
}
