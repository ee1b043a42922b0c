//! The server programs that run in pods.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Fault, ServerSpec};
use hopbench_testbed::placement::{Endpoints, PodId};

use super::built::Built;
use crate::network::refused;
use crate::processes::servers::{Environment, RunningServer, ServerTask, server, sizes};
use crate::services::pod_ports::program_port;

/// Those that were started, each once a pod.
#[derive(Debug, Default)]
pub(crate) struct Programs(BTreeMap<(String, PodId), RunningServer>);

impl Programs {
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
        // What one node's programs have in their environment, the proof tells of all of them.
        let is_told = built.nodes.iter().any(|node| !node.spec.settings.env.is_empty());
        let mut pids = Vec::new();
        for pod in &endpoints.servers {
            let key = (name.to_owned(), pod.clone());
            let mut running = self.0.get_mut(&key).and_then(RunningServer::pids);
            if running.is_none() {
                // The old one must be gone before the new one can have its port.
                self.0.remove(&key);
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
                self.0.insert(key, started);
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
        let mut of_pod = self.0.iter().filter(|((_, of), _)| of == pod);
        of_pod.find_map(|(_, running)| running.environment(pids))
    }

    /// Ends those in a pod.
    pub(crate) fn leave(&mut self, pod: &PodId) {
        self.0.retain(|(_, of), _| of != pod);
    }

    /// Ends them all.
    pub(crate) fn stop(&mut self) {
        self.0.clear();
    }
}
