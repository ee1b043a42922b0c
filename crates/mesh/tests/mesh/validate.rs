//! Bootstraps as the real Envoy takes them.

use std::net::Ipv6Addr;

use hopbench_mesh::{Protocol, ProxySpec, READY, ReadyPort};
use hopbench_model::{IpFamily, Variant};
use serde_json::{Value, json};

use crate::descriptions::{SHAPES, connected, gateway, identity, one_way, variants};
use crate::envoy;

/// Every variant of a shape; of the cross product of both, nothing is left out.
fn every_variant(shape: &str) {
    let Some(envoy) = envoy::program() else {
        return;
    };
    let (_, proxy) = SHAPES.iter().find(|(name, _)| *name == shape).unwrap();
    for variant in variants() {
        let proxy = ProxySpec { identity: Some(identity()), ..proxy(&variant) };
        let valid = envoy::validate(&envoy, &proxy);
        assert_eq!(valid, Ok(()), "{shape}, {}", variant.name);
    }
}

#[test]
fn envoy_takes_every_sidecar() {
    every_variant("sidecar");
}

#[test]
fn envoy_takes_every_sidecar_without_redirection() {
    every_variant("connected");
}

#[test]
fn envoy_takes_every_client() {
    every_variant("client");
}

#[test]
fn envoy_takes_every_server() {
    every_variant("server");
}

#[test]
fn envoy_takes_every_gateway() {
    every_variant("gateway");
}

#[test]
fn a_sidecar_that_listens_or_is_asked_by_ipv6_is_ready_there_too() {
    let mut proxy = ProxySpec { identity: Some(identity()), ..connected(&Variant::plain()) };
    let ready = |proxy: &ProxySpec| {
        let bootstrap = proxy.bootstrap();
        let listeners = bootstrap["static_resources"]["listeners"].as_array().unwrap();
        let ready = listeners.iter().find(|listener| listener["name"] == "ready").unwrap();
        ready["additional_addresses"].clone()
    };
    assert_eq!(ready(&proxy), Value::Null);
    let at = json!({"address": {"socket_address": {"address": "::", "port_value": READY}}});
    let asked = Some(ReadyPort { port: READY, family: IpFamily::Ipv6 });
    let asked = ProxySpec { ready: asked, ..proxy.clone() };
    proxy.listeners[0].addresses.push(Ipv6Addr::UNSPECIFIED.into());
    for proxy in [&asked, &proxy] {
        assert_eq!(ready(proxy), json!([at]));
        if let Some(envoy) = envoy::program() {
            assert_eq!(envoy::validate(&envoy, proxy), Ok(()));
        }
    }
}

/// Where the port says the version, the proxy goes on with it, whatever the variant says.
#[test]
fn a_port_for_http2_speaks_http2_with_every_variant() {
    let envoy = envoy::program();
    for variant in variants() {
        let mut proxy = ProxySpec { identity: Some(identity()), ..gateway(&variant) };
        let routes = proxy.listeners.iter_mut().flat_map(|one| &mut one.routes);
        for route in routes.filter(|route| route.protocol == Protocol::Http) {
            route.protocol = Protocol::Http2;
        }
        let bootstrap = proxy.bootstrap();
        let clusters = bootstrap["static_resources"]["clusters"].as_array().unwrap();
        for name in ["gw-http", "gw-http-sidecar"] {
            let cluster = clusters.iter().find(|cluster| cluster["name"] == name).unwrap();
            let spoken = cluster["typed_extension_protocol_options"].to_string();
            let has = |word: &str| spoken.contains(&format!("\"{word}\""));
            assert!(has("explicit_http_config") && has("http2_protocol_options"), "{spoken}");
            assert!(!has("http_protocol_options"), "{spoken}");
        }
        if let Some(envoy) = &envoy {
            assert_eq!(envoy::validate(envoy, &proxy), Ok(()), "{}", variant.name);
        }
    }
}

/// Nothing goes unencrypted or unchecked because a description forgot something.
#[test]
fn envoy_refuses_what_misses_something() {
    let Some(envoy) = envoy::program() else {
        return;
    };
    let whole =
        |variant: &Variant| ProxySpec { identity: Some(identity()), ..one_way(variant, "inbound") };
    let plain = Variant::plain();
    let nobody = ProxySpec { identity: None, ..whole(&plain) };
    let said = envoy::validate(&envoy, &nobody).unwrap_err();
    assert!(said.contains("cannot be empty"), "{said}");
    let checks = Variant { policy_check: true, ..plain.clone() };
    let said = envoy::validate(&envoy, &ProxySpec { policy: None, ..whole(&checks) }).unwrap_err();
    assert!(said.contains("SocketAddressValidationError.Address"), "{said}");
    let reports = Variant { policy_report: true, ..plain };
    let mut nobody = whole(&reports);
    nobody
        .listeners
        .iter_mut()
        .flat_map(|one| &mut one.routes)
        .for_each(|route| route.telemetry = None);
    let said = envoy::validate(&envoy, &nobody).unwrap_err();
    assert!(said.contains("SocketAddressValidationError.Address"), "{said}");
}
