//! The HTTP gate of the port: it gives connections to their trials, or to everybody's target.

mod lobby;

use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use hopbench_load::TargetAcceptor;
use hopbench_load::http::{Credential, Glance, glance};
use hopbench_sys::Socket;

use self::lobby::Lobby;
pub(crate) use self::lobby::Waits;

/// Those who answer HTTP on the port. A connection goes to the trial whose credential its first
/// request shows, or else to who answers everybody. While there is neither, connections are closed
/// without a word; while there are trials only, strangers are told 401.
#[derive(Default)]
pub(crate) struct Gate {
    doors: Arc<Doors>,
    /// Started when the first connection has to wait; `None` where it could not be.
    lobby: OnceLock<Option<Lobby>>,
    waits: Waits,
}

/// Where connections may go.
#[derive(Default)]
struct Doors(Mutex<Open>);

#[derive(Default)]
struct Open {
    next: u64,
    /// In the order in which they came.
    everybody: Vec<(u64, TargetAcceptor)>,
    trials: Vec<(u64, Credential, TargetAcceptor)>,
}

/// Keeps the gate open for one of them; dropping it ends that.
pub(crate) struct Pass {
    doors: Arc<Doors>,
    number: u64,
}

/// What is to be done with a connection.
enum Verdict {
    /// It belongs to them.
    Enter(TargetAcceptor),
    /// Its head is not all there; it was looked for up to here.
    Wait(usize),
    /// It shows no credential, and nobody answers strangers.
    Refuse,
    /// Nobody is there, or it is over.
    Close,
}

/// Heads up to this length are judged where the connection came in; longer ones wait in the lobby.
const USUAL_HEAD_BYTES: usize = 2 * 1024;

impl Gate {
    /// With other times and numbers than usual.
    #[cfg(test)]
    pub(crate) fn waiting(waits: Waits) -> Self {
        Self { waits, ..Self::default() }
    }

    /// New connections that show no trial's credential go to `acceptor`, until somebody opens the
    /// gate after it, and again when that one is gone.
    pub(crate) fn open(&self, acceptor: TargetAcceptor) -> Pass {
        self.pass(|open, number| open.everybody.push((number, acceptor)))
    }

    /// New connections that show this credential go to `acceptor`.
    pub(crate) fn open_to(&self, credential: Credential, acceptor: TargetAcceptor) -> Pass {
        self.pass(|open, number| open.trials.push((number, credential, acceptor)))
    }

    fn pass(&self, enter: impl FnOnce(&mut Open, u64)) -> Pass {
        let mut open = self.doors.lock();
        let number = open.next;
        open.next += 1;
        enter(&mut open, number);
        Pass { doors: Arc::clone(&self.doors), number }
    }

    /// Hands a connection to who answers it; it is closed where nobody does. Only its first bytes
    /// were looked at.
    pub(crate) fn enter(&self, socket: Socket) {
        match self.doors.judge(&socket, &mut [0; USUAL_HEAD_BYTES], 0) {
            Verdict::Enter(acceptor) => acceptor(socket),
            Verdict::Wait(_) => self.lobby(|lobby| lobby.wait(socket)),
            Verdict::Refuse => self.lobby(|lobby| lobby.refuse(socket)),
            Verdict::Close => {}
        }
    }

    fn lobby(&self, send: impl FnOnce(&Lobby)) {
        // Without a thread for it the connection is closed, as where there are too many.
        if let Some(lobby) = self.lobby.get_or_init(|| Lobby::start(Arc::clone(&self.doors), self.waits).ok()) {
            send(lobby);
        }
    }
}

impl Doors {
    /// Looks at a connection's first request, of which `seen` bytes were looked at before; `buffer`
    /// is for a copy of it.
    fn judge(&self, socket: &Socket, buffer: &mut [u8], seen: usize) -> Verdict {
        // Nothing has to be known of it where all are treated alike.
        if let Some(verdict) = self.lock().without_trials() {
            return verdict;
        }
        let bytes = match socket.peek(buffer) {
            Ok(0) => return Verdict::Close,
            Ok(got) => &buffer[..got],
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Verdict::Wait(seen),
            Err(_) => return Verdict::Close,
        };
        match glance(bytes, seen) {
            Glance::More(seen) => Verdict::Wait(seen),
            Glance::Head(shown) => self.lock().of(shown),
            Glance::Wrong => self.lock().of(None),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        // All fields are right after every statement.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn without_trials(&self) -> Option<Verdict> {
        self.trials.is_empty().then(|| self.everybodys().map_or(Verdict::Close, Verdict::Enter))
    }

    /// Whose a connection is that shows this.
    fn of(&self, shown: Option<&[u8]>) -> Verdict {
        let trial = shown.and_then(|shown| self.trials.iter().find(|(_, credential, _)| credential.is(shown)));
        let acceptor = trial.map(|(.., acceptor)| Arc::clone(acceptor)).or_else(|| self.everybodys());
        acceptor.map_or(Verdict::Refuse, Verdict::Enter)
    }

    fn everybodys(&self) -> Option<TargetAcceptor> {
        self.everybody.last().map(|(_, acceptor)| Arc::clone(acceptor))
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut open = self.doors.lock();
        open.everybody.retain(|(number, _)| *number != self.number);
        open.trials.retain(|(number, ..)| *number != self.number);
    }
}

#[cfg(test)]
mod tests;
