//! Envoy's configuration as data: what a proxy is to do in, a bootstrap out. No I/O: testbeds write
//! the file and start the process.
//!
//! ```text
//!   Proxy (listeners, their routes, variant, identity) ─► bootstrap ─► the JSON that Envoy reads
//!   ports: which port of a pod passes which sidecars; offer: which of them a job asks for
//!   stats: what Envoy's admin endpoint says ─► our counters and gauges
//! ```

mod bootstrap;
mod offer;
mod ports;
mod proxy;
mod stats;

pub use bootstrap::BATCH_NS;
pub use offer::Offer;
pub use ports::{
    ADMIN, App, Exposed, INBOUND, MARK, OUTBOUND, POLICY_PORT, READY, TAKEN, TELEMETRY_PORT,
    exposed,
};
pub use proxy::{
    AdminAddress, Listener, Protocol, ProxyIdentity, ProxyRoute, ProxySpec, ReadyPort, SPIFFE,
    Upstream,
};
pub use stats::{STATS, counters, gauges, untold};
