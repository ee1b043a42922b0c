//! The handshakes of a run's flows, in the bytes of the protocol.

use hopbench_load::workload::Workload;
use hopbench_load::{HandshakeAnswer, HandshakeCodec};
use hopbench_model::Job;
use hopbench_wire::udp::{self, NO_COOKIE, ServerReply};
use hopbench_wire::{Direction, FLOW_ACCEPTED, FlowHeader, FlowKey, FlowKind, WorkloadCode};

/// The handshakes of one run.
pub(crate) struct RunHandshake {
    pub(crate) run: u32,
    pub(crate) key: FlowKey,
    pub(crate) code: WorkloadCode,
    pub(crate) workload: &'static dyn Workload,
    pub(crate) job: Job,
    /// Number of this client's first flow in the run.
    pub(crate) first_flow: u32,
    /// Connections of all clients of the run; 0: those of the job.
    pub(crate) all_connections: u32,
}

impl RunHandshake {
    /// The number in the run of what is flow `flow` here. A connection's successors (`crr`) come a
    /// round of all clients' connections later, so that no two clients ever give the same number.
    pub(crate) fn in_run(&self, flow: u32) -> u32 {
        let ours = self.job.connections.max(1);
        let all = if self.all_connections == 0 { ours } else { self.all_connections };
        (flow / ours).wrapping_mul(all).wrapping_add(self.first_flow).wrapping_add(flow % ours)
    }

    fn header(&self, flow: u32, kind: FlowKind) -> FlowHeader {
        FlowHeader {
            workload: self.code,
            direction: direction(self.workload, &self.job, flow),
            kind,
            run: self.run,
            flow: self.in_run(flow),
        }
    }
}

/// The direction of a flow's bytes.
pub(crate) fn direction(workload: &dyn Workload, job: &Job, flow: u32) -> Direction {
    if workload.server_sends(job, flow) { Direction::FromServer } else { Direction::ToServer }
}

impl HandshakeCodec for RunHandshake {
    fn tcp(&self, flow: u32) -> [u8; 32] {
        self.header(flow, FlowKind::Tcp).encode(&self.key)
    }

    fn udp(&self, flow: u32, cookie: Option<[u8; 16]>) -> [u8; 64] {
        udp::register(&self.header(flow, FlowKind::Udp), &self.key, &cookie.unwrap_or(NO_COOKIE))
    }

    fn read(&self, flow: u32, answer: &[u8]) -> HandshakeAnswer {
        if answer == FLOW_ACCEPTED {
            return HandshakeAnswer::Accepted;
        }
        let flow = self.in_run(flow);
        match ServerReply::parse(answer) {
            Some(ServerReply::Accepted { run, flow: f }) if run == self.run && f == flow => {
                HandshakeAnswer::Accepted
            }
            Some(ServerReply::Challenge { run, flow: f, cookie })
                if run == self.run && f == flow =>
            {
                HandshakeAnswer::Challenge(cookie)
            }
            _ => HandshakeAnswer::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hopbench_model::fixture;

    use super::*;

    fn handshake(client: u32, connections: u32, clients: u32) -> RunHandshake {
        RunHandshake {
            run: 1,
            key: FlowKey::new([1; 32]),
            code: WorkloadCode::from_code(4).unwrap(),
            workload: hopbench_load::workload("crr").unwrap(),
            job: Job { connections, ..fixture::job("crr", serde_json::json!({"size": "1B"})) },
            first_flow: client * connections,
            all_connections: clients * connections,
        }
    }

    #[test]
    fn clients_of_one_run_share_its_numbers_without_gap_or_clash() {
        let mut seen = BTreeSet::new();
        for client in 0..3 {
            let handshake = handshake(client, 4, 3);
            // Slot 0 to 3, and each slot's next four connections.
            for flow in 0..20 {
                assert!(seen.insert(handshake.in_run(flow)), "flow {flow} of client {client}");
            }
        }
        assert_eq!(seen, (0..60).collect());
    }

    #[test]
    fn an_only_client_keeps_its_own_numbers() {
        let alone = RunHandshake { all_connections: 0, ..handshake(0, 4, 1) };
        assert!((0..100).all(|flow| alone.in_run(flow) == flow));
    }
}
