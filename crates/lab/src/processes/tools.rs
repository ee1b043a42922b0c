//! Programs of this machine that a lab uses.

mod bounded;
mod envoy;
mod find;

pub(crate) use bounded::bounded;
pub use envoy::use_envoy;
pub(crate) use envoy::{envoy, envoy_at, lacking_envoy};
pub use find::find;
pub(crate) use find::{cached, version};
