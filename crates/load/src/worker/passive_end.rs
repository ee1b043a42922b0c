//! The server's end of a trial in which nothing of ours answers: it only reads meters.

use hopbench_model::{EngineKind, Fault, Job, Nanos};

use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;
use crate::worker::dial::{SocketOptions, Transport};
use crate::worker::workers::{self, Context, Workers, WorkersSetup};

/// An end without workers: it is ready and over at once, and counts nothing.
///
/// # Errors
/// None so far: there is no thread to be had.
pub fn passive_end(context: &Context) -> Result<Workers, Fault> {
    let job = Job { threads: 0, engine: EngineKind::Epoll, ..context.job.clone() };
    let setup = WorkersSetup {
        receive_bytes: 0,
        fill_bytes: 0,
        options: SocketOptions::default(),
        transport: Transport::Tcp,
        watch_sockets: false,
        coalesce_ns: 0,
        grace: 0,
    };
    workers::server(&Context { job, ..context.clone() }, &setup, |_| Nothing)
        .map(|(workers, _)| workers)
}

/// A flow that never comes.
struct Nothing;

impl Flow for Nothing {
    fn start(&mut self, _now: Nanos) -> Op {
        Op::End
    }

    fn on(&mut self, _event: Event<'_>, _now: Nanos, _out: &mut Recorder) -> Op {
        Op::End
    }
}
