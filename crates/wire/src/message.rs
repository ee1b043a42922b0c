//! The messages of a control session.

use std::collections::BTreeMap;

use hopbench_model::{EndReport, Fault, Job, Nanos, SignedPermit, Tick};
use serde::{Deserialize, Serialize};

use crate::flow::FlowKey;

/// The version of the protocol; ends with different numbers refuse each other.
///
/// 2: `first_flow`, `all_connections` and `watch` of [`Prepare`]. They may be left out, yet an
/// agent that does not know them would silently do something else than was asked. So older ones are
/// refused. 3: `looks_on`, for the same reason. 4: `permit`, without which an agent of a run does
/// nothing, and `shows_credential`, without which agents refuse requests. 5: `stays` and
/// `replaces`, and the messages `Revisit` and `AllSent`. 6: `neighbours`, which older agents would
/// not look at, and what servers and each worker took in, which older agents would leave out of
/// their reports. 7: [`Role::Onlooker`], `watch_container`, which older agents would not look at,
/// and how late orders came, which they would leave out of their reports. 8: older agents would
/// write other sizes than whole packets, and would not let datagrams gather.
pub const PROTOCOL: u32 = 8;

/// The reading of a neighbour of this name, see [`Prepare::neighbours`].
pub fn neighbour_reading(name: &str) -> String {
    format!("neighbour {name}")
}

/// The introduction of each end, first thing after the TLS handshake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// The package version.
    pub version: String,
    /// The commit it was built from.
    pub commit: String,
    /// Tells whether two ends share a machine and so a monotonic clock.
    pub boot_id: String,
    /// Facts of the machine by name, for the record.
    pub machine: BTreeMap<String, String>,
}

/// The part of an agent in a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Opens connections.
    Client,
    /// Accepts them.
    Server,
    /// Is at no end of the path and carries nothing of it: it only reads its meters and those of
    /// its neighbours.
    Onlooker,
}

/// Everything an agent must know to take part in a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prepare {
    /// The run that flows name in their header.
    pub run: u32,
    /// The key of the flows' tokens; random for each trial.
    pub key: FlowKey,
    /// The part of this agent.
    pub role: Role,
    /// What to do: a client's own connections, a server's those of all clients. A server takes up
    /// to so many and waits for none of them: they may all come to another server of the run. For
    /// an onlooker its times are all that counts.
    pub job: Job,
    /// Where the client connects to: `address:port`. Absent for the others.
    pub target: Option<String>,
    /// Whether both ends read the same monotonic clock.
    pub shared_clock: bool,
    /// What to add to this end's clock to get the other end's, ns (best estimate).
    pub peer_clock_offset_ns: i64,
    /// Number of this client's first flow: several clients of one run share its flow numbers.
    #[serde(default)]
    pub first_flow: u32,
    /// Connections of all clients together, the step from a connection's flow number to that of its
    /// successor; 0: those of the job.
    #[serde(default)]
    pub all_connections: u32,
    /// Processes of a server program, in the agent's PID namespace, for a server's agent that looks
    /// on. What they spend together stands among its readings as `program`. With such a list the
    /// agent answers no HTTP itself. At most 64, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub watch: Vec<u32>,
    /// The id of a container with the server program, in the server's agent's own pod, which shares
    /// its PID namespace. Its processes are looked at like those of `watch`. If they cannot be
    /// seen, the agent says why, and the trial runs: others may meter them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch_container: Option<String>,
    /// Whether a server program answers instead of a server's agent, which then only looks on: also
    /// where none of its processes can be seen.
    #[serde(default)]
    pub looks_on: bool,
    /// Containers of the agent's own pod to look at, which share its PID namespace: their ids by
    /// names. What the processes of each spend together stands among the agent's readings as
    /// [`neighbour_reading`] says. At most 8, ids of at least 12 letters and digits.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub neighbours: BTreeMap<String, String>,
    /// What the run's plan lets its agents do, for those that were started with its conductor's
    /// public key; others do not look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permit: Option<SignedPermit>,
    /// Whether a client's HTTP requests carry the credential of the run: agents answer them. Nobody
    /// else is told of it.
    #[serde(default)]
    pub shows_credential: bool,
    /// Whether this end stays prepared after its report, for [`ToAgent::Revisit`], if the workload
    /// lets it.
    #[serde(default)]
    pub stays: bool,
    /// The run that is prepared again by this order: what stayed prepared of it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<u32>,
}

/// From the conductor to an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToAgent {
    /// First message.
    Hello(Hello),
    /// Asks for the agent's clock.
    Clock,
    /// Make ready for a trial; answered by `Ready` or `Failed`.
    Prepare(Box<Prepare>),
    /// Make ready for another visit to a run that stayed prepared; answered by `Ready`, or by
    /// `Failed` where it did not.
    Revisit {
        /// The run.
        run: u32,
        /// How long load runs before the window, ns.
        warmup_ns: Nanos,
    },
    /// Start the load now; the window starts at `window_start_ns` on the agent's clock.
    Start {
        /// Monotonic time of the window's start, ns, agent's clock.
        window_start_ns: Nanos,
    },
    /// What the clients sent in all, before `Finish` of a visit: a server whose connections stay
    /// open sees no end of a stream.
    AllSent {
        /// Payload, bytes.
        bytes: u64,
    },
    /// End the window now (the user asked); the report is still wanted.
    Finish,
    /// Drop the trial without a report.
    Abort,
    /// Keep-alive; answered by `Pong`.
    Ping,
    /// The session is over.
    Bye,
}

/// From an agent to the conductor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromAgent {
    /// Answer to `Hello`.
    Hello(Hello),
    /// Answer to `Clock`.
    Clock {
        /// Monotonic time, ns.
        now_ns: Nanos,
    },
    /// Every flow is up; waiting for `Start`.
    Ready {
        /// Setting by setting, what was changed from the job to keep the agent's limits.
        limited: Vec<String>,
    },
    /// State at the end of an interval.
    Progress(Tick),
    /// The trial is over.
    Done(Box<EndReport>),
    /// The trial failed; the session goes on. What was measured before, if anything, is in the
    /// report.
    Failed {
        /// Why.
        fault: Fault,
        /// What was measured until then.
        report: Option<Box<EndReport>>,
    },
    /// Answer to `Ping`.
    Pong,
}
