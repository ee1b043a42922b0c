//! Mappings: those whose keys this format defines, and those whose keys are names that the user
//! gives.

use std::collections::HashSet;
use std::str::FromStr;

use hopbench_model::printable::line;

use super::node::{At, Key, Kind, Node, quoted};
use super::problem::Problems;

/// A mapping with keys that are known beforehand. `-` and `_` in them mean the same.
#[derive(Debug)]
pub(crate) struct Fields<'n> {
    /// Where it is in the tree, empty for the whole file.
    pub(crate) path: String,
    pub(crate) at: At,
    entries: Vec<(String, &'n Key, &'n Node)>,
}

impl<'n> Fields<'n> {
    /// Every key of the mapping that is known, once; problems for the others. `what` says what the
    /// mapping is.
    pub(crate) fn read<S: AsRef<str>>(
        node: &'n Node,
        path: &str,
        known: &[S],
        what: &str,
        problems: &mut Problems,
    ) -> Option<Self> {
        Self::read_or_say(node, path, known, what, |_| None, problems)
    }

    /// The same; `expected` says what to do instead of a key that is not known, if it can.
    pub(crate) fn read_or_say<S: AsRef<str>>(
        node: &'n Node,
        path: &str,
        known: &[S],
        what: &str,
        expected: impl Fn(&str) -> Option<&'static str>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let Kind::Map(map) = &node.kind else {
            problems.add(node.at, path, node.shown(), what);
            return None;
        };
        let mut out = Self { path: path.to_owned(), at: node.at, entries: Vec::new() };
        for (key, value) in map {
            let name = key.text.replace('_', "-");
            if !known.iter().any(|k| k.as_ref() == name) {
                let path = joined(path, &key.text);
                match expected(&name) {
                    Some(expected) => problems.add(key.at, &path, quoted(&key.text), expected),
                    None => problems.unknown(key.at, &path, &key.text, known),
                }
            } else if out.get(&name).is_some() {
                twice(key, path, problems);
            } else {
                out.entries.push((name, key, value));
            }
        }
        Some(out)
    }

    /// The value of a key.
    pub(crate) fn get(&self, name: &str) -> Option<&'n Node> {
        self.entries.iter().find(|(known, ..)| known == name).map(|(.., node)| *node)
    }

    /// All of them, in the file's order, with their names as they are known.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &'n Key, &'n Node)> {
        self.entries.iter().map(|(name, key, node)| (name.as_str(), *key, *node))
    }

    /// Where a key is in the tree.
    pub(crate) fn path_of(&self, name: &str) -> String {
        joined(&self.path, name)
    }

    /// The value of a key, parsed; a problem and `None` when it is something else.
    pub(crate) fn parsed<T: FromStr>(
        &self,
        name: &str,
        expected: &str,
        problems: &mut Problems,
    ) -> Option<T> {
        let node = self.get(name)?;
        parsed(node, &self.path_of(name), expected, problems)
    }

    /// The same, for a value that must be in a range or set.
    pub(crate) fn checked<T: FromStr>(
        &self,
        name: &str,
        expected: &str,
        ok: impl FnOnce(&T) -> bool,
        problems: &mut Problems,
    ) -> Option<T> {
        let value = self.parsed(name, expected, problems)?;
        if ok(&value) {
            return Some(value);
        }
        if let Some(node) = self.get(name) {
            problems.add(node.at, &self.path_of(name), node.shown(), expected);
        }
        None
    }

    /// The texts under a key, by the keys that the user gives, with their places.
    pub(crate) fn texts(
        &self,
        name: &str,
        form: &str,
        problems: &mut Problems,
    ) -> Vec<(At, String, String)> {
        let Some(node) = self.get(name) else { return Vec::new() };
        let path = self.path_of(name);
        let Kind::Map(map) = &node.kind else {
            problems.add(node.at, &path, node.shown(), form);
            return Vec::new();
        };
        let mut out = Vec::new();
        for (key, value) in map {
            match value.text() {
                Some(text) => out.push((key.at, key.text.clone(), text.trim().to_owned())),
                None => problems.add(value.at, &joined(&path, &key.text), value.shown(), form),
            }
        }
        out
    }

    /// `true` or `false`; a problem and `None` when it is something else.
    pub(crate) fn switch(&self, name: &str, problems: &mut Problems) -> Option<bool> {
        let known =
            |text: &String| ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word));
        self.checked(name, "true or false", known, problems)
            .map(|text| text.eq_ignore_ascii_case("true"))
    }
}

/// A scalar, parsed.
pub(crate) fn parsed<T: FromStr>(
    node: &Node,
    path: &str,
    expected: &str,
    problems: &mut Problems,
) -> Option<T> {
    let value = node.text().and_then(|text| text.trim().parse().ok());
    if value.is_none() {
        problems.add(node.at, path, node.shown(), expected);
    }
    value
}

/// A mapping from names that the user gives, each of them once and usable as a name.
pub(crate) fn named<'n>(
    node: &'n Node,
    path: &str,
    what: &str,
    problems: &mut Problems,
) -> Option<Vec<(&'n Key, &'n Node)>> {
    let Kind::Map(map) = &node.kind else {
        problems.add(node.at, path, node.shown(), what);
        return None;
    };
    if map.is_empty() {
        problems.add(node.at, path, "an empty mapping", what);
    }
    let mut seen = HashSet::new();
    let mut out = Vec::new();
    for (key, value) in map {
        if !seen.insert(&key.text) {
            twice(key, path, problems);
        } else if is_name(&key.text) {
            out.push((key, value));
        } else {
            problems.add(key.at, path, quoted(&key.text), NAME);
        }
    }
    Some(out)
}

/// The form that [`is_name`] accepts.
pub(crate) const NAME: &str =
    "a name of at most 64 letters, digits and -_.+ that starts with a letter or digit";

/// Whether a text can be the name of a scenario, path or workload: it stands in file names, filters
/// and tables.
pub(crate) fn is_name(text: &str) -> bool {
    let rest = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(rest)
}

/// `parent.child`.
pub(crate) fn joined(parent: &str, child: &str) -> String {
    let child = &child[..child.char_indices().nth(64).map_or(child.len(), |(at, _)| at)];
    let child = line(child);
    if parent.is_empty() { child.into_owned() } else { format!("{parent}.{child}") }
}

/// Says that a key is there a second time.
pub(crate) fn twice(key: &Key, path: &str, problems: &mut Problems) {
    problems.add(
        key.at,
        &joined(path, &key.text),
        format!("{} a second time", quoted(&key.text)),
        "each key once",
    );
}
