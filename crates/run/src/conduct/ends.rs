//! The participants of a trial: agents at its ends, watched processes, and the caller's watcher.

use hopbench_model::{Nanos, SignedPermit, Tick};
use hopbench_testbed::{AgentId, Proxy};
use hopbench_wire::Role;

use super::agent_connection::AgentConnection;
use super::standing_orders::StandingOrders;

/// The agents at the ends of a path.
#[derive(Debug, Default)]
pub struct Ends {
    /// Those that open connections; at least one.
    pub clients: Vec<AgentConnection>,
    /// Those that accept them; empty where the server is no agent.
    pub servers: Vec<AgentConnection>,
    /// What agents of a run want to see with every order; absent: these are none.
    pub permit: Option<SignedPermit>,
    /// Whether they stay prepared after the trial, for another one like it.
    pub stay: bool,
    /// What stayed prepared of the trial before, if it did: goes in and comes out.
    pub standing: Option<StandingOrders>,
}

/// Processes that take part beside the agents.
#[derive(Debug, Clone, Copy, Default)]
pub struct Watch<'a> {
    /// Those of the server program, as far as they can be seen: the servers' agents look at them.
    /// `None`: the agents answer themselves.
    pub programs: Option<&'a [u32]>,
    /// The proxies on the path and those that stand idle beside it: they are looked at from here,
    /// or by the agent beside them.
    pub proxies: &'a [Proxy],
    /// The agents at the ends, the clients first; without them none looks at proxies.
    pub agents: &'a [AgentId],
}

/// An observer of a trial while it runs.
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
