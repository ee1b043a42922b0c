//! `subjects:`, the set-ups that a run compares.

use hopbench_model::OFFLOADS;
use serde_json::{Map, Value, json};

use super::parts::{described, share};
use super::testbed::IMAGE_NAME;
use crate::subjects::{COMMAND_KEYS, MOST_SUBJECTS, SUBJECT_KEYS};
use crate::testbed::MTU;

/// The block.
pub(super) fn subjects(node: &str) -> Value {
    let keys: Map<String, Value> =
        SUBJECT_KEYS.iter().map(|key| ((*key).to_owned(), value(key))).collect();
    let subject =
        json!({"type": ["object", "null"], "additionalProperties": false, "properties": keys});
    let block = json!({
        "type": "object", "minProperties": 1, "maxProperties": MOST_SUBJECTS,
        "propertyNames": {"pattern": format!("^{node}$")}, "additionalProperties": subject,
    });
    described(block, "Set-ups to compare: every path is measured with each, beside the first one")
}

fn value(key: &str) -> Value {
    let texts = json!({
        "type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]},
    });
    let text = json!({"type": "string"});
    let image = || json!({"type": "string", "pattern": IMAGE_NAME});
    let (schema, about) = match key {
        "mtu" => (
            json!({"type": "integer", "minimum": MTU.start(), "maximum": MTU.end()}),
            "MTU of the links of its nodes and pods, bytes; in a lab",
        ),
        "offloads" => {
            let on = json!({"anyOf": [{"type": "boolean"}, {"enum": ["on", "off"]}]});
            let words: Map<String, Value> =
                OFFLOADS.iter().map(|word| ((*word).to_owned(), on.clone())).collect();
            let block =
                json!({"type": "object", "additionalProperties": false, "properties": words});
            (block, "Offloads of its links, on or off; in a lab")
        }
        "sysctl" => (texts, "Parameters of its network, like net.ipv4.tcp_rmem; in a lab"),
        "env" => (texts, "Variables of the environment of server programs"),
        "agent" => (image(), "The image of its agents' pods; on a cluster"),
        "proxy" => (image(), "The image of its sidecars, and of our own gateways; on a cluster"),
        "envoy" => (text, "The Envoy that its proxies run, the path of a program; in a lab"),
        "variant" => (text, "The variant of its proxies"),
        "network" => (texts, "Network kinds in place of others, like {bridge: overlay}"),
        "runtime" => (text, "The runtime around its pods"),
        "command" => {
            let lines: Map<String, Value> =
                COMMAND_KEYS.iter().map(|word| ((*word).to_owned(), text.clone())).collect();
            let block =
                json!({"type": "object", "additionalProperties": false, "properties": lines});
            (
                block,
                "Shell commands before and after its trials; on a cluster with `allow-commands`",
            )
        }
        _ => (
            json!({"type": "object", "additionalProperties": share(0.0, 100.0)}),
            "By how much figures may be worse than the first subject's; else `run` exits with 1",
        ),
    };
    described(schema, about)
}
