//! `search:` of a workload.

use hopbench_model::Job;
use serde_json::{Map, Value, json};

use super::parts::{DOUBLING, QUANTITY, SWEEP, described, share};
use crate::workload::search::{
    BESIDE, CPU_KEYS, ERRORS, GOALS, KNEE_KEYS, LOSSLESS_KEYS, SLO_KEYS,
};

/// The block in a line.
pub(super) const ABOUT: &str = "What load to find, instead of rounds at one that is said";

/// The block.
pub(super) fn search() -> Value {
    let mut properties = Map::new();
    for goal in GOALS {
        let (keys, required, about) = of(goal);
        let properties_of: Map<_, _> =
            keys.iter().map(|key| ((*key).to_owned(), key_of(goal, key))).collect();
        let mut block = json!({
            "type": "object", "additionalProperties": false, "required": required,
            "properties": properties_of,
        });
        if *goal == "slo" {
            let limit = described(time(), "The limit of this percentile of the response time");
            block["patternProperties"] = json!({"^p[0-9]+([.][0-9]+)?$": limit});
        }
        properties.insert((*goal).to_owned(), described(block, about));
    }
    for key in BESIDE {
        let property = match *key {
            "errors" => {
                let mut share = share(0.0, 1.0);
                share["default"] = json!(ERRORS);
                described(share, "Exchanges that may fail at a load that counts, as a share of all")
            }
            _ => described(
                json!({"type": "boolean", "default": false}),
                "Whether every path is also measured at the load that was found on each of the \
                 others",
            ),
        };
        properties.insert((*key).to_owned(), property);
    }
    let one: Vec<Value> = GOALS.iter().map(|goal| json!({"required": [goal]})).collect();
    json!({
        "type": "object", "additionalProperties": false, "properties": properties, "oneOf": one,
        "description": ABOUT,
    })
}

/// The keys of a goal, those that it needs, and a line about it.
fn of(goal: &str) -> (&'static [&'static str], &'static [&'static str], &'static str) {
    match goal {
        "knee" => (
            KNEE_KEYS,
            &["connections"],
            "How many connections, then threads, until more of them give no more throughput",
        ),
        "slo" => (
            SLO_KEYS,
            &["rates"],
            "The highest constant rate with a percentile of the response time within a limit",
        ),
        "cpu" => (
            CPU_KEYS,
            &["of", "ceiling", "rates"],
            "The highest constant rate that keeps a CPU at or below a ceiling",
        ),
        _ => (
            LOSSLESS_KEYS,
            &["loss", "rates"],
            "The highest rate of datagrams with a loss within a bound",
        ),
    }
}

fn key_of(goal: &str, key: &str) -> Value {
    let levels = |most: u32| {
        let level = json!({"type": "integer", "minimum": 1, "maximum": most});
        json!({"anyOf": [
            {"type": "array", "minItems": 2, "items": level},
            {"$ref": "#/$defs/range"},
            {"type": "string", "pattern": SWEEP},
            {"type": "string", "pattern": DOUBLING},
        ]})
    };
    match (goal, key) {
        (_, "connections") => described(
            levels(Job::MOST_CONNECTIONS),
            "Connections, ascending, two levels or more; 1..64 doubles",
        ),
        (_, "threads") => described(
            levels(Job::MOST_THREADS),
            "Threads, ascending, at the connections that were found",
        ),
        (_, "growth") => described(
            share(0.001, 1.0),
            "Growth below this share counts as none; 5% where it is not said",
        ),
        (_, "rates") => described(
            json!({"type": "string", "pattern": "^.+[.][.].+$"}),
            "The lowest and the highest: 100..50000 or 100..50k a second, of datagrams \
             10Mbit..10Gbit",
        ),
        (_, "precision") => described(
            share(0.001, 0.5),
            "How near is near enough; 2% where it is not said, for loss 1%",
        ),
        (_, "of") => described(
            json!({
                "type": "string",
                "pattern": "^ *(client|server|node +\\S+|nodes *\\[[^\\]]+\\]|proxy +\\S+) *$",
            }),
            "Whose CPU: client, server, node NAME, nodes [NAME, NAME], proxy NAME",
        ),
        (_, "ceiling") => {
            described(share(0.05, 1.0), "The most of all its CPUs that may be busy, like 60%")
        }
        (_, "loss") => {
            described(share(0.0, 0.5), "The share of datagrams that may be lost, like 0.1%")
        }
        (_, "repeats") => described(
            json!({"type": "integer", "minimum": 1, "maximum": 20, "default": 3}),
            "How often it is searched; the result is the median, and a verdict needs 3",
        ),
        (_, "p") => described(
            json!({"type": "number", "exclusiveMinimum": 0, "maximum": 100}),
            "Which percentile, where its limit stands under limit",
        ),
        _ => described(time(), "The limit of this percentile of the response time"),
    }
}

fn time() -> Value {
    json!({"type": ["string", "number"], "pattern": QUANTITY, "exclusiveMinimum": 0})
}
