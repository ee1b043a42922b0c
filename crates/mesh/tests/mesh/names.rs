//! No name is used twice where that would mix up two things.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use hopbench_model::Variant;
use serde_json::Value;

use crate::descriptions::{POD, SHAPES, one_way, variants};

fn all<'a>(value: &'a Value, path: &[&str]) -> Vec<&'a str> {
    let Some((key, rest)) = path.split_first() else {
        return value.as_str().into_iter().collect();
    };
    match value {
        Value::Array(items) => items.iter().flat_map(|item| all(item, path)).collect(),
        _ => value.get(key).map(|below| all(below, rest)).unwrap_or_default(),
    }
}

fn assert_unique(what: &str, names: &[&str]) {
    let unique: BTreeSet<_> = names.iter().collect();
    assert_eq!(unique.len(), names.len(), "{what}: {names:?}");
}

/// A client's sidecar tells of each path where that path's service is.
#[test]
fn every_telemetry_service_has_a_cluster() {
    let reports = Variant { policy_report: true, ..Variant::plain() };
    let mut proxy = one_way(&reports, "outbound");
    let elsewhere = SocketAddr::from((POD, 9));
    proxy.listeners[0].routes[1].telemetry = Some(elsewhere);
    let bootstrap = proxy.bootstrap();
    let resources = &bootstrap["static_resources"];
    let told =
        ["listeners", "filter_chains", "filters", "typed_config", "access_log", "typed_config"];
    let told = [told.as_slice(), &["common_config", "grpc_service", "envoy_grpc", "cluster_name"]]
        .concat();
    let told = all(resources, &told);
    let expected: Vec<&str> =
        (0..told.len()).map(|n| if n == 1 { "telemetry-2" } else { "telemetry" }).collect();
    assert_eq!(told, expected);
    let clusters = resources["clusters"].as_array().unwrap();
    let second = clusters.iter().find(|cluster| cluster["name"] == "telemetry-2").unwrap();
    let port =
        "/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address/socket_address/port_value";
    assert_eq!(second.pointer(port), Some(&elsewhere.port().into()));
    assert_eq!(clusters.len(), told.len() + 2);
}

#[test]
fn no_name_is_used_twice() {
    for (shape, proxy) in SHAPES {
        for variant in variants() {
            let proxy = proxy(&variant);
            let bootstrap = proxy.bootstrap();
            let routes =
                proxy.listeners.iter().map(|listener| listener.routes.len()).sum::<usize>();
            let resources = &bootstrap["static_resources"];
            let clusters = all(resources, &["clusters", "name"]);
            let asks = variant.policy_check
                && proxy.listeners.iter().any(|one| one.routes.iter().any(|r| r.checked));
            let services = usize::from(asks) + usize::from(variant.policy_report);
            assert_eq!(clusters.len(), routes + services, "{shape} {}", variant.name);
            assert_unique("clusters", &clusters);
            assert_unique("listeners", &all(resources, &["listeners", "name"]));
            assert_unique(
                "filter chains",
                &all(resources, &["listeners", "filter_chains", "name"]),
            );
            let filters = ["listeners", "filter_chains", "filters", "typed_config"];
            let prefixes = all(resources, &[filters.as_slice(), &["stat_prefix"]].concat());
            let prefixes: Vec<_> =
                prefixes.into_iter().filter(|prefix| *prefix != "policy").collect();
            assert_eq!(prefixes.len(), routes);
            assert_unique("prefixes of statistics", &prefixes);
            let configs = all(resources, &[filters.as_slice(), &["route_config", "name"]].concat());
            assert_unique("route configurations", &configs);
        }
    }
}
