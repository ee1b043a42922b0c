//! No name is used twice where that would mix up two things.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::descriptions::{SHAPES, variants};

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

#[test]
fn no_name_is_used_twice() {
    for (shape, proxy) in SHAPES {
        for variant in variants() {
            let proxy = proxy(&variant);
            let bootstrap = proxy.bootstrap();
            let routes = proxy.listeners.iter().map(|listener| listener.routes.len()).sum::<usize>();
            let resources = &bootstrap["static_resources"];
            let clusters = all(resources, &["clusters", "name"]);
            let services = usize::from(variant.policy_check) + usize::from(variant.policy_report);
            assert_eq!(clusters.len(), routes + services, "{shape} {}", variant.name);
            assert_unique("clusters", &clusters);
            assert_unique("listeners", &all(resources, &["listeners", "name"]));
            assert_unique("filter chains", &all(resources, &["listeners", "filter_chains", "name"]));
            let filters = ["listeners", "filter_chains", "filters", "typed_config"];
            let prefixes = all(resources, &[filters.as_slice(), &["stat_prefix"]].concat());
            let prefixes: Vec<_> = prefixes.into_iter().filter(|prefix| *prefix != "policy").collect();
            assert_eq!(prefixes.len(), routes);
            assert_unique("prefixes of statistics", &prefixes);
            let configs = all(resources, &[filters.as_slice(), &["route_config", "name"]].concat());
            assert_unique("route configurations", &configs);
        }
    }
}
