//! What every testbed must provide. The conductor drives this and never knows which testbed it has.
//!
//! ```text
//!   missing ─► up ─► (route, control, counters, [trial: gauges], counters, prove)* ─► down
//! ```

mod finding;
mod passed;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use hopbench_model::{Bounds, EndReport, Fault, Job, Path, Plan, Point, Proof, SignedPermit};
use rustls::ClientConfig;

pub use finding::{Finding, State};
pub use passed::passed;

/// Where scenarios run.
pub trait Testbed {
    /// Its name in scenarios.
    fn name(&self) -> &'static str;

    /// What the plan needs and this testbed cannot give here; empty when everything can run. Builds nothing.
    fn missing(&mut self, plan: &Plan) -> Vec<Need>;

    /// Which machines the plan's nodes are that [`Testbed::missing`] or [`Testbed::up`] looked at last, by the plan's names;
    /// those that have none are left out. Empty where nodes are not chosen among machines.
    fn nodes(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Why a cell cannot be measured on this testbed although its path can be built: a workload that the path's runtime or
    /// translation does not carry, a server program that is not installed, CPUs that nobody can be held to. Such cells are
    /// skipped, with this reason, which says what to do about it where something can be done.
    fn unsupported(&self, _path: &Path, _point: &Point) -> Option<String> {
        None
    }

    /// Builds everything the plan needs and starts its agents.
    ///
    /// # Errors
    /// What could not be had; whatever was built until then is gone.
    fn up(&mut self, plan: &Plan) -> Result<(), Fault>;

    /// Whether a way to a server may still come to be by itself: load balancers and the nodes' translation are told of a
    /// new Service some time after it was made. Until then a trial whose clients are not let in is tried again. False
    /// soon, whatever happens.
    fn is_settling(&self) -> bool {
        false
    }

    /// Who takes part in the trials of a cell, and where its clients connect to. Server programs and proxies that have
    /// ended are started again.
    ///
    /// # Errors
    /// A path or a server that was not part of the plan that was built, a program that cannot be started.
    fn route(&mut self, path: &Path, point: &Point) -> Result<Route, Fault>;

    /// A new control session with an agent. An agent that died is started again first.
    ///
    /// # Errors
    /// An agent that cannot be started.
    fn control(&mut self, agent: &AgentId) -> Result<Control, Fault>;

    /// The permit that the agents want to see with every order, signed by the run's conductor. It is
    /// for the targets of the whole plan, as far as they are known now, and for jobs within
    /// `bounds`. Absent where the agents were not started for this run.
    ///
    /// # Errors
    /// A testbed that is not up.
    fn permit(&mut self, _bounds: &Bounds) -> Result<Option<SignedPermit>, Fault> {
        Ok(None)
    }

    /// The processes of the sandbox that an agent is in, in this process' own `/proc`: what it spends is seen there, and
    /// not by the agent, whose `/proc` is the sandbox's. Empty where there is no sandbox.
    fn sandbox(&self, _agent: &AgentId) -> Vec<u32> {
        Vec::new()
    }

    /// The counters that can prove a route, as they stand now.
    ///
    /// # Errors
    /// Counters that cannot be read.
    fn counters(&mut self, route: &Route) -> Result<Counters, Fault>;

    /// What the proxies of a route say of themselves now, by their names: `allocated_bytes`, `workers`,
    /// `active_connections` ...; empty where there are none. Asked for twice while a trial is on: some of it may be as of
    /// the question before.
    ///
    /// # Errors
    /// A proxy that does not answer.
    fn gauges(&mut self, _route: &Route) -> Result<BTreeMap<String, Gauges>, Fault> {
        Ok(BTreeMap::new())
    }

    /// What others have metered by now of the containers and nodes of a route; only grows. Read before the traffic and
    /// after it. Empty where nobody meters, and where the agents themselves see everything.
    ///
    /// # Errors
    /// A meter that does not answer.
    fn meters(&mut self, _route: &Route) -> Result<Vec<Metered>, Fault> {
        Ok(Vec::new())
    }

    /// Which meters said nothing when [`Testbed::meters`] asked them last, and why: a sentence each. Empty where all said
    /// something, and where there are none.
    fn silent_meters(&self) -> Vec<String> {
        Vec::new()
    }

    /// What of the testbed changed since this was asked last, as far as the route is concerned, a sentence each: `pod
    /// server-2 of node n1 restarted`. Asked before the traffic and after it; what comes of the first answer is before the
    /// trial's time. A trial in which something changed is measured again.
    ///
    /// # Errors
    /// Nobody can be asked.
    fn changes(&mut self, _route: &Route) -> Result<Vec<String>, Fault> {
        Ok(Vec::new())
    }

    /// What the counters and the ends' reports say about the way the traffic took.
    fn prove(&self, route: &Route, before: &Counters, after: &Counters, seen: &Seen<'_>) -> Vec<Proof>;

    /// Facts for `run.json`: addresses, CPU sets, what nodes share.
    fn facts(&self) -> BTreeMap<String, String>;

    /// Ends the agents and removes what was built.
    fn down(&mut self);
}

/// An agent of the testbed: `bridge@a`, `bridge@a#2`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentId(pub String);

impl fmt::Display for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How the conductor reaches an agent.
#[derive(Debug)]
pub enum Control {
    /// The conductor's end of a socket pair; the agent holds the other end.
    Pair(UnixStream),
    /// A stream that leads to an agent's port by way of others: TLS goes over it.
    Forwarded {
        /// The stream.
        stream: UnixStream,
        /// The conductor's keys, and the agent's public key.
        tls: Arc<ClientConfig>,
    },
    /// An agent's port: TLS goes over a connection to it.
    Address {
        /// The port.
        address: SocketAddr,
        /// The conductor's keys, and the agent's public key.
        tls: Arc<ClientConfig>,
    },
}

/// Who takes part in the trials of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The path's name.
    pub path: String,
    /// The clients, at least one.
    pub clients: Vec<AgentId>,
    /// The servers, at least one.
    pub servers: Vec<AgentId>,
    /// Nodes of the clients and of the servers, in the same order.
    pub nodes: Vec<(AgentId, String)>,
    /// CPUs that an agent is held to, and the server program beside it; absent: any of its node.
    pub cpus: BTreeMap<AgentId, Vec<usize>>,
    /// Where the clients connect to.
    pub target: SocketAddr,
    /// What the traffic passes, in order: `veth`, `bridge a`, `dnat on a`, `vxlan` ...
    pub hops: Vec<String>,
    /// Processes of the server program, where it is not the agent; their CPU is the server's cost.
    pub programs: Vec<u32>,
    /// The proxies in the pods of the path, those that it does not name, too.
    pub proxies: Vec<Proxy>,
    /// Rate of the slowest link that all of the path's traffic crosses, each direction, bits/s with Ethernet headers;
    /// absent: not known, or no link is shaped.
    pub link_bits_per_s: Option<u64>,
    /// The largest packet that the ends send, bytes with its IP header; 0: not known.
    pub mtu_bytes: u32,
    /// Bytes that tunnels on the path add to each packet on that link.
    pub tunnel_bytes: u32,
}

/// A proxy in a pod of a path, or a service that such proxies ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Its name on the path: `client-sidecar`, `server-sidecar`, `server-sidecar#2`, `gateway`, `policy`, `telemetry`.
    pub name: String,
    /// The node that it is on.
    pub node: String,
    /// Whether the path names it; the others must not see any traffic.
    pub named: bool,
    /// Its processes, in this process' own `/proc`; empty where they cannot be seen.
    pub pids: Vec<u32>,
    /// Threads of it that carry traffic.
    pub workers: u32,
    /// CPUs that it is held to; absent: any of its node.
    pub cpus: Option<Vec<usize>>,
}

