//! Bounds on what flows and strangers may take: open flows, memory, bandwidth.

pub(crate) mod by_source;
pub(crate) mod flow_limit;
pub(crate) mod memory;
pub(crate) mod throttle;
