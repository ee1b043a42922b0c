//! Being written.

use std::collections::BTreeMap;

use hopbench_model::{Fault, HostsSpec, Path, Plan, Point, Proof};
use hopbench_testbed::{AgentId, Control, Counters, Need, Route, Seen, Testbed};

/// Being written.
#[derive(Debug)]
pub struct Hosts {
    spec: HostsSpec,
}

impl Hosts {
    /// Being written.
    pub fn new(spec: &HostsSpec) -> Self {
        Self { spec: spec.clone() }
    }
}

impl Testbed for Hosts {
    fn name(&self) -> &'static str {
        "hosts"
    }
    fn missing(&mut self, _plan: &Plan) -> Vec<Need> {
        Vec::new()
    }
    fn up(&mut self, _plan: &Plan) -> Result<(), Fault> {
        Err(Fault::environment(format!("being written: {:?}", self.spec)))
    }
    fn route(&mut self, path: &Path, _point: &Point) -> Result<Route, Fault> {
        Err(Fault::environment(path.name.clone()))
    }
    fn control(&mut self, agent: &AgentId) -> Result<Control, Fault> {
        Err(Fault::environment(agent.to_string()))
    }
    fn counters(&mut self, _route: &Route) -> Result<Counters, Fault> {
        Ok(Counters::new())
    }
    fn prove(&self, _route: &Route, _before: &Counters, _after: &Counters, _seen: &Seen<'_>) -> Vec<Proof> {
        Vec::new()
    }
    fn facts(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }
    fn down(&mut self) {}
}
