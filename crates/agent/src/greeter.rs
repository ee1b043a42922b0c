//! The flows' greetings, in the bytes of the protocol.

use hopbench_load::workload::Workload;
use hopbench_load::{Greeted, Greeter};
use hopbench_model::Job;
use hopbench_wire::udp::{self, Answer, NO_COOKIE};
use hopbench_wire::{Direction, FLOW_ACCEPTED, FlowHeader, FlowKey, FlowKind, WorkloadCode};

/// Greets for the flows of one run.
pub(crate) struct RunGreeter {
    pub(crate) run: u32,
    pub(crate) key: FlowKey,
    pub(crate) code: WorkloadCode,
    pub(crate) workload: &'static dyn Workload,
    pub(crate) job: Job,
}

impl RunGreeter {
    fn header(&self, flow: u32, kind: FlowKind) -> FlowHeader {
        FlowHeader {
            workload: self.code,
            direction: direction(self.workload, &self.job, flow),
            kind,
            run: self.run,
            flow,
        }
    }
}

/// Which way the bytes of a flow go.
pub(crate) fn direction(workload: &dyn Workload, job: &Job, flow: u32) -> Direction {
    if workload.server_sends(job, flow) { Direction::FromServer } else { Direction::ToServer }
}

impl Greeter for RunGreeter {
    fn tcp(&self, flow: u32) -> [u8; 32] {
        self.header(flow, FlowKind::Tcp).encode(&self.key)
    }

    fn udp(&self, flow: u32, cookie: Option<[u8; 16]>) -> [u8; 64] {
        udp::register(&self.header(flow, FlowKind::Udp), &self.key, &cookie.unwrap_or(NO_COOKIE))
    }

    fn read(&self, flow: u32, answer: &[u8]) -> Greeted {
        if answer == FLOW_ACCEPTED {
            return Greeted::Accepted;
        }
        match Answer::parse(answer) {
            Some(Answer::Accepted { run, flow: f }) if run == self.run && f == flow => Greeted::Accepted,
            Some(Answer::Challenge { run, flow: f, cookie }) if run == self.run && f == flow => {
                Greeted::Challenge(cookie)
            }
            _ => Greeted::Unknown,
        }
    }
}
