//! The errors that end a control session.

use crate::message::{Hello, PROTOCOL};

/// Which build an end is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("protocol {protocol} (version {version}, commit {commit})")]
pub struct Build {
    /// The protocol it speaks.
    pub protocol: u32,
    /// Its package version.
    pub version: String,
    /// The commit it was built from.
    pub commit: String,
}

/// Why a control session cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// The other end sent what it must not send now.
    #[error("the {from} sent `{message}` while the {here} was {state}")]
    Received {
        /// The end that sent it.
        from: &'static str,
        /// The end that got it.
        here: &'static str,
        /// The state of the end that got it.
        state: &'static str,
        /// The message's name.
        message: &'static str,
    },
    /// This end was about to send what it must not send now: a defect of this program.
    #[error("the {here} cannot send `{message}` while it is {state}")]
    Sent {
        /// This end.
        here: &'static str,
        /// Its state.
        state: &'static str,
        /// The message's name.
        message: &'static str,
    },
    /// The two ends speak different protocols.
    #[error("this end speaks {ours}, the other end {theirs}; run the same build at both ends")]
    Mismatch {
        /// This end.
        ours: Box<Build>,
        /// The other end.
        theirs: Box<Build>,
    },
}

/// Refuses another protocol than that of this end's hello.
///
/// What `Hello` says of protocol, version and commit can be read by every version of this program,
/// so that the error can always name both.
pub(super) fn check(ours: &Build, theirs: &Hello) -> Result<(), SessionError> {
    if theirs.protocol == ours.protocol {
        return Ok(());
    }
    Err(SessionError::Mismatch {
        ours: Box::new(ours.clone()),
        theirs: Box::new(Build::of(theirs)),
    })
}

impl Build {
    /// This build: it speaks [`PROTOCOL`].
    pub fn this(version: impl Into<String>, commit: impl Into<String>) -> Self {
        Self { protocol: PROTOCOL, version: version.into(), commit: commit.into() }
    }

    /// The build that a hello tells of.
    pub fn of(hello: &Hello) -> Self {
        Self {
            protocol: hello.protocol,
            version: hello.version.clone(),
            commit: hello.commit.clone(),
        }
    }
}
