//! Paths, and the words that they consist of.

use hopbench_model::MeshMode;
use serde_json::{Map, Value, json};

use super::testbed::{ENDPOINT, LABEL};
use super::{NAME, described};
use crate::vocabulary::Vocabulary;

/// `places:`, made of the words with this prefix.
fn places(prefix: &str, node: &str) -> Value {
    let of = |name: &str| json!({"$ref": format!("#/$defs/{prefix}{name}")});
    let kinds = of("kinds");
    let pair = json!({"type": "string", "pattern": format!("^ *{node} *-> *{node} *$")});
    let long = json!({
        "type": "object", "additionalProperties": false,
        "properties": {
            "kinds": described(kinds.clone(), "Both ends, in every pair"),
            "from": described(kinds.clone(), "Where the clients are"),
            "to": described(kinds.clone(), "Where the servers are"),
            "nodes": {"anyOf": [
                pair.clone(),
                {"type": "object", "minProperties": 1, "propertyNames": {"pattern": NAME}, "additionalProperties": pair},
            ], "description": "From which node to which; from the first to the second without it"},
            "via": one_or_several(&of("via")),
            "mesh": one_or_several(&of("mode")),
        },
        "oneOf": [
            {"required": ["kinds"], "not": {"anyOf": [{"required": ["from"]}, {"required": ["to"]}]}},
            {"required": ["from", "to"], "not": {"required": ["kinds"]}},
        ],
    });
    let short = json!({"type": "array", "minItems": 1, "items": of("kind")});
    described(json!({"anyOf": [short, long]}), "Many paths at once: FROM-TO[.NODES][.VIA][.MESH]")
}

/// What paths are made of, by name: `path`, `places` and what they refer to, behind a prefix. `node` is what the name of
/// a node looks like.
pub(super) fn definitions(prefix: &str, vocabulary: &Vocabulary, node: &str) -> Map<String, Value> {
    // Runtimes are put around pods only, and in a lab sidecars beside pods that have none. Where any name is a runtime,
    // a scenario may have network kinds of its own, too.
    let open = vocabulary.any_runtime;
    let names = |pod: bool| {
        let known = vocabulary.networks.iter().filter(|n| n.pod || !pod).map(|n| n.name.as_str());
        known.collect::<Vec<_>>().join("|")
    };
    let own = format!("(?!host[+@]){LABEL}");
    let (any, pods) = if open { (LABEL.to_owned(), own) } else { (names(false), names(true)) };
    let runtimes = if open { LABEL.to_owned() } else { vocabulary.runtime_names().join("|") };
    let kind = match runtimes.as_str() {
        "" => format!("({any})"),
        _ => format!("({any}|({pods})\\+({runtimes}))"),
    };
    let place = format!("{kind}@{node}");
    let pod = match pods.as_str() {
        // No text is like this.
        "" => "(?!)".to_owned(),
        _ if vocabulary.sidecars_in_runtimes => format!("({pods})(\\+({runtimes}))?@{node}"),
        _ => format!("({pods})@{node}"),
    };
    let direct = format!("direct|cluster-ip|load-balancer|node-port@{node}|address@{ENDPOINT}");
    let from_pods = format!("({direct})");
    let way = format!("({direct}|gateway{}@{node})", if open { "|gateway" } else { "" });
    let about: Vec<String> = vocabulary.networks.iter().map(|n| format!("{}: {}", n.name, n.summary)).collect();
    let about = about.join("; ");
    let place_schema = json!({"type": "string", "pattern": format!("^{place}$"), "description": about});
    let ends = json!({"type": "integer", "minimum": 1, "maximum": crate::paths::MOST_ENDS, "default": 1});
    let short = [
        format!("{place} *-> *{place}( +via +{way})?( +mesh +{})?", MeshMode::None),
        format!("{place} *-> *{pod}( +via +{way})? +mesh +{}", MeshMode::Server),
        format!("{pod} *-> *{place}( +via +{from_pods})? +mesh +{}", MeshMode::Client),
        format!("{pod} *-> *{pod}( +via +{from_pods})? +mesh +{}", MeshMode::Both),
    ];
    let asks = |modes: [MeshMode; 2]| json!({"properties": {"mesh": {"enum": modes}}, "required": ["mesh"]});
    let matches = |pattern: &str| json!({"pattern": format!("^{pattern}$")});
    let of = |name: &str| json!({"$ref": format!("#/$defs/{prefix}{name}")});
    let path = json!({"anyOf": [
        {"type": "string", "pattern": format!("^({})$", short.join("|"))},
        {
            "type": "object", "additionalProperties": false, "required": ["from", "to"],
            "properties": {
                "from": place_schema, "to": place_schema, "via": of("via"),
                "clients": described(ends.clone(), "Clients, each a pod of its own"),
                "backends": described(ends, "Servers behind the Service or gateway"),
                "mesh": of("mode"),
            },
            "allOf": [
                {"if": asks([MeshMode::Server, MeshMode::Both]), "then": {"properties": {"to": matches(&pod)}}},
                {"if": asks([MeshMode::Client, MeshMode::Both]),
                 "then": {"properties": {"from": matches(&pod), "via": matches(&from_pods)}}},
            ],
        },
    ]});
    let modes: Vec<String> = MeshMode::ALL.iter().map(|mode| format!("{mode}: {}", mode.summary())).collect();
    let mode = json!({"enum": MeshMode::ALL, "default": MeshMode::None, "description": modes.join("; ")});
    let all = [
        ("kind", json!({"type": "string", "pattern": format!("^{kind}$"), "description": about})),
        ("kinds", one_or_several(&of("kind"))),
        ("via", json!({"type": "string", "pattern": format!("^{way}$")})),
        ("mode", mode),
        ("path", path),
        ("places", places(prefix, node)),
    ];
    all.into_iter().map(|(name, schema)| (format!("{prefix}{name}"), schema)).collect()
}

fn one_or_several(one: &Value) -> Value {
    json!({"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]})
}
