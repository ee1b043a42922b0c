//! The slot of a ring: its socket, buffers and state.

use std::sync::Arc;

use crate::Socket;

/// One slot of a ring.
#[derive(Default)]
pub(super) struct Slot {
    pub kept: Kept,
    pub state: State,
    /// Counts the slot's operations, so that a completion that comes late is not taken for
    /// another's.
    pub serial: u32,
}

/// What an operation uses and what must therefore outlive it. Buffers are `Vec`s: their bytes stay
/// where they are when the slot moves.
#[derive(Default)]
pub(super) struct Kept {
    pub socket: Option<Arc<Socket>>,
    pub receive: Vec<u8>,
    pub send: Vec<u8>,
}

/// How far a slot's operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum State {
    /// There is none; the buffers are the ring's.
    #[default]
    Rest,
    /// The kernel may use the buffers.
    UnderWay,
    /// The buffers are the ring's again; the result was not taken yet.
    Done(i32),
}

impl Slot {
    /// The number of its operation: `user_data` of the submission and the completion.
    pub(super) fn number(&self, index: usize) -> u64 {
        // A slot index has 32 bits at most: a file descriptor does not have more.
        u64::from(self.serial) << 32 | index as u64
    }

    /// Gives away everything that its operation uses, and starts anew with the same socket.
    pub(super) fn abandon(&mut self) -> Kept {
        let fresh = Kept { socket: self.kept.socket.clone(), ..Kept::default() };
        self.state = State::Rest;
        std::mem::replace(&mut self.kept, fresh)
    }
}
