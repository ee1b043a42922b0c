//! The router of flows to the runs that expect them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hopbench_load::workload::Workload;
use hopbench_load::{Accepted, Acceptor, Encryption, FlowGuard, FlowLimit, UdpRegistration};
use hopbench_model::{Fault, Job, Transport};
use hopbench_sys::{DatagramPort, Socket};
use hopbench_wire::udp::{CookieJar, RegistrationReply};
use hopbench_wire::{
    FLOW_ACCEPTED, FLOW_HEADER_BYTES, FlowHeader, FlowKey, FlowKind, FlowLedger, WorkloadCode, udp,
};

use crate::limits::no_room;
use crate::port::flow_handshake::direction;

/// Runs by number; the port looks flows up here, control sessions enter and remove their run.
#[derive(Default)]
pub(crate) struct FlowRouter {
    open: Mutex<BTreeMap<u32, ExpectedRun>>,
    /// Flows that the agent has open: those of runs, those of the HTTP target, those that outlive
    /// their run.
    flow_limit: Arc<FlowLimit>,
    /// Connections that trials under way expect.
    expected: AtomicUsize,
    /// Those of them that may come long before they have anything to say.
    resting: AtomicUsize,
}

/// Connections that a trial expects, for as long as it does.
pub(crate) struct ExpectedConnections {
    flow_router: Arc<FlowRouter>,
    connections: usize,
    may_rest: bool,
}

/// One run that expects flows.
pub(crate) struct ExpectedRun {
    pub(crate) key: FlowKey,
    pub(crate) code: WorkloadCode,
    pub(crate) workload: &'static dyn Workload,
    /// Its connections are those of all clients together.
    pub(crate) job: Job,
    pub(crate) acceptor: Acceptor,
    /// Its open flows, a part of [`FlowRouter::flow_limit`].
    pub(crate) flow_limit: Arc<FlowLimit>,
    pub(crate) ledger: FlowLedger,
    pub(crate) registered: BTreeSet<(SocketAddr, u32)>,
}

impl FlowRouter {
    /// No runs yet; their flows are bounded by `flow_limit`.
    pub(crate) fn new(flow_limit: Arc<FlowLimit>) -> Self {
        Self { flow_limit, ..Self::default() }
    }

    /// A trial expects so many connections. HTTP clients open theirs before the load begins
    /// (`may_rest`), and say nothing until then.
    pub(crate) fn expect(
        self: &Arc<Self>,
        connections: u32,
        may_rest: bool,
    ) -> ExpectedConnections {
        let connections = connections as usize;
        self.expected.fetch_add(connections, Ordering::AcqRel);
        self.resting.fetch_add(if may_rest { connections } else { 0 }, Ordering::AcqRel);
        ExpectedConnections { flow_router: Arc::clone(self), connections, may_rest }
    }

    /// Connections that all trials together expect.
    pub(crate) fn expected(&self) -> usize {
        self.expected.load(Ordering::Acquire)
    }

    /// Whether connections may have good reason to say nothing for long.
    pub(crate) fn may_rest(&self) -> bool {
        self.resting.load(Ordering::Acquire) > 0
    }

    /// All flows of the agent.
    pub(crate) fn flow_limit(&self) -> &Arc<FlowLimit> {
        &self.flow_limit
    }

    /// Enters a run; refused when another has its number, or when its flows would not find room
    /// beside those that are open and those that other runs still wait for. Who comes later cannot
    /// take what was found free here.
    pub(crate) fn enter(&self, number: u32, run: ExpectedRun) -> Result<(), Fault> {
        let mut open = self.lock();
        if open.contains_key(&number) {
            return Err(Fault::environment("another run has this number; try again"));
        }
        self.find_room(&open, run.job.connections)?;
        open.insert(number, run);
        Ok(())
    }

    /// Places for the flows that a client of this agent opens, to be kept for as long as they may
    /// be open; refused where [`FlowRouter::enter`] would be.
    pub(crate) fn flow_guards(&self, connections: u32) -> Result<Vec<FlowGuard>, Fault> {
        // Flows of `crr` and `http` come without asking for room first: what was found free may be
        // gone by now.
        let open = self.lock();
        self.find_room(&open, connections)?;
        let flow_guards: Vec<FlowGuard> =
            (0..connections).map_while(|_| self.flow_limit.take()).collect();
        match self.flow_limit.most() {
            Some(most) if flow_guards.len() < connections as usize => {
                drop(flow_guards);
                Err(no_room(most, self.flow_limit.open(), connections))
            }
            _ => Ok(flow_guards),
        }
    }

    /// Whether so many flows more find no room.
    pub(crate) fn lacks(&self, connections: u32) -> bool {
        self.find_room(&self.lock(), connections).is_err()
    }

