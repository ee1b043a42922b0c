//! The JSON Schema of a scenario, from the same lists that the reader uses: editors complete from it.
//!
//! Keys are written as flags are, with `-`; the reader also takes `_`.

mod mesh;
mod paths;

use hopbench_load::WORKLOADS;
use hopbench_load::workload::Workload;
use serde_json::{Map, Value, json};

use crate::flags::{Flag, Sort, command, common, flags};
use crate::http::HTTP_KEYS;
use crate::resolve::{DEFAULT_KEYS, ROUNDS};
use crate::testbed::{MOST_NODES, MTU};
use crate::vocabulary::Vocabulary;

/// A name that the user gives.
const NAME: &str = "^[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}$";
/// The name of a node.
const NODE: &str = "[a-z][a-z0-9-]{0,14}";
/// A bit rate.
const BIT_RATE: &str = "^[0-9][0-9._]* *[kKMG]?bit(/s)?$";
/// A size, time or rate, as their parsers take it.
const QUANTITY: &str = "^ *(max|[0-9][0-9._]* *[A-Za-zµ/]*) *$";
/// A sweep as flags write it.
const SWEEP: &str = "^[^:,]+((,[^:,]+)+|:[^:,]+:[*+][^:,]+)$";

/// The schema (JSON Schema 2020-12) of a scenario for a testbed with this vocabulary.
pub fn schema(vocabulary: &Vocabulary) -> Value {
    let mut properties = Map::from_iter([
        ("name".to_owned(), described(json!({"type": "string", "pattern": NAME}), "Part of the results folder's name")),
        ("testbed".to_owned(), testbed()),
        (
            "rounds".to_owned(),
            described(
                json!({"type": "integer", "minimum": ROUNDS.start(), "maximum": ROUNDS.end(), "default": 3}),
                "Passes over all cells, in random order",
            ),
        ),
        (
            "seed".to_owned(),
            described(
                json!({"type": "integer", "minimum": 0, "maximum": u64::MAX}),
                "Seed of the order and of everything random; a new one without it",
            ),
        ),
        ("baseline".to_owned(), described(json!({"type": "string"}), "The path that the others are compared with")),
        (
            "paths".to_owned(),
            described(
                json!({
                    "type": "object", "minProperties": 1, "propertyNames": {"pattern": NAME},
                    "additionalProperties": {"$ref": "#/$defs/path"},
                }),
                "From where to where, by name",
            ),
        ),
        ("places".to_owned(), paths::places()),
        ("mesh".to_owned(), mesh::mesh()),
        (
            "workloads".to_owned(),
            described(
                json!({
                    "type": "object", "minProperties": 1, "propertyNames": {"pattern": NAME},
                    "additionalProperties": {"$ref": "#/$defs/workload"},
                }),
                "What the traffic is, by name",
            ),
        ),
    ]);
    for flag in common().iter().filter(|flag| DEFAULT_KEYS.contains(&flag.name.as_str())) {
        let help = format!("{}; for every workload that does not say otherwise", flag.help);
        properties.insert(flag.name.clone(), described(values(&flag.sort, false), &help));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "hopbench scenario",
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "workloads"],
        "anyOf": [{"required": ["paths"]}, {"required": ["places"]}],
        "properties": properties,
        "$defs": definitions(vocabulary),
    })
}

fn described(mut schema: Value, text: &str) -> Value {
    schema["description"] = Value::String(text.to_owned());
    schema
}

fn testbed() -> Value {
    let link = json!({"type": "string", "pattern": BIT_RATE});
    let node = json!({
        "type": ["object", "null"], "additionalProperties": false,
        "properties": {
            "zone": {"type": "string", "pattern": format!("^{NODE}$"), "description": "Nodes of one zone share a bridge"},
            "link": described(link.clone(), "Rate of this node's link"),
        },
    });
    let nodes = json!({"anyOf": [
        {"type": "integer", "minimum": 1, "maximum": MOST_NODES, "description": "So many, called a, b, c ..."},
        {"type": "array", "minItems": 1, "maxItems": MOST_NODES, "uniqueItems": true,
         "items": {"type": "string", "pattern": format!("^{NODE}$")}},
        {"type": "object", "minProperties": 1, "maxProperties": MOST_NODES,
         "propertyNames": {"pattern": format!("^{NODE}$")}, "additionalProperties": node},
    ]});
    let lab = json!({
        "type": ["object", "null"], "additionalProperties": false,
        "properties": {
            "nodes": described(nodes, "Without it, those that the paths name"),
            "link": described(link.clone(), "Rate of the nodes' links, each direction; not shaped without it"),
            "mtu": {"type": "integer", "minimum": MTU.start(), "maximum": MTU.end(), "default": 1500,
                    "description": "MTU of the nodes' links, bytes"},
            "zone-link": described(link, "Rate of the link between two zones"),
            "zone-delay": {"type": ["string", "number"], "pattern": QUANTITY,
                           "description": "One-way delay between two zones; needs netem"},
        },
    });
    let lab = json!({"type": "object", "additionalProperties": false, "required": ["lab"], "properties": {"lab": lab}});
    described(json!({"anyOf": [{"const": "lab"}, lab]}), "Where it runs: network namespaces on this machine")
}

