//! Paths, and the words that they consist of.

use hopbench_model::MeshMode;
use serde_json::{Map, Value, json};

use super::{NAME, NODE, described};
use crate::vocabulary::Vocabulary;

/// `places:`.
pub(super) fn places() -> Value {
    let kinds = json!({"$ref": "#/$defs/kinds"});
    let pair = json!({"type": "string", "pattern": format!("^ *{NODE} *-> *{NODE} *$")});
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
            "via": one_or_several(&json!({"$ref": "#/$defs/via"})),
            "mesh": one_or_several(&json!({"$ref": "#/$defs/mode"})),
        },
        "oneOf": [
            {"required": ["kinds"], "not": {"anyOf": [{"required": ["from"]}, {"required": ["to"]}]}},
            {"required": ["from", "to"], "not": {"required": ["kinds"]}},
        ],
    });
    let short = json!({"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/kind"}});
    described(json!({"anyOf": [short, long]}), "Many paths at once: FROM-TO[.NODES][.VIA][.MESH]")
}

/// What paths are made of, by name.
pub(super) fn definitions(vocabulary: &Vocabulary) -> Map<String, Value> {
    // Runtimes are put around pods only, and sidecars beside pods that have none.
    let names =
        |pod: bool| vocabulary.networks.iter().filter(|n| n.pod || !pod).map(|n| n.name).collect::<Vec<_>>().join("|");
    let runtimes = vocabulary.runtime_names().join("|");
    let kind = match runtimes.as_str() {
        "" => format!("({})", names(false)),
        _ => format!("({}|({})\\+({runtimes}))", names(false), names(true)),
    };
    let place = format!("{kind}@{NODE}");
    let pod = format!("({})@{NODE}", names(true));
    let from_pods = format!("(direct|cluster-ip|node-port@{NODE})");
    let way = format!("(direct|cluster-ip|(node-port|gateway)@{NODE})");
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
    let path = json!({"anyOf": [
        {"type": "string", "pattern": format!("^({})$", short.join("|"))},
        {
            "type": "object", "additionalProperties": false, "required": ["from", "to"],
            "properties": {
                "from": place_schema, "to": place_schema, "via": {"$ref": "#/$defs/via"},
                "clients": described(ends.clone(), "Clients, each a pod of its own"),
                "backends": described(ends, "Servers behind the Service or gateway"),
                "mesh": {"$ref": "#/$defs/mode"},
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
    Map::from_iter([
        ("kind".to_owned(), json!({"type": "string", "pattern": format!("^{kind}$"), "description": about})),
        ("kinds".to_owned(), one_or_several(&json!({"$ref": "#/$defs/kind"}))),
        ("via".to_owned(), json!({"type": "string", "pattern": format!("^{way}$")})),
        ("mode".to_owned(), mode),
        ("path".to_owned(), path),
    ])
}

fn one_or_several(one: &Value) -> Value {
    json!({"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]})
}
