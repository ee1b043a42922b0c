//! The reports of both ends of a trial, as a proof sees them; of a tool of others its words.

mod peer;
mod variable;

use std::collections::BTreeMap;

use hopbench_model::{EndReport, Job};

use crate::control::AgentId;

pub use peer::{PeerSaid, PeerServer, held, last_words};
pub use variable::variable;

/// The reports of the ends of a trial.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The job.
    pub job: &'a Job,
    /// The clients' reports, with their agents.
    pub clients: &'a [(AgentId, EndReport)],
    /// The servers' reports, with their agents.
    pub servers: &'a [(AgentId, EndReport)],
    /// The facts in the hello of each agent, about itself and its machine.
    pub machines: &'a BTreeMap<AgentId, BTreeMap<String, String>>,
    /// Whether the connections stood before the trial: those that it opened are only more.
    pub stood: bool,
}