fn definitions(vocabulary: &Vocabulary) -> Value {
    let mut out = paths::definitions(vocabulary);
    out.insert("workload".to_owned(), workload());
    out.insert("range".to_owned(), range());
    for workload in WORKLOADS {
        out.insert(workload.name().to_owned(), parameters(*workload, vocabulary));
    }
    Value::Object(out)
}

fn workload() -> Value {
    let names: Vec<&str> = WORKLOADS.iter().map(|w| w.name()).collect();
    let mut properties: Map<String, Value> = WORKLOADS
        .iter()
        .map(|w| (w.name().to_owned(), json!({"$ref": format!("#/$defs/{}", w.name()), "description": w.summary()})))
        .collect();
    properties.insert(
        "paths".to_owned(),
        json!({
            "anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "string"}}],
            "description": "Only on these paths; * stands for any characters",
        }),
    );
    let one: Vec<Value> = names.iter().map(|name| json!({"required": [name]})).collect();
    json!({"anyOf": [
        {"enum": names},
        {"type": "object", "additionalProperties": false, "properties": properties, "oneOf": one},
    ]})
}

fn parameters(workload: &dyn Workload, vocabulary: &Vocabulary) -> Value {
    let mut properties: Map<String, Value> = flags(&command(workload))
        .into_iter()
        .map(|Flag { name, help, sort, repeats, .. }| (name, described(values(&sort, repeats), &help)))
        .collect();
    if workload.nature().target == "URL" {
        for (name, help) in HTTP_KEYS {
            let sort = match *name {
                "server" => Sort::Word(vocabulary.server_names().iter().map(|name| (*name).to_owned()).collect()),
                "response" => Sort::Quantity,
                _ => Sort::Text,
            };
            properties.insert((*name).to_owned(), described(values(&sort, false), help));
        }
    }
    json!({
        "type": ["object", "null"], "additionalProperties": false, "properties": properties,
        "description": workload.summary(),
    })
}

/// One value, or several that are measured in turn.
fn values(sort: &Sort, repeats: bool) -> Value {
    let one = match sort {
        Sort::Switch => json!({"type": "boolean"}),
        Sort::Whole(most) => json!({"type": "integer", "minimum": 0, "maximum": most}),
        Sort::Number => json!({"type": "number"}),
        Sort::Word(words) => json!({"enum": words}),
        Sort::Text => json!({"type": ["string", "number", "boolean"]}),
        Sort::Quantity => json!({"type": ["string", "number"], "pattern": QUANTITY, "minimum": 0}),
    };
    let mut any = vec![one.clone(), json!({"type": "array", "minItems": 1, "items": one})];
    if !repeats && matches!(sort, Sort::Whole(_) | Sort::Number | Sort::Quantity) {
        any.push(json!({"$ref": "#/$defs/range"}));
    }
    if *sort != Sort::Text && *sort != Sort::Switch {
        any.push(json!({"type": "string", "pattern": SWEEP}));
    }
    json!({"anyOf": any})
}

fn range() -> Value {
    let value = json!({"type": ["string", "number"]});
    json!({
        "type": "object", "additionalProperties": false, "required": ["from", "to"],
        "properties": {
            "from": value, "to": value,
            "factor": {"type": "number", "exclusiveMinimum": 1},
            "step": value,
        },
        "oneOf": [{"required": ["factor"]}, {"required": ["step"]}],
        "description": "From a value to another, multiplied by the factor or increased by the step",
    })
}
