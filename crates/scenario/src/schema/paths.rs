//! Paths, and the words that they consist of.

use hopbench_model::{Affinity, IpFamily, MeshMode};
use serde_json::{Map, Value, json};

use super::grammar::Grammar;
use super::parts::{NAME, described};
use crate::paths::listed::MOST_ENDS;
use crate::vocabulary::Vocabulary;

/// `places:`, made of the words with this prefix.
fn places(prefix: &str, node: &str) -> Value {
    let of = |name: &str| reference(prefix, name);
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
                {
                    "type": "object", "minProperties": 1, "propertyNames": {"pattern": NAME},
                    "additionalProperties": pair,
                },
            ], "description": "From which node to which; from the first to the second without it"},
            "via": one_or_several(&of("via")),
            "mesh": one_or_several(&of("mode")),
        },
        "oneOf": [
            {
                "required": ["kinds"],
                "not": {"anyOf": [{"required": ["from"]}, {"required": ["to"]}]},
            },
            {"required": ["from", "to"], "not": {"required": ["kinds"]}},
        ],
    });
    let short = json!({"type": "array", "minItems": 1, "items": of("kind")});
    described(json!({"anyOf": [short, long]}), "Many paths at once: FROM-TO[.NODES][.VIA][.MESH]")
}

/// The parts of paths, by name: `path`, `places` and what they refer to, behind a prefix.
/// `node` is what the name of a node looks like.
pub(super) fn definitions(prefix: &str, vocabulary: &Vocabulary, node: &str) -> Map<String, Value> {
    let grammar = Grammar::of(vocabulary, node);
    let about: Vec<String> =
        vocabulary.networks.iter().map(|n| format!("{}: {}", n.name, n.summary)).collect();
    let about = about.join("; ");
    let all = [
        ("kind", described(text(&grammar.kind), &about)),
        ("kinds", one_or_several(&reference(prefix, "kind"))),
        ("via", text(&grammar.via)),
        ("mode", mode()),
        (
            "path",
            json!({
                "anyOf": [text(&format!("({})", grammar.short())), long(prefix, &grammar, &about)],
            }),
        ),
        ("places", places(prefix, node)),
    ];
    all.into_iter().map(|(name, schema)| (format!("{prefix}{name}"), schema)).collect()
}

/// A path as a mapping.
fn long(prefix: &str, grammar: &Grammar, about: &str) -> Value {
    let place = described(text(&grammar.place), about);
    let ends = json!({"type": "integer", "minimum": 1, "maximum": MOST_ENDS, "default": 1});
    let asks = |modes: [MeshMode; 2]| {
        json!({
            "properties": {"mesh": {"enum": modes}}, "required": ["mesh"],
        })
    };
    let (pod, via) = (matching(&grammar.pod), matching(&grammar.via_of_sidecars));
    json!({
        "type": "object", "additionalProperties": false, "required": ["from", "to"],
        "properties": {
            "from": place, "to": place, "via": reference(prefix, "via"),
            "clients": described(ends.clone(), "Clients, each a pod of its own"),
            "backends": described(ends.clone(), "Servers behind the Service or gateway"),
            "gateways": described(ends, "Gateways, each a pod of its own"),
            "affinity": {
                "const": Affinity::CLIENT_IP,
                "description": "The Service sends all connections of one client to one server",
            },
            "family": {
                "enum": IpFamily::ALL,
                "description": "The addresses that the clients connect to; by default the \
                                testbed's first family, in a lab IPv4",
            },
            "mesh": reference(prefix, "mode"),
        },
        "allOf": [
            {"if": asks([MeshMode::Server, MeshMode::Both]), "then": {"properties": {"to": pod}}},
            {
                "if": asks([MeshMode::Client, MeshMode::Both]),
                "then": {"properties": {"from": pod, "via": via}},
            },
        ],
    })
}

fn mode() -> Value {
    let about: Vec<String> =
        MeshMode::ALL.iter().map(|mode| format!("{mode}: {}", mode.summary())).collect();
    json!({"enum": MeshMode::ALL, "default": MeshMode::None, "description": about.join("; ")})
}

/// The definition of this name.
fn reference(prefix: &str, name: &str) -> Value {
    json!({"$ref": format!("#/$defs/{prefix}{name}")})
}

/// A text that is this from its first to its last character.
fn text(pattern: &str) -> Value {
    json!({"type": "string", "pattern": format!("^{pattern}$")})
}

/// The same of what is known to be a text.
fn matching(pattern: &str) -> Value {
    json!({"pattern": format!("^{pattern}$")})
}

fn one_or_several(one: &Value) -> Value {
    json!({"anyOf": [one, {"type": "array", "minItems": 1, "items": one}]})
}
