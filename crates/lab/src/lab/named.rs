//! The server programs, the tools and the CPUs that the cells of a plan name.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Plan, ServerSpec};
use hopbench_peer::of_point;
use hopbench_testbed::placement::{Placement, PodId};

/// The programs, tools and CPUs that the cells of a plan name.
#[derive(Debug, Default)]
pub(crate) struct Named {
    /// The server programs other than the agent.
    pub(crate) programs: BTreeSet<ServerSpec>,
    /// The tools of others that measure.
    pub(crate) peers: BTreeSet<&'static str>,
    /// CPUs for the agents of pods.
    pub(crate) cpus: BTreeMap<PodId, BTreeSet<usize>>,
}

impl Named {
    /// Those of this plan.
    pub(crate) fn of(plan: &Plan, placement: &Placement) -> Self {
        let mut named = Self::default();
        for cell in &plan.cells {
            let (Some(path), Some(point)) =
                (plan.paths.get(cell.path), plan.points.get(cell.point))
            else {
                continue;
            };
            if !point.server.is_agent() {
                named.programs.insert(point.server.clone());
            }
            named.peers.extend(of_point(point).map(|tool| tool.name));
            let Some(endpoints) = placement.paths.get(&path.name) else { continue };
            let job = &point.job;
            for (pods, cpus) in
                [(&endpoints.clients, &job.client_cpus), (&endpoints.servers, &job.server_cpus)]
            {
                let Some(cpus) = cpus else { continue };
                for pod in pods {
                    named.cpus.entry(pod.clone()).or_default().extend(&cpus.0);
                }
            }
        }
        named
    }
}
