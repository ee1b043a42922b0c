//! The trait that every testbed implements.

use std::collections::BTreeMap;

use hopbench_model::{Bounds, Fault, Path, Plan, Point, Proof, Record, SignedPermit};

use crate::control::{AgentId, Control};
use crate::counters::{Counters, Gauges, Metered};
use crate::need::Need;
use crate::route::Route;
use crate::seen::{PeerSaid, Seen};

/// A place where scenarios run.
pub trait Testbed {
    /// Its name in scenarios.
    fn name(&self) -> &'static str;

    /// The needs of the plan that this testbed cannot meet here. Empty if everything can run. It
    /// builds nothing.
    fn missing(&mut self, plan: &Plan) -> Vec<Need>;

    /// The machines behind the plan's nodes, by the nodes' names, as [`Testbed::missing`] or
    /// [`Testbed::up`] saw them last. Nodes without a machine are left out. Empty if nodes are not
    /// chosen among machines.
    fn nodes(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// The reason why a cell cannot be measured here although its path can be built. It may be a
    /// workload that the path's runtime or translation does not carry. It may be a server program
    /// that is not installed, or CPUs that no process can be held to. Such cells are skipped with
    /// this reason. It also says the remedy, if there is one.
    fn unsupported(&self, _path: &Path, _point: &Point) -> Option<String> {
        None
    }

    /// Builds everything the plan needs and starts its agents.
    ///
    /// # Errors
    /// Anything that could not be had. All that was built until then is gone.
    fn up(&mut self, plan: &Plan) -> Result<(), Fault>;

    /// Whether a way to a server may still appear by itself. Load balancers and the nodes'
    /// translation learn of a new Service some time after it was made. Until then, a trial whose
    /// clients are not let in is tried again. It becomes false soon, whatever happens.
    fn is_settling(&self) -> bool {
        false
    }

    /// The participants of the trials of a cell, and the target of its clients. Server programs and
    /// proxies that have ended are started again.
    ///
    /// # Errors
    /// A path or a server that was not part of the plan that was built, a program that cannot be
    /// started.
    fn route(&mut self, path: &Path, point: &Point) -> Result<Route, Fault>;

    /// A new control session with an agent. An agent that died is started again first.
    ///
    /// # Errors
    /// An agent that cannot be started.
    fn control(&mut self, agent: &AgentId) -> Result<Control, Fault>;

    /// The permit that the agents ask for with every order, signed by the run's conductor. It is
    /// for the targets of the whole plan, as far as they are known now, and for jobs within
    /// `bounds`. Absent if the agents were not started for this run.
    ///
    /// # Errors
    /// A testbed that is not up.
    fn permit(&mut self, _bounds: &Bounds) -> Result<Option<SignedPermit>, Fault> {
        Ok(None)
    }

    /// The process of an agent, in this process' own `/proc`: who profiles it asks. Absent where it
    /// is on another machine, and where it was not started yet.
    fn process(&self, _agent: &AgentId) -> Option<u32> {
        None
    }

    /// The processes of the sandbox that an agent is in, in this process' own `/proc`. Their CPU is
    /// seen there. The agent does not see it: its `/proc` is the sandbox's. Empty if there is no
    /// sandbox.
    fn sandbox(&self, _agent: &AgentId) -> Vec<u32> {
        Vec::new()
    }

    /// The CPU limit of the server program beside a server's agent, cores. Absent if there is none,
    /// and if whoever meters the program reads its quota as well.
    fn program_limit(&self, _server: &AgentId) -> Option<f64> {
        None
    }

    /// The counters that can prove a route, as they stand now.
    ///
    /// # Errors
    /// Counters that cannot be read.
    fn counters(&mut self, route: &Route) -> Result<Counters, Fault>;

    /// The gauges of the proxies of a route now, by the names of the proxies: `allocated_bytes`,
    /// `workers`, `active_connections` ... Empty if there are none. It is asked twice in a trial:
    /// some values may be those of the call before.
    ///
    /// # Errors
    /// A proxy that does not answer.
    fn gauges(&mut self, _route: &Route) -> Result<BTreeMap<String, Gauges>, Fault> {
        Ok(BTreeMap::new())
    }

    /// The readings of other meters so far, for the containers and nodes of a route. They only
    /// grow. They are read before the traffic and after it. Empty if there is no such meter, and if
    /// the agents themselves see everything.
    ///
    /// # Errors
    /// A meter that does not answer.
    fn meters(&mut self, _route: &Route) -> Result<Vec<Metered>, Fault> {
        Ok(Vec::new())
    }

    /// The meters that did not answer in the last [`Testbed::meters`], with the reason: a sentence
    /// each. Empty if all answered, and if there are none.
    fn silent_meters(&self) -> Vec<String> {
        Vec::new()
    }

    /// The changes of the testbed since the last call, as far as they concern the route, a sentence
    /// each: `pod server-2 of node n1 restarted`. It is called before the traffic and after it. The
    /// first answer is about the time before the trial. A trial in which something changed is
    /// measured again.
    ///
    /// # Errors
    /// The changes cannot be read.
    fn changes(&mut self, _route: &Route) -> Result<Vec<String>, Fault> {
        Ok(Vec::new())
    }

    /// The proofs from counters and the ends' reports that the traffic took its path.
    fn prove(
        &self,
        route: &Route,
        before: &Counters,
        after: &Counters,
        seen: &Seen<'_>,
    ) -> Vec<Proof>;

    /// Lets the tool of a point with a peer make a trial, in the places of the route's ends and on
    /// their CPUs. It ends early when `is_over` says so.
    ///
    /// # Errors
    /// A testbed that starts no tools. A tool that cannot be started, prints nothing or does not
    /// end.
    fn run_peer(
        &mut self,
        _route: &Route,
        point: &Point,
        _is_over: &dyn Fn() -> bool,
    ) -> Result<PeerSaid, Fault> {
        let name = self.name();
        Err(Fault::input(format!("{}: the testbed {name} starts no tools", point.workload)))
    }

    /// The proofs from counters alone that the traffic of a tool took its path. `record` has what
    /// the tool states.
    fn prove_peer(
        &self,
        _route: &Route,
        _point: &Point,
        _before: &Counters,
        _after: &Counters,
        _record: &Record,
    ) -> Vec<Proof> {
        Vec::new()
    }

    /// Facts for `run.json`: addresses, CPU sets, shared CPUs.
    fn facts(&self) -> BTreeMap<String, String>;

    /// Ends the agents and removes what was built.
    fn down(&mut self);
}
