//! Bootstraps as the real Envoy takes them.

use hopbench_mesh::ProxySpec;
use hopbench_model::Variant;

use crate::descriptions::{SHAPES, identity, one_way, variants};
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
