//! An input that cannot be used.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One thing that is wrong with what the user gave, and what to do about it.
///
/// Checks collect problems and report them all; none stops at the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The flag or key, as the user writes it: `--connections`.
    pub at: String,
    /// What was found there.
    pub found: String,
    /// What was expected instead.
    pub expected: String,
}

impl Problem {
    /// A problem at `at`, where `found` stood and `expected` should have.
    pub fn new(
        at: impl Into<String>,
        found: impl fmt::Display,
        expected: impl Into<String>,
    ) -> Self {
        Self { at: at.into(), found: found.to_string(), expected: expected.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found `{}`, expected {}", self.at, self.found, self.expected)
    }
}
