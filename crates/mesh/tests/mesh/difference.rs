//! The difference of a JSON document from another one, in few lines that a person can read.
//!
//! `+ PATH VALUE` is there now, and `- PATH` no longer is. Lines about an element with a name stand
//! below its path. Such an element may be `like NAME`: its sibling with the name replaced, and what
//! the lines below it say. A value may be `as PATH`: equal to what stands there. Two documents with
//! the same difference from a third are equal.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Longer values are shown member by member, and not twice.
const LONG: usize = 60;

pub(crate) fn difference(old: &Value, new: &Value) -> String {
    let mut difference = Difference::default();
    difference.learn(&Path::default(), old);
    difference.values(&Path::default(), old, new);
    difference.text()
}

/// A place in a document: the innermost element with a name, and the way from there.
#[derive(Clone, Default)]
struct Path {
    scope: String,
    rest: String,
}

impl Path {
    fn key(&self, key: &str) -> Self {
        Self { rest: format!("{}/{key}", self.rest), ..self.clone() }
    }

    fn index(&self, index: usize) -> Self {
        Self { rest: format!("{}[{index}]", self.rest), ..self.clone() }
    }

    fn named(&self, name: &str) -> Self {
        Self { scope: format!("{self}[{name}]"), rest: String::new() }
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.scope, self.rest)
    }
}

#[derive(Clone)]
struct Line {
    scope: String,
    text: String,
    /// It is about the scope itself, so it takes the place of the scope's heading.
    heading: bool,
}

#[derive(Clone, Default)]
struct Difference {
    lines: Vec<Line>,
    /// Where a long value stands, by its text.
    known: BTreeMap<String, String>,
}

impl Difference {
    fn values(&mut self, path: &Path, old: &Value, new: &Value) {
        match (old, new) {
            _ if old == new => {}
            (Value::Object(old), Value::Object(new)) => {
                let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
                for key in keys {
                    let path = path.key(key);
                    match (old.get(key), new.get(key)) {
                        (Some(old), Some(new)) => self.values(&path, old, new),
                        (_, Some(new)) => self.added(&path, new),
                        (_, None) => self.line(&path, "-", ""),
                    }
                }
            }
            (Value::Array(old), Value::Array(new)) if by_name(old, new) => {
                self.named(path, old, new);
            }
            (Value::Array(old), Value::Array(new)) => self.unnamed(path, old, new),
            _ => {
                self.line(path, "-", &old.to_string());
                self.added(path, new);
            }
        }
    }

    fn added(&mut self, path: &Path, value: &Value) {
        let text = value.to_string();
        if let Some(place) = self.known.get(&text) {
            let same = format!("as {place}");
            return self.line(path, "+", &same);
        }
        match value {
            Value::Object(members) if text.len() > LONG => {
                members.iter().for_each(|(key, member)| self.added(&path.key(key), member));
            }
            Value::Array(elements) if text.len() > LONG => {
                elements
                    .iter()
                    .enumerate()
                    .for_each(|(index, element)| self.added(&path.index(index), element));
            }
            _ => return self.line(path, "+", &text),
        }
        self.known.insert(text, path.to_string());
    }

    /// Elements that have a name before and after. New ones are put the shortest way.
    fn named(&mut self, path: &Path, old: &[Value], new: &[Value]) {
        for gone in old.iter().filter(|element| find(new, name(element)).is_none()) {
            self.heading(&path.named(name(gone)), "-", "");
        }
        let mut siblings: Vec<_> = old.iter().collect();
        for (at, element) in new.iter().enumerate() {
            let path = path.named(name(element));
            if let Some(before) = find(old, name(element)) {
                self.values(&path, before, element);
                continue;
            }
            let mut shortest = self.clone();
            shortest.heading(&path, "+", &format!("at {at}"));
            shortest.added(&path, element);
            for sibling in &siblings {
                let mut like = self.clone();
                like.heading(&path, "+", &format!("at {at}, like {}", name(sibling)));
                like.values(&path, &renamed(sibling, name(sibling), name(element)), element);
                if like.lines.len() < shortest.lines.len() {
                    shortest = like;
                }
            }
            *self = shortest;
            self.learn(&path, element);
            siblings.push(element);
        }
    }