/// A reading of somebody else's meter.
#[derive(Debug, Clone, PartialEq)]
pub struct Metered {
    /// What it is about: the name of a proxy of the route, of an agent, or of a node.
    pub who: String,
    /// Which of these.
    pub what: MeteredKind,
    /// Who metered it: `kubelet`, `cadvisor`, `prometheus`.
    pub source: &'static str,
    /// When it was read there, since 1970 UTC, by this machine's clock as far as it is known how the meter's differs.
    pub at: std::time::Duration,
    /// CPU time until then, ns.
    pub cpu_ns: u64,
    /// Memory in use then, bytes.
    pub memory_bytes: Option<u64>,
    /// Time for which its CPU limit held it back until then, ns.
    pub throttled_ns: Option<u64>,
}

/// What a meter is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MeteredKind {
    /// A proxy's container.
    Proxy,
    /// An agent's container.
    Agent,
    /// The container of a server program; `who` is the agent beside it.
    Program,
    /// A node.
    Node,
}

/// Values that go up and down, by name.
pub type Gauges = BTreeMap<String, f64>;

/// Name of the counter `counter` of the proxy `proxy` of a route: `proxy client-sidecar requests`. What is counted:
/// `downstream_connections`, `requests`, `upstream_connections`, `upstream_connect_failures`, `retries`,
/// `tls_handshakes` ...
pub fn of_proxy(proxy: &str, counter: &str) -> String {
    format!("proxy {proxy} {counter}")
}

/// How the counters of a proxy grew, by the names that [`of_proxy`] was given.
pub fn proxy_growth(before: &Counters, after: &Counters, proxy: &str) -> BTreeMap<String, u64> {
    let prefix = of_proxy(proxy, "");
    let grown = after.iter().filter_map(|(name, value)| {
        let counter = name.strip_prefix(&prefix)?;
        Some((counter.to_owned(), value.saturating_sub(*before.get(name)?)))
    });
    grown.collect()
}

/// Counters by name, like `b/vxlan0 rx_bytes`; they only grow.
pub type Counters = BTreeMap<String, u64>;

/// What the ends of a trial saw.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The job.
    pub job: &'a Job,
    /// The clients' reports, with who they are.
    pub clients: &'a [(AgentId, EndReport)],
    /// The servers' reports, with who they are.
    pub servers: &'a [(AgentId, EndReport)],
    /// What each agent said of itself and of its machine at its hello.
    pub machines: &'a BTreeMap<AgentId, BTreeMap<String, String>>,
}

/// Something that a path needs and that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The path that needs it; absent: the whole testbed.
    pub path: Option<String>,
    /// What is missing: `runsc`; [`Need::IMPOSSIBLE`] where nothing could be added.
    pub what: String,
    /// Why it is needed and how that was found out.
    pub why: String,
    /// What to do about it.
    pub remedy: String,
}

impl Need {
    /// Instead of what is missing: no installation makes this path possible.
    pub const IMPOSSIBLE: &str = "the path cannot exist";

    /// What a path needs, or the whole testbed: what is missing, why it is needed, and what to do about it.
    pub fn new(path: Option<&Path>, what: &str, why: String, remedy: &str) -> Self {
        Self { path: path.map(|path| path.name.clone()), what: what.to_owned(), why, remedy: remedy.to_owned() }
    }
}
