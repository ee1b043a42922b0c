//! `mesh:` and its variants.

use hopbench_model::Variant;
use serde_json::{Map, Value, json};

use super::parts::{NAME, annotations, described};
use crate::paths::mesh::{UPSTREAMS, VARIANT_KEYS, WORKERS, known_names};

/// `mesh:`.
pub(super) fn mesh() -> Value {
    let settings = settings();
    let described_variant =
        json!({"type": "object", "additionalProperties": false, "properties": settings});
    let known: Map<String, Value> = Variant::known()
        .into_iter()
        .map(|variant| {
            let about = variant.summary();
            (
                variant.name,
                described(json!({"anyOf": [described_variant.clone(), {"type": "null"}]}), &about),
            )
        })
        .collect();
    let name = json!({"enum": known_names()});
    let variants = json!({"anyOf": [
        name,
        {"type": "array", "minItems": 1, "uniqueItems": true, "items": name},
        {
            "type": "object", "minProperties": 1, "propertyNames": {"pattern": NAME},
            "properties": known, "additionalProperties": described_variant,
        },
    ]});
    let mut properties = settings;
    properties.insert(
        "variants".to_owned(),
        described(
            variants,
            "Known ones, or by name what they do: with several, a path with proxies becomes \
             PATH.VARIANT",
        ),
    );
    described(
        json!({"type": "object", "additionalProperties": false, "properties": properties}),
        "How the proxies of paths are set up; the keys beside variants hold for all of them",
    )
}

/// The keys of a variant.
fn settings() -> Map<String, Value> {
    let property = |name: &&str| {
        let switch = || json!({"type": "boolean"});
        let (schema, about) = match *name {
            "mtls" => (
                switch(),
                "Proxies authenticate each other and encrypt between them; on without it",
            ),
            "stats" => (switch(), "Statistics for each route and each peer"),
            "access-log" => (switch(), "A line in a file for each request or connection"),
            "policy-check" => {
                (switch(), "A policy service is asked before each request or connection")
            }
            "policy-report" => {
                (switch(), "Each request or connection is reported to a telemetry service")
            }
            "concurrency" => (
                json!({"type": "integer", "minimum": WORKERS.start(), "maximum": WORKERS.end(),
                       "default": Variant::CONCURRENCY}),
                "Worker threads of each proxy",
            ),
            "max-connections" => (
                json!({"type": "integer", "minimum": 1, "maximum": u32::MAX}),
                "The most connections that a proxy opens to one upstream cluster; no limit without \
                 it",
            ),
            "lua" => (
                json!({"type": "string"}),
                "A script of Lua that the HTTP filters of its proxies run",
            ),
            "annotations" => (
                annotations(),
                "Annotations of the pods with its sidecars, for the mesh of a cluster",
            ),
            _ => (
                json!({"enum": UPSTREAMS.map(|(name, _)| name)}),
                "What proxies speak with each other",
            ),
        };
        ((*name).to_owned(), described(schema, about))
    };
    VARIANT_KEYS.iter().map(property).collect()
}
