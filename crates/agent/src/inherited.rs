//! An agent that a testbed started: its conductor's session was handed to it.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use hopbench_control::conductor::RunKey;
use hopbench_control::{Channel, ChannelError};
use hopbench_model::{Fault, FaultKind};

use crate::limits::Limits;
use crate::port::listening::{Bound, ListenFlags, Listening};
use crate::session::{self, Ended, Over};
use crate::shared::Shared;

/// An agent with one control session, over a Unix socket pair, and at most one port. Client and
/// server: flows that come to the port belong to the runs that are prepared over the session. There
/// is no secret, so the port takes no control sessions; who tries is cut off without a word.
#[derive(Debug)]
pub struct Inherited {
    shared: Arc<Shared>,
    port: Option<Listening>,
}

const FLAGS: ListenFlags = ListenFlags { address: "--listen", port: "--listen" };

impl Inherited {
    /// Binds the port, TCP and UDP, in the network namespace of the calling thread; without an
    /// address there is none, and the agent is a client only. Port 0 takes a free one. An agent of
    /// a run (`run`) does nothing without its permit.
    ///
    /// # Errors
    /// A port in use, an address that this namespace does not have, no right to either: of kind
    /// `Environment`.
    pub fn open(
        listen: Option<SocketAddr>,
        limits: Limits,
        run: Option<RunKey>,
    ) -> Result<Self, Fault> {
        let shared = Shared::of_run(limits, true, run);
        let serve = |listen| {
            Bound::to(listen, FLAGS)?.serve(
                Arc::clone(&shared.flow_router),
                Arc::clone(&shared.http_acceptor),
                None,
            )
        };
        // Whoever started the agent chose the address, not whoever wrote the scenario.
        let port = listen
            .map(serve)
            .transpose()
            .map_err(|fault| Fault { kind: FaultKind::Environment, ..fault })?;
        Ok(Self { shared, port })
    }

    /// The address it listens on.
    pub fn address(&self) -> Option<SocketAddr> {
        self.port.as_ref().map(|port| port.address)
    }

    /// Serves the session to its end; all load ends with it, and the port is closed.
    ///
    /// # Errors
    /// An end that was no goodbye: the other end is gone, broke the protocol, or was silent for 5 s
    /// inside a trial.
    pub fn serve_over(self, stream: UnixStream) -> Result<(), Fault> {
        let ended = Channel::pair(stream)
            .map_err(Ended::from)
            .and_then(|channel| session::serve(channel, &self.shared, Over::Pair, None));
        explain(ended)
    }

    /// [`Inherited::open`] and [`Inherited::serve_over`] in one. Where the port cannot be had, the
    /// session lives until its conductor prepares a trial, for 5 s at most, so that it is told why.
    ///
    /// # Errors
    /// As both of them.
    pub fn serve(
        stream: UnixStream,
        listen: Option<SocketAddr>,
        limits: Limits,
        run: Option<RunKey>,
    ) -> Result<(), Fault> {
        match Self::open(listen, limits, run) {
            Ok(agent) => agent.serve_over(stream),
            Err(fault) => {
                Self::refuse(stream, &fault);
                Err(fault)
            }
        }
    }

    /// Tells the conductor at the other end why there is no agent: the answer to its first
    /// `Prepare`. Waits 5 s for that at most.
    pub fn refuse(stream: UnixStream, fault: &Fault) {
        if let Ok(channel) = Channel::pair(stream) {
            // Whoever is gone needs no reason.
            let _ = session::refuse(channel, fault);
        }
    }
}

fn gone() -> Fault {
    Fault::measuring("the conductor is gone without a goodbye; all load was stopped")
}

fn explain(ended: Result<(), Ended>) -> Result<(), Fault> {
    match ended {
        Ok(()) => Ok(()),
        Err(Ended::Channel(ChannelError::Closed)) => Err(gone()),
        // It died with something unread.
        Err(Ended::Channel(ChannelError::Io(error)))
            if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) =>
        {
            Err(gone())
        }
        Err(ended) => Err(Fault::measuring(format!("the control session ended: {ended}"))),
    }
}
