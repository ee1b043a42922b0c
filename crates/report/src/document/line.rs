//! A line of text: its runs, and how each is to be taken.

use hopbench_model::printable::is_of_file_name;

/// A line of text.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// Its runs, without blanks between them.
    pub(crate) runs: Vec<(Tone, String)>,
}

/// How a text is to be taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it stands.
    #[default]
    Plain,
    /// The name of what follows.
    Name,
    /// Of weight.
    Strong,
    /// Beside what matters.
    Quiet,
    /// A gain.
    Better,
    /// A loss.
    Worse,
    /// Neither.
    Same,
    /// Not to be relied on.
    Doubt,
    /// What others are compared with.
    Base,
    /// The name of a file beside the page, from its folder on.
    Link,
}

impl Line {
    /// A text behind its name.
    pub(crate) fn named(name: &str, text: impl Into<String>) -> Self {
        Self::default().with(Tone::Name, name).with(Tone::Plain, text)
    }

    /// The name of a file beside the page, if it is one that a page may lead to: a plain path
    /// downwards.
    pub(crate) fn link(text: &str) -> Option<&str> {
        let is_part = |part: &str| {
            !part.is_empty() && !part.starts_with('.') && part.chars().all(is_of_file_name)
        };
        text.split('/').all(is_part).then_some(text)
    }

    /// With one more run.
    pub(crate) fn with(mut self, tone: Tone, text: impl Into<String>) -> Self {
        self.runs.push((tone, text.into()));
        self
    }
}

impl<T: Into<String>> From<T> for Line {
    fn from(text: T) -> Self {
        Self::default().with(Tone::Plain, text)
    }
}
