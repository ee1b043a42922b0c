//! The conductor's end of a control session.

use super::error::{Build, SessionError, check};
use super::owed::{Owed, ask, settle};
use super::{Heed, from_agent_name, to_agent_name};
use crate::message::{FromAgent, ToAgent};

/// What the conductor expects of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConductorState {
    /// The TLS handshake is done; the conductor's hello is due.
    New,
    /// The agent's hello is due.
    AwaitHello,
    /// No trial.
    Idle,
    /// `Prepare` was sent.
    Preparing,
    /// The agent is ready.
    Ready,
    /// `Start` was sent.
    Running,
    /// `Finish` was sent.
    Finishing,
    /// `Abort` was sent; the end of the trial is awaited, and what comes before is ignored.
    Aborting,
    /// Nothing more is said.
    Closed,
}

impl ConductorState {
    /// The state in words, for "while the conductor was ...".
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "about to say hello",
            Self::AwaitHello => "waiting for a hello",
            Self::Idle => "idle",
            Self::Preparing => "preparing",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Finishing => "finishing",
            Self::Aborting => "aborting",
            Self::Closed => "closed",
        }
    }

    /// Whether there is a trial that `Done` or `Failed` has yet to end.
    pub fn in_trial(self) -> bool {
        matches!(
            self,
            Self::Preparing | Self::Ready | Self::Running | Self::Finishing | Self::Aborting
        )
    }
}

/// Follows a control session from the conductor's side.
#[derive(Debug, Clone)]
pub struct ConductorSession {
    ours: Build,
    state: ConductorState,
    owed: Owed,
}

impl ConductorSession {
    /// The session right after the TLS handshake; `ours` is what the conductor's hello will say.
    pub fn new(ours: Build) -> Self {
        Self { ours, state: ConductorState::New, owed: Owed::default() }
    }

    /// Where the session stands.
    pub fn state(&self) -> ConductorState {
        self.state
    }

    /// Takes note of a message that the conductor is about to send.
    ///
    /// # Errors
    /// When the message is not legal now: it must not be sent, and the session stays as it is.
    pub fn send(&mut self, message: &ToAgent) -> Result<(), SessionError> {
        use ConductorState as S;
        let next = match (self.state, message) {
            (S::New, ToAgent::Hello(_)) => Some(S::AwaitHello),
            (S::New | S::AwaitHello | S::Closed, _) => None,
            (state, ToAgent::Clock) => {
                ask(&mut self.owed.clocks);
                Some(state)
            }
            (state, ToAgent::Ping) => {
                ask(&mut self.owed.pongs);
                Some(state)
            }
            (_, ToAgent::Bye) => Some(S::Closed),
            (S::Idle, ToAgent::Prepare(_) | ToAgent::Revisit { .. }) => Some(S::Preparing),
            (S::Ready, ToAgent::Start { .. }) => Some(S::Running),
            (S::Running, ToAgent::AllSent { .. }) => Some(S::Running),
            (S::Preparing | S::Ready | S::Running, ToAgent::Finish) => Some(S::Finishing),
            (S::Idle, ToAgent::Abort) => Some(S::Idle),
            (S::Preparing | S::Ready | S::Running | S::Finishing, ToAgent::Abort) => {
                Some(S::Aborting)
            }
            _ => None,
        };
        let Some(next) = next else {
            return Err(SessionError::Sent {
                here: "conductor",
                state: self.state.name(),
                message: to_agent_name(message),
            });
        };
        self.state = next;
        Ok(())
    }

    /// Takes note of a message from the agent.
    ///
    /// # Errors
    /// When the message is not legal now, or the agent speaks another protocol: the session is
    /// closed.
    pub fn receive(&mut self, message: &FromAgent) -> Result<Heed, SessionError> {
        use ConductorState as S;
        let next = match (self.state, message) {
            (S::AwaitHello, FromAgent::Hello(theirs)) => {
                let verdict = check(&self.ours, theirs);
                self.state = if verdict.is_ok() { S::Idle } else { S::Closed };
                return verdict.map(|()| Heed::Act);
            }
            (S::New | S::AwaitHello | S::Closed, _) => return Err(self.illegal(message)),
            (state, FromAgent::Clock { .. }) if settle(&mut self.owed.clocks) => state,
            (state, FromAgent::Pong) if settle(&mut self.owed.pongs) => state,
            (S::Preparing, FromAgent::Ready { .. }) => S::Ready,
            (S::Running, FromAgent::Progress(_)) => S::Running,
            (S::Finishing, FromAgent::Progress(_)) => S::Finishing,
            // The agent became ready before it heard that there is nothing to start.
            (S::Finishing, FromAgent::Ready { .. }) => return Ok(Heed::Ignore),
            (S::Aborting, FromAgent::Ready { .. } | FromAgent::Progress(_)) => {
                return Ok(Heed::Ignore);
            }
            (S::Running | S::Finishing, FromAgent::Done(_)) => S::Idle,
            (S::Aborting, FromAgent::Done(_) | FromAgent::Failed { .. }) => {
                self.state = S::Idle;
                return Ok(Heed::Ignore);
            }
            (state, FromAgent::Failed { .. }) if state.in_trial() => S::Idle,
            _ => return Err(self.illegal(message)),
        };
        self.state = next;
        Ok(Heed::Act)
    }

    fn illegal(&mut self, message: &FromAgent) -> SessionError {
        let state = std::mem::replace(&mut self.state, ConductorState::Closed);
        SessionError::Received {
            from: "agent",
            here: "conductor",
            state: state.name(),
            message: from_agent_name(message),
        }
    }
}
