//! The participants of a trial: agents at its ends and onlookers, watched processes, and the
//! caller's watcher.

use std::collections::BTreeMap;

use hopbench_model::{Nanos, SignedPermit, Tick};
use hopbench_testbed::{AgentId, Beside, Proxy};
use hopbench_wire::Role;

use super::agent_connection::AgentConnection;
use super::standing_orders::StandingOrders;

/// The agents at the ends of a path, and those that look at what is between them. They are numbered
/// in this order.
#[derive(Debug, Default)]
pub struct Ends {
    /// Those that open connections; at least one.
    pub clients: Vec<AgentConnection>,
    /// Those that accept them; empty where the server is no agent.
    pub servers: Vec<AgentConnection>,
    /// Those at no end, which only read meters. A trial does without one that fails.
    pub onlookers: Vec<(AgentId, AgentConnection)>,
    /// Those that were wanted and did not answer, with the reason.
    pub absent: BTreeMap<AgentId, String>,
    /// What agents of a run want to see with every order; absent: these are none.
    pub permit: Option<SignedPermit>,
    /// Whether they stay prepared after the trial, for another one like it.
    pub stay: bool,
    /// What stayed prepared of the trial before, if it did: goes in and comes out.
    pub standing: Option<StandingOrders>,
}

impl Ends {
    /// How many of them are at an end.
    pub(super) fn at_ends(&self) -> usize {
        self.clients.len() + self.servers.len()
    }

    /// The sessions with all of them, in the order of their numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = &AgentConnection> {
        let onlookers = self.onlookers.iter().map(|(_, agent)| agent);
        self.clients.iter().chain(&self.servers).chain(onlookers)
    }

    /// The session with the one of this number.
    pub(super) fn agent(&mut self, number: usize) -> &mut AgentConnection {
        let (clients, at_ends) = (self.clients.len(), self.at_ends());
        if number < clients {
            &mut self.clients[number]
        } else if number < at_ends {
            &mut self.servers[number - clients]
        } else {
            &mut self.onlookers[number - at_ends].1
        }
    }
}

/// Processes that take part beside the agents.
#[derive(Debug, Clone, Copy, Default)]
pub struct Watch<'a> {
    /// Those of the server program, as far as they can be seen: the servers' agents look at them.
    /// `None`: the agents answer themselves.
    pub programs: Option<&'a [u32]>,
    /// The containers of that program, each seen by the server's agent beside it.
    pub programs_beside: &'a [Beside],
    /// The proxies on the path and those that stand idle beside it: they are looked at from here,
    /// or by the agent beside them.
    pub proxies: &'a [Proxy],
    /// The agents at the ends, the clients first, and the onlookers last. Without them none looks
    /// at containers.
    pub agents: &'a [AgentId],
}

/// Somebody who follows a trial while it runs.
pub trait Watcher {
    /// The state of one end, number `end` of its side, at the end of an interval.
    fn tick(&mut self, role: Role, end: usize, tick: &Tick);

    /// Whether the user wants the trial to end now.
    fn interrupted(&self) -> bool;

    /// The window is fixed, by the monotonic clock in ns: it begins at `start`, after the warm-up.
    fn window(&mut self, _start: Nanos, _window_ns: Nanos) {}

    /// All connections are open: in the middle of the warm-up and once more shortly before the
    /// window ends, for what is to be asked of others meanwhile. What takes longer than some
    /// milliseconds makes the readings that follow late.
    fn in_traffic(&mut self) {}
}
