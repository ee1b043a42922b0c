//! Counters and gauges by name, and the names of those of proxies; readings of other meters.

mod metered;

use std::collections::BTreeMap;

pub use metered::{Metered, MeteredKind};

/// Values that go up and down, by name.
pub type Gauges = BTreeMap<String, f64>;

/// Name of the counter `counter` of the proxy `proxy` of a route: `proxy client-sidecar requests`.
/// Counters are `downstream_connections`, `requests`, `upstream_connections`,
/// `upstream_connect_failures`, `retries`, `tls_handshakes` ...
pub fn of_proxy(proxy: &str, counter: &str) -> String {
    format!("proxy {proxy} {counter}")
}

/// The growth of the counters of a proxy, by the names that [`of_proxy`] was given.
pub fn proxy_growth(before: &Counters, after: &Counters, proxy: &str) -> BTreeMap<String, u64> {
    let prefix = of_proxy(proxy, "");
    let grown = after.iter().filter_map(|(name, value)| {
        let counter = name.strip_prefix(&prefix)?;
        Some((counter.to_owned(), value.saturating_sub(*before.get(name)?)))
    });
    grown.collect()
}

/// Counters by name, like `b/vxlan0 rx_bytes`; they only grow.
pub type Counters = BTreeMap<String, u64>;
