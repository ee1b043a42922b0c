//! Bootstraps compared with files that a person has looked at. `UPDATE_GOLDEN=1` writes them anew.
//!
//! One bootstrap is kept whole, and of the others the difference from it.

use std::fs;
use std::path::PathBuf;

use hopbench_model::Variant;
use serde_json::Value;

use crate::descriptions::{SHAPES, gateway, variants};
use crate::difference::difference;

const WIDTH: usize = 90;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"))
}

/// What is kept: every shape when plain, and every variant of the smallest shape that shows it.
fn goldens() -> Vec<(String, String)> {
    let whole = gateway(&Variant::plain()).bootstrap();
    let mut goldens = vec![("gateway-plain.json".to_owned(), page(&whole, "") + "\n")];
    for (shape, proxy) in SHAPES {
        for variant in variants() {
            let name = &variant.name;
            if (name == "plain") != (shape == "gateway") {
                let text = difference(&whole, &proxy(&variant).bootstrap());
                goldens.push((format!("{shape}-{name}.diff"), text));
            }
        }
    }
    goldens
}

/// A document in few lines: what fits into one is not broken.
fn page(value: &Value, indent: &str) -> String {
    let (inner, short) = (format!("{indent}  "), value.to_string());
    if indent.len() + short.len() <= WIDTH {
        return short;
    }
    match value {
        Value::Object(members) => {
            let lines = members
                .iter()
                .map(|(key, value)| format!("{inner}{key:?}: {}", page(value, &inner)));
            format!("{{\n{}\n{indent}}}", lines.collect::<Vec<_>>().join(",\n"))
        }
        Value::Array(values) => {
            let lines = values.iter().map(|value| format!("{inner}{}", page(value, &inner)));
            format!("[\n{}\n{indent}]", lines.collect::<Vec<_>>().join(",\n"))
        }
        _ => short,
    }
}

#[test]
fn bootstraps_are_as_agreed() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut differ = Vec::new();
    for (name, text) in goldens() {
        let path = folder().join(&name);
        if update {
            fs::write(&path, &text).unwrap();
        }
        let agreed = fs::read_to_string(&path).unwrap_or_default();
        if agreed != text {
            let at = agreed.lines().zip(text.lines()).position(|(old, new)| old != new);
            let at = at.unwrap_or_else(|| agreed.lines().count().min(text.lines().count()));
            differ.push(format!(
                "{name}:{}: {:?} became {:?}",
                at + 1,
                agreed.lines().nth(at),
                text.lines().nth(at)
            ));
        }
    }
    assert!(
        differ.is_empty(),
        "bootstraps differ (UPDATE_GOLDEN=1 accepts them):\n{}",
        differ.join("\n")
    );
}

#[test]
fn no_golden_is_forgotten() {
    let there = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut there: Vec<_> = there.collect();
    let mut known: Vec<_> = goldens().into_iter().map(|(name, _)| name).collect();
    there.sort();
    known.sort();
    assert_eq!(there, known);
}
