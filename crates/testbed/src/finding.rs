//! The result of a check of what a testbed can do.

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether it works.
    pub state: State,
    /// The finding, in words.
    pub found: String,
    /// The remedy. It is empty if none is needed.
    pub remedy: String,
}

/// Whether something works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It does.
    Works,
    /// It does, with a limit that a measurement may meet.
    Limited,
    /// It does not.
    Missing,
}

impl State {
    /// The word in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Limited => "limited",
            Self::Missing => "missing",
        }
    }
}

impl Finding {
    /// It works; what was found.
    pub fn works(found: impl Into<String>) -> Self {
        Self { state: State::Works, found: found.into(), remedy: String::new() }
    }

    /// It works within limits; what was found, and what to do about it.
    pub fn limited(found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state: State::Limited, found: found.into(), remedy: remedy.into() }
    }

    /// It does not work; what was found, and what to do about it.
    pub fn missing(found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state: State::Missing, found: found.into(), remedy: remedy.into() }
    }
}
