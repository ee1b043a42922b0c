//! The state machines of a control session: which message is legal when, at both ends.
//!
//! The crate's page draws the states. A session is told of every message before it is sent
//! (`send`) and when it arrives (`receive`); it holds no bytes and no time.

mod agent;
mod conductor;
mod error;
mod owed;

pub use agent::{AgentSession, AgentState};
pub use conductor::{ConductorSession, ConductorState};
pub use error::{Build, SessionError};

use crate::message::{FromAgent, ToAgent};

/// What to do with a message that is legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heed {
    /// What it says.
    Act,
    /// Nothing: it was sent before the other end knew that the trial is over or aborted.
    Ignore,
}

/// The message's name in errors.
fn to_agent_name(message: &ToAgent) -> &'static str {
    match message {
        ToAgent::Hello(_) => "hello",
        ToAgent::Clock => "clock",
        ToAgent::Prepare(_) => "prepare",
        ToAgent::Revisit { .. } => "revisit",
        ToAgent::Start { .. } => "start",
        ToAgent::AllSent { .. } => "all_sent",
        ToAgent::Finish => "finish",
        ToAgent::Abort => "abort",
        ToAgent::Ping => "ping",
        ToAgent::Bye => "bye",
    }
}

/// The message's name in errors.
fn from_agent_name(message: &FromAgent) -> &'static str {
    match message {
        FromAgent::Hello(_) => "hello",
        FromAgent::Clock { .. } => "clock",
        FromAgent::Ready { .. } => "ready",
        FromAgent::Progress(_) => "progress",
        FromAgent::Done(_) => "done",
        FromAgent::Failed { .. } => "failed",
        FromAgent::Pong => "pong",
    }
}

#[cfg(test)]
mod tests;