    fn unnamed(&mut self, path: &Path, old: &[Value], new: &[Value]) {
        let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[start..], &new[start..]);
        let end =
            old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
        let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
        if old.len() == new.len() {
            for (index, (old, new)) in (start..).zip(old.iter().zip(new)) {
                self.values(&path.index(index), old, new);
            }
            return;
        }
        for (index, _) in (start..).zip(old) {
            self.line(&path.index(index), "-", "");
        }
        for (index, new) in (start..).zip(new) {
            self.added(&path.index(index), new);
        }
    }

    /// Remembers the long values of a document that has been shown.
    fn learn(&mut self, path: &Path, value: &Value) {
        let text = value.to_string();
        if text.len() <= LONG || value.is_string() {
            return;
        }
        self.known.entry(text).or_insert_with(|| path.to_string());
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(key, member)| self.learn(&path.key(key), member));
            }
            Value::Array(elements) => {
                let named = have_names(elements);
                for (index, element) in elements.iter().enumerate() {
                    let path = if named { path.named(name(element)) } else { path.index(index) };
                    self.learn(&path, element);
                }
            }
            _ => {}
        }
    }

    fn line(&mut self, path: &Path, sign: &str, what: &str) {
        let gap = if path.rest.is_empty() { "" } else { " " };
        let text = format!("{sign}{gap}{} {what}", path.rest);
        self.lines.push(Line { scope: path.scope.clone(), text, heading: false });
    }

    fn heading(&mut self, path: &Path, sign: &str, what: &str) {
        let text = format!("{sign} {path} {what}");
        self.lines.push(Line { scope: path.scope.clone(), text, heading: true });
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut scope = "";
        for line in &self.lines {
            let indent = if line.heading || line.scope.is_empty() { "" } else { "  " };
            if !line.heading && scope != line.scope {
                text += &format!("{}\n", line.scope);
            }
            scope = &line.scope;
            text += &format!("{indent}{}\n", line.text.trim_end());
        }
        text
    }
}

fn name(element: &Value) -> &str {
    element["name"].as_str().unwrap_or_default()
}

fn find<'a>(elements: &'a [Value], wanted: &str) -> Option<&'a Value> {
    elements.iter().find(|element| name(element) == wanted)
}

fn have_names(elements: &[Value]) -> bool {
    let names: BTreeSet<_> = elements.iter().map(name).collect();
    !elements.is_empty() && names.len() == elements.len() && !names.contains("")
}

/// Whether names tell the elements apart, and those that are in both stand in the same order.
fn by_name(old: &[Value], new: &[Value]) -> bool {
    let both = |ones: &[Value], others: &[Value]| -> Vec<String> {
        let ones = ones.iter().map(name).filter(|one| find(others, one).is_some());
        ones.map(str::to_owned).collect()
    };
    have_names(old) && have_names(new) && both(old, new) == both(new, old)
}

fn renamed(value: &Value, from: &str, to: &str) -> Value {
    match value {
        Value::String(text) if text == from => to.into(),
        Value::Array(elements) => {
            elements.iter().map(|element| renamed(element, from, to)).collect()
        }
        Value::Object(members) => {
            members.iter().map(|(key, member)| (key.clone(), renamed(member, from, to))).collect()
        }
        other => other.clone(),
    }
}

mod tests {
    use serde_json::json;

    use super::*;
    use crate::descriptions::{gateway, variants};

    fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                members
                    .iter()
                    .for_each(|(key, member)| pointers(member, &format!("{at}/{key}"), found));
            }
            Value::Array(elements) => {
                elements
                    .iter()
                    .enumerate()
                    .for_each(|(n, element)| pointers(element, &format!("{at}/{n}"), found));
            }
            _ => found.push(at.to_owned()),
        }
    }

    #[test]
    fn no_change_goes_unseen() {
        let variants = variants();
        let of = |wanted: &str| {
            gateway(variants.iter().find(|variant| variant.name == wanted).unwrap()).bootstrap()
        };
        let (old, new) = (of("plain"), of("everything"));
        let agreed = difference(&old, &new);
        let mut leaves = Vec::new();
        pointers(&new, "", &mut leaves);
        for leaf in leaves.iter().step_by(5) {
            let mut other = new.clone();
            *other.pointer_mut(leaf).unwrap() = json!("another");
            assert_ne!(difference(&old, &other), agreed, "{leaf}");
        }
    }

    #[test]
    fn order_counts() {
        let old = json!([{ "name": "a", "x": 1 }, { "name": "b", "x": 2 }]);
        let moved = json!([{ "name": "b", "x": 2 }, { "name": "a", "x": 1 }]);
        let first =
            json!([{ "name": "c", "x": 1 }, { "name": "a", "x": 1 }, { "name": "b", "x": 2 }]);
        let last =
            json!([{ "name": "a", "x": 1 }, { "name": "b", "x": 2 }, { "name": "c", "x": 1 }]);
        assert_eq!(difference(&old, &old), "");
        assert_ne!(difference(&old, &moved), "");
        assert_eq!(difference(&old, &first), "+ [c] at 0, like a\n");
        assert_eq!(difference(&old, &last), "+ [c] at 2, like a\n");
    }
}
