//! Bytes: the TCP proxy.

use serde_json::{Value, json};

use super::parts::extension;
use super::{access_log, services};
use crate::{ProxyRoute, ProxySpec};

/// The network filters of a TCP route. The connection to the other side is opened as soon as one
/// comes in, so that servers can speak first. A check happens when the first bytes come.
pub(super) fn filters(route: &ProxyRoute, proxy: &ProxySpec) -> Value {
    let mut filters = Vec::new();
    if proxy.variant.policy_check && route.checked {
        filters.push(services::tcp_check());
    }
    filters.push(extension(
        "envoy.filters.network.tcp_proxy",
        "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy",
        json!({
            "stat_prefix": route.name,
            "cluster": route.name,
            "idle_timeout": "0s",
            "access_log": access_log::tcp(route, proxy),
        }),
    ));
    filters.into()
}
