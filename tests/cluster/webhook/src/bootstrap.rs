//! The bootstrap of a pod's Envoy: that of the crate `mesh`, with what Istio's sidecars add.
//!
//! ```text
//!   15006 inbound   declared ports by what they carry; others: bytes  ─► where it was meant to go
//!   15001 outbound  hopbench's ports by what they carry; others that are listed: HTTP;
//!                   the rest: HTTP if it begins like that, else bytes ─► the same
//!   15021 /healthz/ready, 15090 /stats/prometheus                     ─► admin, 127.0.0.1:15000
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use hopbench_mesh::{
    ADMIN, AdminAddress, INBOUND, Listener, OUTBOUND, Protocol, ProxyRoute, ProxySpec, Upstream,
    exposed,
};
use hopbench_model::{HttpVersion, Variant};
use serde_json::{Value, json};

use crate::pod::{Speaks, known};

/// Where the sidecar says whether it is ready.
pub(crate) const STATUS: u16 = 15_021;
/// Where it tells its statistics.
pub(crate) const METRICS: u16 = 15_090;
/// The routes for ports that nobody declared. Their own port numbers are used by nobody.
const ANY_BYTES: &str = "any-tcp";
const ANY_HTTP: &str = "any-http";

/// The arguments of Envoy in a pod with these ports. Connections to the ports `listed` are taken on
/// their way out, whatever the address.
pub(crate) fn arguments(
    ports: &BTreeMap<u16, Speaks>,
    listed: &BTreeSet<u16>,
    concurrency: u32,
) -> Vec<String> {
    let proxy = proxy(ports, listed, concurrency);
    let mut arguments = proxy.arguments();
    arguments.extend(["--config-yaml".to_owned(), bootstrap(&proxy).to_string()]);
    arguments
}

fn proxy(ports: &BTreeMap<u16, Speaks>, listed: &BTreeSet<u16>, concurrency: u32) -> ProxySpec {
    let inbound = ports.iter().map(|(port, speaks)| route("in", *port, *speaks));
    // hopbench lists its own ports, and those of its server programs.
    let mut outbound: BTreeMap<u16, Speaks> =
        listed.iter().map(|port| (*port, Speaks::Http1)).collect();
    let own = exposed().filter(|one| one.mode.has_client());
    outbound.extend(own.map(|one| (one.port(), known(one.port()))));
    let outbound = outbound.into_iter().map(|(port, speaks)| route("out", port, speaks));
    let any_bytes = |port: u16| ProxyRoute {
        name: format!("{ANY_BYTES}-{port}"),
        ..route("", port, Speaks::Tcp)
    };
    let any_http = |port: u16| ProxyRoute {
        name: format!("{ANY_HTTP}-{port}"),
        ..route("", port, Speaks::Http1)
    };
    let listener = |name: &str, port: u16, routes: Vec<ProxyRoute>| Listener {
        name: name.to_owned(),
        addresses: vec![Ipv4Addr::UNSPECIFIED.into()],
        port,
        redirected: true,
        edge: false,
        routes,
    };
    ProxySpec {
        name: "istio-proxy".to_owned(),
        variant: Variant {
            mtls: false,
            concurrency,
            // Only for routes that are said to lead to a proxy, which are those that speak HTTP/2
            // here.
            upstream: HttpVersion::Http2,
            ..Variant::plain()
        },
        admin: AdminAddress::Loopback(ADMIN),
        ready: None,
        listeners: vec![
            listener("inbound", INBOUND, inbound.chain([any_bytes(INBOUND)]).collect()),
            listener(
                "outbound",
                OUTBOUND,
                outbound.chain([any_bytes(OUTBOUND), any_http(OUTBOUND)]).collect(),
            ),
        ],
        // Its user tells its packets from the application's; a mark would need a capability.
        mark: None,
        identity: None,
        access_log: String::new(),
        policy: None,
    }
}

