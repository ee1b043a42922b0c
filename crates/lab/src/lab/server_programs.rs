//! The server programs that run in pods.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Fault, LabSpec, ServerSpec};
use hopbench_testbed::placement::{Endpoints, PodId};

use super::built::Built;
use crate::network::refused;
use crate::processes::servers::{Environment, RunningServer, ServerTask, server, sizes};
use crate::services::pod_ports::program_port;

/// The server programs of a lab.
#[derive(Debug)]
pub(crate) struct Programs {
    /// Those that were started, each once a pod.
    running: BTreeMap<(String, PodId), RunningServer>,
    /// The variables that any subject sets. Proofs tell what every program has of them.
    variables: BTreeSet<String>,
}

impl Programs {
    /// None that runs yet, with the variables that the subjects of a lab set.
    pub(crate) fn of(spec: &LabSpec) -> Self {
        let of_nodes = spec.nodes.iter().flat_map(|node| node.settings.env.keys());
        Self { running: BTreeMap::new(), variables: of_nodes.cloned().collect() }
    }

    /// The variables that any subject sets.
    pub(crate) fn variables(&self) -> &BTreeSet<String> {
        &self.variables
    }

    /// Starts a server program in the pods of a path's servers where it does not run yet; its
    /// processes. `programs` are those of the whole plan.
    pub(crate) fn start(
        &mut self,
        built: &Built,
        programs: &BTreeSet<ServerSpec>,
        endpoints: &Endpoints,
        name: &str,
    ) -> Result<Vec<u32>, Fault> {
        let server = server(name)
            .ok_or_else(|| Fault::input(format!("the lab has no server program `{name}`")))?;
        let sizes = sizes(programs.iter().filter(|spec| spec.program == name));
        let is_told = !self.variables.is_empty();
        let mut pids = Vec::new();
        for pod in &endpoints.servers {
            let key = (name.to_owned(), pod.clone());
            let mut running = self.running.get_mut(&key).and_then(RunningServer::pids);
            if running.is_none() {
                // The old one must be gone before the new one can have its port.
                self.running.remove(&key);
                let stack = built
                    .stack(pod)
                    .ok_or_else(|| Fault::input(format!("pod {pod} is not built")))?;
                let node = built
                    .node(&pod.place.node)
                    .ok_or_else(|| Fault::input(format!("pod {pod} is on no node")))?;
                let (cpus, env) = (node.cpus.as_deref(), &node.spec.settings.env);
                let port = program_port(pod);
                let task = ServerTask { server, port, sizes: &sizes, cpus, env, is_told };
                let mut started = RunningServer::start(stack, &task)
                    .map_err(refused(format!("cannot start {name} in {pod}")))?;
                running = started.pids();
                self.running.insert(key, started);
            }
            pids.extend(
                running
                    .ok_or_else(|| Fault::environment(format!("{name} in {pod} ended at once")))?,
            );
        }
        Ok(pids)
    }

    /// The environment of the program in a pod that is one of these processes; `None`: it cannot be
    /// told.
    pub(crate) fn environment(&self, pod: &PodId, pids: &[u32]) -> Option<&Environment> {
        let mut of_pod = self.running.iter().filter(|((_, of), _)| of == pod);
        of_pod.find_map(|(_, running)| running.environment(pids))
    }

    /// Ends those in a pod.
    pub(crate) fn leave(&mut self, pod: &PodId) {
        self.running.retain(|(_, of), _| of != pod);
    }

    /// Ends them all.
    pub(crate) fn stop(&mut self) {
        self.running.clear();
    }
}
