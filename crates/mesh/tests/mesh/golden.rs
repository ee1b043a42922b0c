//! Bootstraps compared with files that a person has looked at. `UPDATE_GOLDEN=1` writes them anew.

use std::fs;
use std::path::PathBuf;

use crate::descriptions::{SHAPES, variants};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"))
}

/// What is kept: every shape when plain, and every variant of the smallest shape that shows it.
fn goldens() -> Vec<(String, String)> {
    let mut goldens = Vec::new();
    for (shape, proxy) in SHAPES {
        for variant in variants() {
            let name = &variant.name;
            if name == "plain" || shape == "gateway" {
                let text = serde_json::to_string_pretty(&proxy(&variant).bootstrap()).unwrap() + "\n";
                goldens.push((format!("{shape}-{name}.json"), text));
            }
        }
    }
    goldens
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
            differ.push(format!("{name}:{}: {:?} became {:?}", at + 1, agreed.lines().nth(at), text.lines().nth(at)));
        }
    }
    assert!(differ.is_empty(), "bootstraps differ (UPDATE_GOLDEN=1 accepts them):\n{}", differ.join("\n"));
}

#[test]
fn no_golden_is_forgotten() {
    let there = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut there: Vec<_> = there.collect();
    let mut known: Vec<_> = goldens().into_iter().map(|(name, _)| name).collect();
    there.sort();
    known.sort();
    assert_eq!(there, known);
}
