//! The objects that a run makes, as the API server takes them. Nothing here does I/O.

pub(crate) mod blueprint;
pub(crate) mod containers;
pub mod cron;
pub(crate) mod frame;
pub(crate) mod network_policy;
pub(crate) mod patch;
pub(crate) mod pod;
pub(crate) mod secret;
pub(crate) mod security;
pub(crate) mod service;
pub(crate) mod sidecar;
pub(crate) mod typed;