fn route(side: &str, port: u16, speaks: Speaks) -> ProxyRoute {
    let (word, protocol) = match speaks {
        Speaks::Tcp => ("tcp", Protocol::Tcp),
        Speaks::Http1 => ("http", Protocol::Http),
        Speaks::Http2 => ("http2", Protocol::Http),
    };
    ProxyRoute {
        name: format!("{side}-{word}-{port}"),
        address: None,
        port,
        protocol,
        from_proxy: false,
        to_proxy: speaks == Speaks::Http2,
        checked: false,
        telemetry: None,
        upstream: Upstream::Original(None),
    }
}

fn bootstrap(proxy: &ProxySpec) -> Value {
    let mut bootstrap = proxy.bootstrap();
    let parts = &mut bootstrap["static_resources"];
    if let Some(listeners) = parts["listeners"].as_array_mut() {
        listeners.iter_mut().for_each(take_the_rest);
        listeners.push(passes_on("status", STATUS, "/healthz/ready", "/ready"));
        listeners.push(passes_on("metrics", METRICS, "/stats/prometheus", "/stats/prometheus"));
    }
    if let Some(clusters) = parts["clusters"].as_array_mut() {
        clusters.push(json!({
            "name": "prometheus_stats",
            "type": "STATIC",
            "connect_timeout": "1s",
            "load_assignment": {"cluster_name": "prometheus_stats", "endpoints": [
                {"lb_endpoints": [{"endpoint": {"address": address("127.0.0.1", ADMIN)}}]},
            ]},
        }));
    }
    bootstrap
}

/// The chains for undeclared ports take what no port's chain takes.
fn take_the_rest(listener: &mut Value) {
    let Some(chains) = listener["filter_chains"].as_array_mut() else { return };
    let named = |chain: &Value, word: &str| {
        chain["name"].as_str().is_some_and(|name| name.starts_with(word))
    };
    let bytes = chains.iter().position(|chain| named(chain, ANY_BYTES)).map(|at| chains.remove(at));
    let ports: Vec<u64> = chains
        .iter()
        .filter_map(|chain| chain["filter_chain_match"]["destination_port"].as_u64())
        .collect();
    let http = chains.iter_mut().find(|chain| named(chain, ANY_HTTP));
    let looks = http.is_some();
    if let Some(http) = http {
        http["filter_chain_match"] = json!({"application_protocols": ["http/1.0", "http/1.1"]});
    }
    if let Some(mut bytes) = bytes {
        bytes["filter_chain_match"] = json!({});
        listener["default_filter_chain"] = bytes;
    }
    if looks && let Some(filters) = listener["listener_filters"].as_array_mut() {
        filters.push(inspector(&ports));
        // Who waits for the server's first word says nothing that could be looked at.
        listener["listener_filters_timeout"] = "0.1s".into();
        listener["continue_on_listener_filters_timeout"] = true.into();
    }
}

/// Looks at the first bytes; not where the port says what comes.
fn inspector(ports: &[u64]) -> Value {
    let rules: Vec<Value> = ports
        .iter()
        .map(|port| json!({"destination_port_range": {"start": port, "end": port + 1}}))
        .collect();
    json!({
        "name": "envoy.filters.listener.http_inspector",
        "typed_config": {
            "@type": "type.googleapis.com/\
                      envoy.extensions.filters.listener.http_inspector.v3.HttpInspector",
        },
        "filter_disabled": {"or_match": {"rules": rules}},
    })
}

/// A listener that answers one path with what the admin endpoint says at another, and nothing else.
fn passes_on(name: &str, port: u16, path: &str, admin: &str) -> Value {
    json!({"name": name, "address": address("0.0.0.0", port), "filter_chains": [{"filters": [{
        "name": "envoy.filters.network.http_connection_manager",
        "typed_config": {
            "@type": "type.googleapis.com/\
                      envoy.extensions.filters.network.http_connection_manager.v3.\
                      HttpConnectionManager",
            "stat_prefix": name,
            "route_config": {"virtual_hosts": [{"name": name, "domains": ["*"], "routes": [
                {
                    "match": {"path": path},
                    "route": {"cluster": "prometheus_stats", "prefix_rewrite": admin},
                },
            ]}]},
            "http_filters": [{
                "name": "envoy.filters.http.router",
                "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router",
                },
            }],
        },
    }]}]})
}

