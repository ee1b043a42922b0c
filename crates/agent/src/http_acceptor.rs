//! The HTTP acceptor of the port: it gives connections to their trials, or to everybody's target.

mod pending_heads;
pub(crate) mod routes;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use hopbench_load::http::Credential;
use hopbench_load::{Encryption, TargetAcceptor};
use hopbench_sys::Socket;

use self::pending_heads::{PendingHeads, PendingLimits};
use self::routes::{Destination, RouteGuard, Routes};

/// Those who answer HTTP on the port. A connection goes to the trial whose credential its first
/// request shows, or else to who answers everybody. While there is neither, connections are closed
/// without a word; while there are trials only, strangers are told 401.
#[derive(Default)]
pub(crate) struct HttpAcceptor {
    routes: Arc<Routes>,
    /// Started when the first connection has to wait; `None` where it could not be.
    pending_heads: OnceLock<Option<PendingHeads>>,
    pending_limits: PendingLimits,
}

/// Heads up to this length are judged where the connection came in; longer ones wait in a thread of
/// their own.
const USUAL_HEAD_BYTES: usize = 2 * 1024;

impl HttpAcceptor {
    /// With other times and numbers than usual.
    #[cfg(test)]
    pub(crate) fn waiting(pending_limits: PendingLimits) -> Self {
        Self { pending_limits, ..Self::default() }
    }

    /// New connections that show no trial's credential go to `acceptor`, until another such route
    /// is added, and again when that one is gone.
    pub(crate) fn open(&self, acceptor: TargetAcceptor) -> RouteGuard {
        self.routes.add_for_everybody(acceptor)
    }

    /// New connections that show this credential go to `acceptor`.
    pub(crate) fn open_to(&self, credential: Credential, acceptor: TargetAcceptor) -> RouteGuard {
        self.routes.add_for_trial(credential, acceptor)
    }

    /// Hands a connection to who answers it; it is closed where nobody does. Only its first bytes
    /// were looked at.
    pub(crate) fn enter(&self, socket: Socket) {
        match self.routes.judge(&socket, &mut [0; USUAL_HEAD_BYTES], 0) {
            Destination::To(acceptor) => acceptor(socket, Encryption::None),
            Destination::Wait(_) => self.with_pending(|pending| pending.wait(socket)),
            Destination::Refuse => self.with_pending(|pending| pending.refuse(socket)),
            Destination::Close => {}
        }
    }

    /// The same for a connection that begins with a handshake of TLS, of which the first record is
    /// there. Strangers that nobody answers are told nothing.
    pub(crate) fn enter_encrypted(&self, socket: Socket) {
        if let Some(acceptor) = self.routes.of_handshake(&socket) {
            acceptor(socket, Encryption::Tls);
        }
    }

    fn with_pending(&self, send: impl FnOnce(&PendingHeads)) {
        let start = || PendingHeads::start(Arc::clone(&self.routes), self.pending_limits).ok();
        // Without a thread for it the connection is closed, as where there are too many.
        if let Some(pending) = self.pending_heads.get_or_init(start) {
            send(pending);
        }
    }
}
