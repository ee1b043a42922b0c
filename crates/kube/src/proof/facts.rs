//! The knowledge about a path from which its proof follows.

use hopbench_testbed::placement::{Endpoints, PodId};

use crate::plan::services::PathService;
use crate::provision::built::Built;

/// The knowledge about a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProofFacts<'a> {
    pub(crate) built: &'a Built,
    pub(crate) ends: &'a Endpoints,
    pub(crate) servers: &'a [PodId],
    /// Its Service for the server that answers.
    pub(crate) service: Option<&'a PathService>,
    /// The proxies that it names, of those in pods of the run: pods and containers.
    pub(crate) proxies: &'a [(PodId, &'static str)],
}
