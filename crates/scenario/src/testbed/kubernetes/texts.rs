//! Labels and annotations.

use std::collections::BTreeMap;

use crate::document::fields::{joined, twice};
use crate::document::node::{Kind, Node, quoted};
use crate::document::problem::Problems;
use crate::testbed::names::{is_label_key, is_label_value};

const KEY: &str = "a key like app or example.org/app";
const VALUE: &str = "at most 63 letters, digits and -_. with a letter or digit at both ends";

/// Labels by key, at least one.
pub(super) fn labels(node: &Node, path: &str, problems: &mut Problems) -> BTreeMap<String, String> {
    read(node, path, "labels like {app: web}", Some(VALUE), problems)
}

/// Annotations by key, at least one: their values are any text.
pub(crate) fn annotations(
    node: &Node,
    path: &str,
    problems: &mut Problems,
) -> BTreeMap<String, String> {
    read(node, path, "annotations like {example.org/name: text}", None, problems)
}

fn read(
    node: &Node,
    path: &str,
    form: &str,
    restricted: Option<&str>,
    problems: &mut Problems,
) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let map = match &node.kind {
        Kind::Map(map) if !map.is_empty() => map,
        Kind::Map(_) => {
            problems.add(node.at, path, "an empty mapping", form);
            return out;
        }
        _ => {
            problems.add(node.at, path, node.shown(), form);
            return out;
        }
    };
    for (key, value) in map {
        if !is_label_key(&key.text) {
            problems.add(key.at, path, quoted(&key.text), KEY);
        }
        let text = value.text().filter(|text| restricted.is_none() || is_label_value(text));
        match text {
            None => {
                let expected = restricted
                    .unwrap_or("a text; what is a list or a mapping to others stands in quotes");
                problems.add(value.at, &joined(path, &key.text), value.shown(), expected);
            }
            Some(text) => {
                if out.insert(key.text.clone(), text.to_owned()).is_some() {
                    twice(key, path, problems);
                }
            }
        }
    }
    out
}
