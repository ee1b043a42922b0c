//! The workers of both ends over HTTP.

use std::sync::Arc;

use hopbench_model::{Fault, Nanos, SECOND};

use super::agree::agree;
use super::client::{Client, ClientPlan};
use super::multiplexed::{Multiplexed, MultiplexedPlan, RECEIVE_BYTES};
use super::streams::MOST_STREAMS;
use crate::flow::either::Either;
use crate::target;
use crate::worker::accepted::Acceptor;
use crate::worker::dial::{SocketOptions, Transport, reach};
use crate::worker::secured::{self, Layer, TlsClient, TlsClients};
use crate::worker::workers::{self, Context, Workers, WorkersSetup};

/// The setting of a server's report that says that its agent answered the requests.
pub(super) const TARGET: &str = "http_target";
/// What exchanges may take beyond their timeout at the end, so that the last ones still see it.
const GRACE_NS: Nanos = SECOND / 10;

/// What connections speak.
pub(in crate::workloads) enum Spoken {
    /// HTTP/1.1.
    Single(Arc<ClientPlan>),
    /// HTTP/2.
    Multiplexed(Arc<MultiplexedPlan>),
}

impl Spoken {
    fn timeout_ns(&self) -> Nanos {
        match self {
            Self::Single(plan) => plan.timeout_ns,
            Self::Multiplexed(plan) => plan.timeout_ns,
        }
    }

    fn receive_timestamps(&self) -> bool {
        match self {
            Self::Single(plan) => plan.timestamps.is_some(),
            Self::Multiplexed(_) => false,
        }
    }

    fn keep_alive(&self) -> bool {
        match self {
            Self::Single(plan) => plan.keep_alive,
            Self::Multiplexed(_) => true,
        }
    }
}

/// The client's workers. The target is looked at ahead: what does not speak as it should must be
/// known before anything is measured.
///
/// # Errors
/// What keeps them from starting.
pub(in crate::workloads) fn client(
    context: &Context,
    tls: Option<&TlsClient>,
    spoken: Spoken,
) -> Result<Workers, Fault> {
    let (job, timeout_ns) = (&context.job, spoken.timeout_ns());
    let (target, notes) = (context.target, &context.sockets);
    match (tls, &spoken) {
        (Some(tls), _) => secured::reach(target, tls, timeout_ns, notes)?,
        (None, Spoken::Multiplexed(plan)) => agree(target, &plan.connection, timeout_ns, notes)?,
        (None, Spoken::Single(_)) => reach(target, timeout_ns, notes)?,
    }
    let tls = TlsClients::of(tls, job);
    let receive_timestamps = spoken.receive_timestamps();
    if receive_timestamps {
        notes.note_setting("receive_time", || "kernel".to_owned());
    }
    let setup = WorkersSetup {
        receive_bytes: RECEIVE_BYTES.max(secured::RECEIVE_BYTES),
        fill_bytes: 0,
        options: SocketOptions { receive_timestamps, ..SocketOptions::default() },
        transport: Transport::Tcp,
        watch_sockets: spoken.keep_alive(),
        coalesce_ns: 0,
        grace: timeout_ns.saturating_add(GRACE_NS),
    };
    workers::client(context, &setup, move |flow| {
        let connection = match &spoken {
            Spoken::Multiplexed(plan) => {
                Either::Second(Box::new(Multiplexed::new(Arc::clone(plan))))
            }
            Spoken::Single(plan) => Either::First(Client::new(Arc::clone(plan))),
        };
        Layer::client(tls.of_flow(flow), connection)
    })
}

/// The HTTP target of an agent. A client measures any URL; this one is only where the trial's
/// server is the agent itself. Bodies of requests are at most so long, bytes. A connection of the
/// client has so many streams; a proxy may put those of all of them into one.
///
/// # Errors
/// What keeps it from starting.
pub(in crate::workloads) fn server(
    context: &Context,
    keep_alive: bool,
    most_body_bytes: u64,
    streams: u32,
) -> Result<(Workers, Acceptor), Fault> {
    context.sockets.note_setting(TARGET, || "answers".to_owned());
    let all = streams.saturating_mul(context.job.connections);
    target::workers(context, keep_alive, most_body_bytes, all.min(MOST_STREAMS).max(streams))
}
