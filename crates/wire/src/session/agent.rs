//! The agent's end of a control session.

use super::error::{Build, SessionError, check};
use super::owed::{Owed, ask, settle};
use super::{Heed, from_agent_name, to_agent_name};
use crate::message::{FromAgent, ToAgent};

/// The state of the agent, as far as the session is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AgentState {
    /// The TLS handshake is done; nothing was said.
    AwaitHello,
    /// The conductor speaks this protocol; the agent's hello is due.
    Answering,
    /// The conductor speaks another protocol; the agent's hello is due, so that it learns why.
    Refusing,
    /// No trial.
    Idle,
    /// Flows are being set up.
    Preparing,
    /// Every flow is up.
    Ready,
    /// Load runs.
    Running,
    /// The conductor wants the report now.
    Finishing,
    /// The conductor wants no report; `Failed` is due once everything has stopped.
    Aborting,
    /// Nothing more is said.
    Closed,
}

impl AgentState {
    /// The state in words, for "while the agent was ...".
    pub fn name(self) -> &'static str {
        match self {
            Self::AwaitHello => "waiting for a hello",
            Self::Answering => "answering a hello",
            Self::Refusing => "refusing a hello",
            Self::Idle => "idle",
            Self::Preparing => "preparing",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Finishing => "finishing",
            Self::Aborting => "aborting",
            Self::Closed => "closed",
        }
    }

    /// Whether there is a trial that `Done` or `Failed` has to end.
    pub fn in_trial(self) -> bool {
        matches!(
            self,
            Self::Preparing | Self::Ready | Self::Running | Self::Finishing | Self::Aborting
        )
    }
}

/// Follows a control session from the agent's side.
#[derive(Debug, Clone)]
pub struct AgentSession {
    ours: Build,
    state: AgentState,
    /// Whether a trial ended here, so that messages for it may still come.
    ended: bool,
    owed: Owed,
}

impl AgentSession {
    /// The session right after the TLS handshake; `ours` is what the agent's hello will say.
    pub fn new(ours: Build) -> Self {
        Self { ours, state: AgentState::AwaitHello, ended: false, owed: Owed::default() }
    }

    /// Where the session stands.
    pub fn state(&self) -> AgentState {
        self.state
    }

    /// Takes note of a message from the conductor.
    ///
    /// # Errors
    /// When the message is not legal now: the session is closed. When the conductor speaks another
    /// protocol: the agent's hello can still be sent, and nothing else.
    pub fn receive(&mut self, message: &ToAgent) -> Result<Heed, SessionError> {
        use AgentState as S;
        let next = match (self.state, message) {
            (S::AwaitHello, ToAgent::Hello(theirs)) => {
                let verdict = check(&self.ours, theirs);
                self.state = if verdict.is_ok() { S::Answering } else { S::Refusing };
                return verdict.map(|()| Heed::Act);
            }
            (S::AwaitHello | S::Answering | S::Refusing | S::Closed, _)
            | (_, ToAgent::Hello(_)) => {
                return Err(self.illegal(message));
            }
            (state, ToAgent::Clock) => {
                ask(&mut self.owed.clocks);
                state
            }
            (state, ToAgent::Ping) => {
                ask(&mut self.owed.pongs);
                state
            }
            (_, ToAgent::Bye) => S::Closed,
            (S::Idle, ToAgent::Abort) => return Ok(Heed::Ignore),
            (S::Idle, ToAgent::Start { .. } | ToAgent::AllSent { .. } | ToAgent::Finish)
                if self.ended =>
            {
                return Ok(Heed::Ignore);
            }
            (S::Idle, ToAgent::Prepare(_) | ToAgent::Revisit { .. }) => S::Preparing,
            (S::Ready, ToAgent::Start { .. }) => S::Running,
            (S::Running, ToAgent::AllSent { .. }) => S::Running,
            (S::Preparing | S::Ready | S::Running, ToAgent::Finish) => S::Finishing,
            (S::Preparing | S::Ready | S::Running | S::Finishing, ToAgent::Abort) => S::Aborting,
            _ => return Err(self.illegal(message)),
        };
        self.state = next;
        Ok(Heed::Act)
    }

    /// Takes note of a message that the agent is about to send.
    ///
    /// # Errors
    /// When the message is not legal now: it must not be sent, and the session stays as it is.
    pub fn send(&mut self, message: &FromAgent) -> Result<(), SessionError> {
        use AgentState as S;
        let legal = match (self.state, message) {
            (S::Answering, FromAgent::Hello(_)) => self.enter(S::Idle),
            (S::Refusing, FromAgent::Hello(_)) => self.enter(S::Closed),
            (S::AwaitHello | S::Answering | S::Refusing | S::Closed, _) => false,
            (_, FromAgent::Clock { .. }) => settle(&mut self.owed.clocks),
            (_, FromAgent::Pong) => settle(&mut self.owed.pongs),
            (S::Preparing, FromAgent::Ready { .. }) => self.enter(S::Ready),
            (S::Running | S::Finishing, FromAgent::Progress(_)) => true,
            (S::Running | S::Finishing, FromAgent::Done(_)) => self.end_trial(),
            (state, FromAgent::Failed { .. }) if state.in_trial() => self.end_trial(),
            _ => false,
        };
        if legal {
            return Ok(());
        }
        Err(SessionError::Sent {
            here: "agent",
            state: self.state.name(),
            message: from_agent_name(message),
        })
    }

    fn enter(&mut self, state: AgentState) -> bool {
        self.state = state;
        true
    }

    fn end_trial(&mut self) -> bool {
        self.ended = true;
        self.enter(AgentState::Idle)
    }

    fn illegal(&mut self, message: &ToAgent) -> SessionError {
        let state = std::mem::replace(&mut self.state, AgentState::Closed);
        SessionError::Received {
            from: "conductor",
            here: "agent",
            state: state.name(),
            message: to_agent_name(message),
        }
    }
}