    /// Refuses so many flows more than the agent allows, beside those that are open and those that
    /// runs still wait for.
    fn find_room(&self, open: &BTreeMap<u32, ExpectedRun>, connections: u32) -> Result<(), Fault> {
        let Some(most) = self.flow_limit.most() else { return Ok(()) };
        let expected = |run: &ExpectedRun| {
            (run.job.connections as usize).saturating_sub(run.flow_limit.open())
        };
        let taken = self.flow_limit.open() + open.values().map(expected).sum::<usize>();
        if taken + connections as usize > most {
            return Err(no_room(most, taken, connections));
        }
        Ok(())
    }

    /// Forgets a run: from here on nobody can open a flow of it.
    pub(crate) fn remove(&self, number: u32) {
        self.lock().remove(&number);
    }

    /// Takes in a TCP flow that sent this header; a flow that is not welcome is dropped without a
    /// word.
    pub(crate) fn tcp_flow(&self, bytes: &[u8; FLOW_HEADER_BYTES], socket: Socket) {
        let Ok((header, token)) = FlowHeader::parse(bytes) else {
            return;
        };
        let mut open = self.lock();
        let Some(run) = open.get_mut(&header.run) else {
            return;
        };
        if header.kind != FlowKind::Tcp
            || !run.welcomes(&header)
            || !run.key.verify(&header, &token)
        {
            return;
        }
        // Only a flow whose token is right can take a place, and only one that has a place uses up
        // its number.
        let Some(flow_guard) = run.flow_limit.take() else {
            return;
        };
        if !run.ledger.claim(header.flow) {
            return;
        }
        // The word fits into the empty send queue of a new connection, or the connection is dead.
        if !run.workload.kind().connects_for_each() && socket.send(&FLOW_ACCEPTED).is_err() {
            return;
        }
        let from_server = run.workload.server_sends(&run.job, header.flow);
        let acceptor = Arc::clone(&run.acceptor);
        drop(open);
        acceptor(Accepted {
            encryption: Encryption::None,
            flow: header.flow,
            from_server,
            socket: Arc::new(socket),
            registration: None,
            flow_guard,
        });
    }

    /// Judges a datagram that belongs to no flow yet, and answers it if it deserves an answer.
    pub(crate) fn datagram(
        &self,
        port: &DatagramPort,
        jar: &CookieJar,
        bytes: &[u8],
        peer: SocketAddr,
        local: SocketAddr,
    ) {
        let mut open = self.lock();
        let verdict =
            udp::answer(bytes, peer, local.ip(), |run| open.get(&run).map(|r| &r.key), jar);
        match verdict {
            RegistrationReply::Ignore => {}
            // A lost answer is the client's to ask for again.
            RegistrationReply::Challenge(answer) => drop(port.send_from(&answer, local.ip(), peer)),
            RegistrationReply::Accept(header, answer) => {
                let Some(run) = open.get_mut(&header.run) else {
                    return;
                };
                if !run.welcomes(&header) {
                    return;
                }
                if !run.registered.contains(&(peer, header.flow)) {
                    let Some(flow_guard) = run.flow_limit.take() else {
                        return;
                    };
                    // One address a flow: a flow number is claimed like a TCP flow's.
                    if !run.ledger.claim(header.flow) {
                        return;
                    }
                    let Ok(socket) = DatagramPort::connected(local, peer) else {
                        return;
                    };
                    run.registered.insert((peer, header.flow));
                    let acceptor = Arc::clone(&run.acceptor);
                    drop(open);
                    let registration = Some(UdpRegistration {
                        request: bytes.into(),
                        answer: answer.as_slice().into(),
                    });
                    let socket = Arc::new(socket);
                    acceptor(Accepted {
                        encryption: Encryption::None,
                        flow: header.flow,
                        from_server: false,
                        socket,
                        registration,
                        flow_guard,
                    });
                }
                drop(port.send_from(&answer, local.ip(), peer));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, ExpectedRun>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ExpectedConnections {
    fn drop(&mut self) {
        self.flow_router.expected.fetch_sub(self.connections, Ordering::AcqRel);
        self.flow_router
            .resting
            .fetch_sub(if self.may_rest { self.connections } else { 0 }, Ordering::AcqRel);
    }
}

impl ExpectedRun {
    /// Whether a flow with this header can belong to the run. Flow numbers of workloads that
    /// connect anew for every exchange are not bounded by the number of connections.
    fn welcomes(&self, header: &FlowHeader) -> bool {
        let kind =
            if self.job.transport() == Transport::Udp { FlowKind::Udp } else { FlowKind::Tcp };
        header.workload == self.code
            && header.kind == kind
            && header.direction == direction(self.workload, &self.job, header.flow)
            && (self.workload.kind().connects_for_each() || header.flow < self.job.connections)
    }
}
