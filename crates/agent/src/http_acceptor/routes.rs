//! The routes of HTTP connections: by the credential that the first request shows, or everybody's.

use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hopbench_load::TargetAcceptor;
use hopbench_load::http::{Credential, Glance, glance};
use hopbench_sys::Socket;
use hopbench_wire::ClientHello;

/// The longest record that is not encrypted, with its header, bytes.
const MOST_RECORD_BYTES: usize = 5 + (1 << 14);

/// The routes of all connections.
#[derive(Default)]
pub(super) struct Routes(Mutex<RouteTable>);

#[derive(Default)]
struct RouteTable {
    next: u64,
    /// In the order in which they came.
    everybody: Vec<(u64, TargetAcceptor)>,
    trials: Vec<(u64, Credential, TargetAcceptor)>,
}

/// Keeps one route; dropping it ends that.
pub(crate) struct RouteGuard {
    routes: Arc<Routes>,
    number: u64,
}

/// The destination of a connection.
pub(super) enum Destination {
    /// It belongs to them.
    To(TargetAcceptor),
    /// Its head is not all there; it was looked for up to here.
    Wait(usize),
    /// It shows no credential, and nobody answers strangers.
    Refuse,
    /// Nobody is there, or it is over.
    Close,
}

impl Routes {
    pub(super) fn add_for_everybody(self: &Arc<Self>, acceptor: TargetAcceptor) -> RouteGuard {
        self.add(|table, number| table.everybody.push((number, acceptor)))
    }

    pub(super) fn add_for_trial(
        self: &Arc<Self>,
        credential: Credential,
        acceptor: TargetAcceptor,
    ) -> RouteGuard {
        self.add(|table, number| table.trials.push((number, credential, acceptor)))
    }

    fn add(self: &Arc<Self>, enter: impl FnOnce(&mut RouteTable, u64)) -> RouteGuard {
        let mut table = self.lock();
        let number = table.next;
        table.next += 1;
        enter(&mut table, number);
        RouteGuard { routes: Arc::clone(self), number }
    }

    /// Looks at a connection's first request, of which `seen` bytes were looked at before; `buffer`
    /// is for a copy of it.
    pub(super) fn judge(&self, socket: &Socket, buffer: &mut [u8], seen: usize) -> Destination {
        // Nothing has to be known of it where all are treated alike.
        if let Some(destination) = self.lock().without_trials() {
            return destination;
        }
        let bytes = match socket.peek(buffer) {
            Ok(0) => return Destination::Close,
            Ok(got) => &buffer[..got],
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Destination::Wait(seen),
            Err(_) => return Destination::Close,
        };
        match glance(bytes, seen) {
            Glance::More(seen) => Destination::Wait(seen),
            // A stranger is let in at once. Where nobody answers strangers, the first request is
            // waited for.
            Glance::Begun(seen) => {
                let strangers = self.lock().everybodys();
                strangers.map_or(Destination::Wait(seen), Destination::To)
            }
            Glance::Head(shown) => self.lock().of(shown.as_deref()),
            Glance::Wrong => self.lock().of(None),
        }
    }

    /// Who takes a connection that begins with a handshake of TLS: by the credential among the
    /// protocols that it offers.
    pub(super) fn of_handshake(&self, socket: &Socket) -> Option<TargetAcceptor> {
        let mut record = [0; MOST_RECORD_BYTES];
        let got = socket.peek(&mut record).ok()?;
        let hello = ClientHello::read(&record[..got])?;
        let shown = hello.protocols().find_map(Credential::of_protocol);
        match self.lock().of(shown) {
            Destination::To(acceptor) => Some(acceptor),
            _ => None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, RouteTable> {
        // All fields are right after every statement.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RouteTable {
    fn without_trials(&self) -> Option<Destination> {
        if !self.trials.is_empty() {
            return None;
        }
        Some(self.everybodys().map_or(Destination::Close, Destination::To))
    }

    /// The destination of a connection that shows this credential.
    fn of(&self, shown: Option<&[u8]>) -> Destination {
        let trial = shown
            .and_then(|shown| self.trials.iter().find(|(_, credential, _)| credential.is(shown)));
        let acceptor =
            trial.map(|(.., acceptor)| Arc::clone(acceptor)).or_else(|| self.everybodys());
        acceptor.map_or(Destination::Refuse, Destination::To)
    }

    fn everybodys(&self) -> Option<TargetAcceptor> {
        self.everybody.last().map(|(_, acceptor)| Arc::clone(acceptor))
    }
}

impl Drop for RouteGuard {
    fn drop(&mut self) {
        let mut table = self.routes.lock();
        table.everybody.retain(|(number, _)| *number != self.number);
        table.trials.retain(|(number, ..)| *number != self.number);
    }
}
