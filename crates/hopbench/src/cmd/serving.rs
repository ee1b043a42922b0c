//! The commands that serve: at the other end of a path, in its pods, and beside its proxies.

pub(super) mod agent;
pub(super) mod policy;
pub(super) mod relay;
pub(super) mod serve;
pub(super) mod telemetry;
