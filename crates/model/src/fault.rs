//! Failures, sorted by who has to act.

mod problem;

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use problem::Problem;

/// A failure that ends a trial or keeps it from starting; it crosses the wire between agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{text}")]
pub struct Fault {
    /// Who has to act; decides the exit code.
    pub kind: FaultKind,
    /// What happened, with the object it happened to and what to do about it.
    pub text: String,
}

/// The text of an error with its causes, each once: the outer one alone may say next to nothing.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let more = cause.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = cause.source();
    }
    text
}

/// The sorts of failure, as the exit codes tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultKind {
    /// What was asked for makes no sense (exit code 2).
    Input,
    /// This machine, or the way to the other one, cannot do it (exit code 3).
    Environment,
    /// It broke while measuring (exit code 4).
    Measuring,
}

impl Fault {
    /// What was asked for makes no sense.
    pub fn input(text: impl fmt::Display) -> Self {
        Self { kind: FaultKind::Input, text: text.to_string() }
    }

    /// The environment cannot do it.
    pub fn environment(text: impl fmt::Display) -> Self {
        Self { kind: FaultKind::Environment, text: text.to_string() }
    }

    /// It broke while measuring.
    pub fn measuring(text: impl fmt::Display) -> Self {
        Self { kind: FaultKind::Measuring, text: text.to_string() }
    }

    /// All problems in one message, a line each.
    pub fn from_problems(problems: &[Problem]) -> Self {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Self::input(lines.join("\n"))
    }
}
