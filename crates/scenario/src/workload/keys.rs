//! The keys of one workload with the values that they take in turn.

use clap::Command;

use super::flags::{Flag, Sort, flags};
use crate::document::fields::{Fields, joined};
use crate::document::node::{Node, quoted};
use crate::document::problem::Problems;
use crate::document::values::{self, Value};
use crate::http::{HTTP_KEYS, check};
use crate::vocabulary::Vocabulary;

/// A key and its values.
#[derive(Debug)]
pub(crate) struct Swept {
    /// As the flag is called: `receive-buffer`.
    pub(crate) name: String,
    /// Where it is in the tree, or the command line's flag.
    pub(crate) key: String,
    /// In turn; where the flag repeats, all at once.
    pub(crate) values: Vec<Value>,
    /// `None` for the keys that only scenarios have.
    pub(crate) flag: Option<Flag>,
}

impl Swept {
    /// Settings that it has.
    pub(crate) fn len(&self) -> usize {
        if self.repeats() { 1 } else { self.values.len() }
    }

    /// Whether it makes a difference between points.
    pub(crate) fn varies(&self) -> bool {
        self.len() > 1
    }

    fn repeats(&self) -> bool {
        self.flag.as_ref().is_some_and(|flag| flag.repeats)
    }

    /// The arguments for its `index`th setting.
    pub(crate) fn arguments(&self, index: usize) -> Vec<String> {
        let Some(flag) = &self.flag else {
            return Vec::new();
        };
        let values =
            if flag.repeats { self.values.as_slice() } else { &self.values[index..=index] };
        values.iter().filter_map(|value| argument(flag, &value.text)).collect()
    }
}

/// `--name=value`; a switch is there or not.
fn argument(flag: &Flag, text: &str) -> Option<String> {
    match flag.sort {
        Sort::Switch => text.eq_ignore_ascii_case("true").then(|| format!("--{}", flag.name)),
        _ => Some(format!("--{}={text}", flag.name)),
    }
}

/// What the keys of a workload are read with.
pub(crate) struct Reader<'a> {
    pub(crate) command: &'a mut Command,
    /// Whether it is `http`, which has keys that are no flags.
    pub(crate) http: bool,
    pub(crate) vocabulary: &'a Vocabulary,
}

impl Reader<'_> {
    /// The names of all keys.
    pub(crate) fn names(&self) -> Vec<String> {
        let own = flags(self.command).into_iter().map(|flag| flag.name);
        let extra = HTTP_KEYS.iter().filter(|_| self.http).map(|(name, _)| (*name).to_owned());
        own.chain(extra).collect()
    }

    /// The keys of `defaults` that the workload does not say itself, then its own, in the file's
    /// order. Their flags take all of the values. The number says how many keys had to be left out.
    pub(crate) fn read(
        &mut self,
        defaults: &[(&str, &Node)],
        own: Option<&Fields<'_>>,
        problems: &mut Problems,
    ) -> (Vec<Swept>, usize) {
        let flags = flags(self.command);
        let mut keys: Vec<(String, String, &Node)> = Vec::new();
        for (name, node) in defaults {
            if own.is_none_or(|own| own.get(name).is_none()) {
                keys.push(((*name).to_owned(), (*name).to_owned(), node));
            }
        }
        for (name, key, node) in own.into_iter().flat_map(Fields::entries) {
            keys.push((name.to_owned(), joined(own.map_or("", |own| &own.path), &key.text), node));
        }
        let count = keys.len();
        let mut out = Vec::new();
        for (name, key, node) in keys {
            let flag = flags.iter().find(|flag| flag.name == name).cloned();
            out.extend(self.key(name, key, node, flag, problems));
        }
        let wrong = count - out.len();
        (out, wrong)
    }

    fn key(
        &mut self,
        name: String,
        key: String,
        node: &Node,
        flag: Option<Flag>,
        problems: &mut Problems,
    ) -> Option<Swept> {
        let notation = flag.as_ref().map_or(name == "response", |flag| flag.sort != Sort::Text);
        // `10k` is a number to people, and a text to whoever draws and compares points.
        let plain =
            flag.as_ref().filter(|flag| flag.sort == Sort::Number).map(|_| values::plainly(node));
        let values = values::read(plain.as_ref().unwrap_or(node), &key, notation, problems)?;
        let mut fine = true;
        for value in &values {
            fine &= match &flag {
                Some(flag) => self.value(flag, value, &key, problems),
                None => check(&name, value, &key, self.vocabulary, problems),
            };
        }
        fine.then_some(Swept { name, key, values, flag })
    }

    /// Whether the flag of this name takes a value.
    pub(crate) fn takes(
        &mut self,
        name: &str,
        value: &Value,
        key: &str,
        problems: &mut Problems,
    ) -> bool {
        let flag = flags(self.command).into_iter().find(|flag| flag.name == name);
        flag.is_none_or(|flag| self.value(&flag, value, key, problems))
    }

    /// A key that something else than the workload sets: the command line, a search.
    pub(crate) fn swept(&self, name: &str, key: String, value: Value) -> Swept {
        let flag = flags(self.command).into_iter().find(|flag| flag.name == name);
        Swept { name: name.to_owned(), key, values: vec![value], flag }
    }

    /// Whether a flag takes a value.
    fn value(&mut self, flag: &Flag, value: &Value, key: &str, problems: &mut Problems) -> bool {
        let expected = match argument(flag, &value.text) {
            _ if flag.sort == Sort::Switch => {
                let known =
                    ["true", "false"].iter().any(|word| value.text.eq_ignore_ascii_case(word));
                (!known).then(|| "true or false".to_owned())
            }
            None => None,
            Some(argument) => match self.command.try_get_matches_from_mut([argument]) {
                Ok(_) => None,
                Err(error) => match &flag.sort {
                    Sort::Word(words) => {
                        problems.unknown(value.at, key, &value.text, words);
                        return false;
                    }
                    _ => Some(flag.expected(&error)),
                },
            },
        };
        match expected {
            Some(expected) => {
                problems.add(value.at, key, quoted(&value.text), expected);
                false
            }
            None => true,
        }
    }
}
