//! The runtimes that pods can be in: one file each.

mod bundles;
mod runsc;
mod runtime;

pub(crate) use bundles::Bundles;
pub use runtime::{Bundle, Runtime};

/// Every runtime. To add one: a file here and a line there.
pub const RUNTIMES: &[&dyn Runtime] = &[&runsc::Runsc];

/// The runtime of this name.
pub fn runtime(name: &str) -> Option<&'static dyn Runtime> {
    RUNTIMES.iter().copied().find(|runtime| runtime.name() == name)
}
