//! Listeners: ports, and the filter chain of each route.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::{Value, json};

use super::parts::{address, extension};
use super::{http, tcp, tls};
use crate::{Listener, Protocol, ProxyRoute, ProxySpec};

/// One listener, with a filter chain for each route. There is no default chain: a connection that
/// no route is for is closed before anything is read from it.
pub(super) fn of(listener: &Listener, proxy: &ProxySpec) -> Value {
    let ports = bound(listener);
    let at = |ip: &IpAddr| ports.iter().map(|port| address(&ip.to_string(), *port)).collect();
    let bound: Vec<Value> = listener.addresses.iter().flat_map::<Vec<Value>, _>(at).collect();
    let mut bound = bound.into_iter();
    let chains = listener.routes.iter().map(|route| chain(route, listener, proxy));
    let mut config = json!({
        "name": listener.name,
        "address": bound.next(),
        "filter_chains": chains.collect::<Vec<_>>(),
    });
    let others: Vec<Value> = bound.map(|address| json!({"address": address})).collect();
    if !others.is_empty() {
        config["additional_addresses"] = others.into();
    }
    if listener.redirected {
        config["listener_filters"] = json!([extension(
            "envoy.filters.listener.original_dst",
            "envoy.extensions.filters.listener.original_dst.v3.OriginalDst",
            json!({}),
        )]);
    }
    config
}

/// One that takes connections and closes them, with `by_ipv6` those by IPv6, too. Envoy binds no
/// port before it is ready.
pub(super) fn ready(port: u16, by_ipv6: bool) -> Value {
    let closes = extension(
        "envoy.filters.network.direct_response",
        "envoy.extensions.filters.network.direct_response.v3.Config",
        json!({}),
    );
    let mut config = json!({
        "name": "ready", "address": address("0.0.0.0", port),
        "filter_chains": [{"filters": [closes]}],
    });
    if by_ipv6 {
        config["additional_addresses"] = json!([{"address": address("::", port)}]);
    }
    config
}

/// The ports that it binds: its own where connections are redirected to it, otherwise those of its
/// routes.
fn bound(listener: &Listener) -> BTreeSet<u16> {
    let routes = listener.routes.iter().map(|route| route.port);
    if listener.redirected || listener.routes.is_empty() {
        [listener.port].into()
    } else {
        routes.collect()
    }
}

fn chain(route: &ProxyRoute, listener: &Listener, proxy: &ProxySpec) -> Value {
    let mut meant_for = json!({"destination_port": route.port});
    if let Some(address) = route.address {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        meant_for["prefix_ranges"] = json!([{"address_prefix": address, "prefix_len": bits}]);
    }
    let filters = match route.protocol {
        Protocol::Http | Protocol::Http2 => http::filters(route, listener, proxy),
        Protocol::Tcp => tcp::filters(route, proxy),
    };
    let mut chain =
        json!({"name": route.name, "filter_chain_match": meant_for, "filters": filters});
    if proxy.variant.mtls && route.from_proxy {
        chain["transport_socket"] = tls::downstream(route, &proxy.variant, proxy.identity.as_ref());
    }
    chain
}
