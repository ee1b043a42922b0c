//! A YAML file as a tree that remembers where everything stood.

use hopbench_model::printable::excerpt;

/// A place in the file; both numbers are 0 for what is not in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct At {
    /// From 1.
    pub(crate) line: usize,
    /// From 1, in characters.
    pub(crate) column: usize,
}

/// A value.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) at: At,
    pub(crate) kind: Kind,
    /// Whether a scalar stood in quotes, or as a block: then it is text, whatever it looks like.
    pub(crate) quoted: bool,
}

/// What a value is. Scalars stay text: whoever needs a number parses one.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// Nothing where a value could stand, `~` or `null`.
    Null,
    Scalar(String),
    List(Vec<Node>),
    /// In the file's order; keys may be there twice.
    Map(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) at: At,
    pub(crate) text: String,
}

impl Node {
    /// A value that nobody quoted.
    pub(crate) fn new(at: At, kind: Kind) -> Self {
        Self { at, kind, quoted: false }
    }

    /// A word for what it is, or the text itself, for a message.
    pub(crate) fn shown(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".to_owned(),
            Kind::Scalar(text) => quoted(text),
            Kind::List(values) if values.is_empty() => "an empty list".to_owned(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a mapping".to_owned(),
        }
    }

    /// The text of a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar(text) => Some(text),
            _ => None,
        }
    }
}

/// A text in backticks, short and without control characters: it goes to a terminal.
pub(crate) fn quoted(text: &str) -> String {
    const MOST: usize = 60;
    format!("`{}`", excerpt(text, MOST))
}
