//! The sessions that rest between trials.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hopbench_testbed::AgentId;

use crate::conduct::agent_connection::AgentConnection;

/// An agent and the number of its session: a path from a place to itself has the same agent at both
/// ends, in two sessions.
pub(super) type Key = (AgentId, usize);

/// Sessions that rest.
#[derive(Debug, Default)]
pub(super) struct Resting(Mutex<BTreeMap<Key, AgentConnection>>);

impl Resting {
    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, AgentConnection>> {
        // Each of its calls leaves the map whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
