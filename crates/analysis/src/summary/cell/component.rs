//! The cores of the components of a cell's path.

use std::borrow::Cow;

use serde::Serialize;

use super::super::spread::Spread;

/// A component of a path: the client, the proxies of one role, or the server.
#[derive(Debug, Clone, Serialize)]
pub struct ComponentSummary {
    /// `client`, `server`, `client-sidecar`, `server-sidecar`, `gateway`, `policy`, `telemetry`.
    pub name: Cow<'static, str>,
    /// Cores that it used, those of several together.
    pub cores: Spread,
}

/// A node of the path that no end saw, as others did.
#[derive(Debug, Clone, Serialize)]
pub struct MeteredNodeSummary {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The share of its CPU time in which it had nothing to do while there was load, 0 to 1.
    pub idle_ratio: Spread,
}