fn address(ip: &str, port: u16) -> Value {
    json!({"socket_address": {"address": ip, "port_value": port}})
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;

    const LISTED: [u16; 2] = [8080, 17_001];

    fn some_ports() -> BTreeMap<u16, Speaks> {
        [(8080, Speaks::Http1), (8081, Speaks::Tcp), (8082, Speaks::Http2), (17000, Speaks::Tcp)]
            .into()
    }

    fn made() -> Value {
        bootstrap(&proxy(&some_ports(), &LISTED.into(), 2))
    }

    fn listener<'a>(bootstrap: &'a Value, name: &str) -> &'a Value {
        let listeners = bootstrap["static_resources"]["listeners"].as_array().unwrap();
        listeners.iter().find(|listener| listener["name"] == name).unwrap()
    }

    #[test]
    fn each_side_has_a_chain_for_the_rest() {
        let bootstrap = made();
        for (name, port) in [("inbound", INBOUND), ("outbound", OUTBOUND)] {
            let listener = listener(&bootstrap, name);
            assert_eq!(listener["default_filter_chain"]["name"], format!("{ANY_BYTES}-{port}"));
            let chains = listener["filter_chains"].as_array().unwrap();
            assert!(chains.iter().all(|chain| chain["name"] != format!("{ANY_BYTES}-{port}")));
        }
    }

    #[test]
    fn ports_carry_what_they_say() {
        let bootstrap = made();
        let chains = listener(&bootstrap, "inbound")["filter_chains"].as_array().unwrap();
        let named: Vec<(&str, u64)> = chains
            .iter()
            .map(|chain| {
                (
                    chain["name"].as_str().unwrap(),
                    chain["filter_chain_match"]["destination_port"].as_u64().unwrap(),
                )
            })
            .collect();
        let expected = [
            ("in-http-8080", 8080),
            ("in-tcp-8081", 8081),
            ("in-http2-8082", 8082),
            ("in-tcp-17000", 17000),
        ];
        assert_eq!(named, expected);
        let clusters = bootstrap["static_resources"]["clusters"].as_array().unwrap();
        let options = |name: &str| {
            let cluster = clusters.iter().find(|cluster| cluster["name"] == name).unwrap();
            cluster["typed_extension_protocol_options"].to_string()
        };
        assert!(options("in-http2-8082").contains("http2_protocol_options"));
        assert!(!options("in-http-8080").contains("http2_protocol_options"));
    }

    #[test]
    fn listed_ports_carry_http_unless_they_are_hopbench_s_own() {
        let bootstrap = made();
        let chains = listener(&bootstrap, "outbound")["filter_chains"].as_array().unwrap();
        let names: Vec<&str> = chains.iter().map(|chain| chain["name"].as_str().unwrap()).collect();
        assert_eq!(names[..2], ["out-http-8080", "out-tcp-17001"]);
    }

    #[test]
    fn nothing_is_encrypted_and_nothing_marked() {
        let text = made().to_string();
        assert!(
            !text.contains("transport_socket") && !text.contains("upstream_bind_config"),
            "{text}"
        );
    }

    #[test]
    fn envoy_takes_it() {
        let Some(envoy) = envoy() else {
            assert!(
                std::env::var_os("HOPBENCH_REQUIRE_ENVOY").is_none_or(|value| value != "1"),
                "no Envoy here"
            );
            let _ = writeln!(std::io::stdout(), "\nSKIP envoy_takes_it: there is no envoy");
            return;
        };
        let arguments = arguments(&some_ports(), &LISTED.into(), 2);
        let said =
            Command::new(envoy).args(["--mode", "validate"]).args(&arguments).output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    }

    fn envoy() -> Option<PathBuf> {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = cache
            .map(|cache| cache.join("hopbench/bin"))
            .into_iter()
            .chain(std::env::split_paths(&path));
        folders.map(|folder| folder.join("envoy")).find(|file| file.is_file())
    }
}
