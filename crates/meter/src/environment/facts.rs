//! Facts by name, and the small files that they are read from.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

pub(super) type Facts = BTreeMap<String, String>;

pub(super) fn put(facts: &mut Facts, name: &str, value: Option<String>) {
    if let Some(value) = value.filter(|value| !value.is_empty()) {
        facts.insert(name.to_owned(), value);
    }
}

/// The text of a small file with every run of white space made one blank.
pub(super) fn read(root: &Path, path: &str) -> Option<String> {
    let text = read_raw(root, path)?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

pub(super) fn read_raw(root: &Path, path: &str) -> Option<String> {
    fs::read_to_string(root.join(path)).ok()
}
