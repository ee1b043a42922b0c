//! The JSON Schema of a scenario, from the same lists that the reader uses: editors complete from
//! it.
//!
//! Keys are written as flags are, with `-`; the reader also takes `_`.

mod grammar;
mod mesh;
mod parts;
mod paths;
mod search;
mod stop;
mod subjects;
mod testbed;

use hopbench_load::WORKLOADS;
use hopbench_load::workload::Workload;
use hopbench_model::ROUNDS;
use serde_json::{Map, Value, json};

use crate::http::HTTP_KEYS;
use crate::resolve::DEFAULT_KEYS;
use crate::resolve::rounds::DEFAULT_BUDGET;
use crate::vocabulary::{Vocabularies, Vocabulary};
use crate::workload::flags::{Flag, Sort, command, common, flags};
use parts::{NAME, NODE, NUMBER, QUANTITY, SWEEP, described, share};

/// The schema (JSON Schema 2020-12) of a scenario. The words of paths follow from its testbeds.
/// With several testbeds, or a cluster, which may have names of its own, it takes more than the
/// reader does.
pub fn schema(vocabularies: &Vocabularies) -> Value {
    let mut properties = Map::from_iter([
        (
            "name".to_owned(),
            described(
                json!({"type": "string", "pattern": NAME}),
                "Part of the results folder's name",
            ),
        ),
        ("testbed".to_owned(), testbed::testbed()),
        (
            "budget".to_owned(),
            described(
                stop::budget(),
                &format!(
                    "Time for the rounds, or for searches alone; trials are then short; or rounds, \
                     or stop; {} for the rounds where none of them is said",
                    DEFAULT_BUDGET.brief()
                ),
            ),
        ),
        (
            "rounds".to_owned(),
            described(
                json!({"type": "integer", "minimum": ROUNDS.start(), "maximum": ROUNDS.end()}),
                "Passes over all cells, in random order; or budget, or stop",
            ),
        ),
        ("stop".to_owned(), stop::stop()),
        (
            "seed".to_owned(),
            described(
                json!({"type": "integer", "minimum": 0, "maximum": u64::MAX}),
                "Seed of the order and of everything random; a new one without it",
            ),
        ),
        (
            "baseline".to_owned(),
            described(json!({"type": "string"}), "The path that the others are compared with"),
        ),
        (
            "a-a".to_owned(),
            described(
                json!({"type": "boolean", "default": true}),
                "Whether the baseline is measured once more as a path of its own: what the two \
                 differ by is noise",
            ),
        ),
        (
            "minimum-effect".to_owned(),
            described(
                share(0.0, 1.0),
                "Differences below this share are of no interest, like 2% or 0.02",
            ),
        ),
        (
            "stay-connected".to_owned(),
            described(
                json!({"type": "boolean", "default": false}),
                "Whether the connections of a cell stay open between its trials",
            ),
        ),
        ("subjects".to_owned(), subjects::subjects(NODE)),
        (
            "paths".to_owned(),
            described(
                json!({"type": "object", "minProperties": 1, "propertyNames": {"pattern": NAME}}),
                "From where to where, by name",
            ),
        ),
        (
            "places".to_owned(),
            described(json!({}), "Many paths at once: FROM-TO[.NODES][.VIA][.MESH]"),
        ),
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
        "not": {"anyOf": [
            {"required": ["rounds", "stop"]},
            {"required": ["budget", "stop"]},
            {"required": ["budget", "rounds"]},
        ]},
        "properties": properties,
        "allOf": [of_testbeds(vocabularies)],
        "$defs": definitions(vocabularies),
    })
}

/// What follows from the testbeds that a scenario says.
fn of_testbeds(vocabularies: &Vocabularies) -> Value {
    let words = |prefix: &str, servers: Option<Vec<String>>| {
        let path = json!({"$ref": format!("#/$defs/{prefix}path")});
        let mut out = json!({"properties": {
            "paths": {"additionalProperties": path},
            "places": {"$ref": format!("#/$defs/{prefix}places")},
        }});
        if let Some(names) = servers {
            let server = values(&Sort::Word(names), false);
            let over_http = WORKLOADS.iter().filter(|workload| workload.kind().is_http());
            let each: Map<String, Value> = over_http
                .map(|workload| {
                    (workload.name().to_owned(), json!({"properties": {"server": server}}))
                })
                .collect();
            out["properties"]["workloads"] = json!({"additionalProperties": {"properties": each}});
        }
        out
    };
    let only = |name: &str| {
        let named = json!({"type": "object", "propertyNames": {"const": name}});
        json!({"properties": {"testbed": {"anyOf": [{"const": name}, named]}}})
    };
    let mut hosts = only("hosts");
    hosts["required"] = json!(["testbed"]);
    let lab = words("", Some(vocabularies.lab.server_names()));
    json!({
        "if": only("lab"), "then": lab,
        "else": {
            "if": hosts, "then": words("hosts-", Some(vocabularies.hosts.server_names())),
            "else": words("cluster-", None),
        },
    })
}

fn definitions(vocabularies: &Vocabularies) -> Value {
    let Vocabularies { lab, kubernetes, hosts } = vocabularies;
    let mut out = paths::definitions("", lab, NODE);
    out.extend(paths::definitions("cluster-", kubernetes, &testbed::domain()));
    out.extend(paths::definitions("hosts-", hosts, &testbed::domain()));
    out.insert("workload".to_owned(), workload(lab));
    out.insert("search".to_owned(), search::search());
    out.insert("range".to_owned(), range());
    for workload in WORKLOADS {
        out.insert(workload.name().to_owned(), parameters(*workload, lab));
    }
    Value::Object(out)
}

fn workload(lab: &Vocabulary) -> Value {
    let names: Vec<&str> = WORKLOADS.iter().map(|w| w.name()).collect();
    let mut properties: Map<String, Value> = WORKLOADS
        .iter()
        .map(|workload| {
            let (name, text) = (workload.name(), workload.summary());
            (name.to_owned(), json!({"$ref": format!("#/$defs/{name}"), "description": text}))
        })
        .collect();
    properties.insert(
        "paths".to_owned(),
        json!({
            "anyOf": [
                {"type": "string"}, {"type": "array", "minItems": 1, "items": {"type": "string"}},
            ],
            "description": "Only on these paths; * stands for any characters",
        }),
    );
    properties.insert(
        "search".to_owned(),
        json!({"$ref": "#/$defs/search", "description": search::ABOUT}),
    );
    let tools: Vec<&str> = lab.peers.iter().map(|tool| tool.name).collect();
    let tool = json!({"enum": tools});
    properties.insert(
        "peer".to_owned(),
        json!({
            "anyOf": [tool, {"type": "array", "minItems": 1, "items": tool}],
            "description": "A tool of others that measures the same, in labs and on clusters",
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
        .map(|Flag { name, help, sort, repeats, .. }| {
            (name, described(values(&sort, repeats), &help))
        })
        .collect();
    if workload.kind().is_http() {
        for (name, help) in HTTP_KEYS {
            let sort = if *name == "response" { Sort::Quantity } else { Sort::Text };
            let mut property = described(values(&sort, false), help);
            if *name == "server" {
                // Others depend on the testbed.
                property["examples"] = json!(vocabulary.server_names());
            }
            properties.insert((*name).to_owned(), property);
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
        Sort::Number => json!({"type": ["number", "string"], "pattern": NUMBER}),
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
