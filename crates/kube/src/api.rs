//! The API server: a connection to it, the requests that hopbench makes, and the rights for them.

pub mod access;
pub(crate) mod body;
pub(crate) mod client;
pub(crate) mod create;
pub(crate) mod forward;
pub(crate) mod http;
pub mod labels;
pub mod manifests;
pub mod names;
pub(crate) mod proxy;
pub(crate) mod rights;
pub(crate) mod stoppable_wait;
