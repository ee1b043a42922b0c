//! The largest jobs of a plan.

use hopbench_model::{Bounds, Path, Plan, Point, SearchGoal};

use super::load::{Load, Parameter, at};

/// How large any end's job can get in the trials of a plan, its searches included: what the agents
/// are held to.
pub(in crate::campaign) fn bounds(plan: &Plan) -> Bounds {
    let mut bounds = Bounds::default();
    let ours = plan.cells.iter().map(|cell| plan.at(*cell));
    // Of a tool no agent knows.
    for (path, point) in ours.filter(|(_, point)| point.peer.is_none()) {
        cover(&mut bounds, path, point);
        let Some(search) = &point.search else { continue };
        match &search.goal {
            SearchGoal::Knee { connections, threads, .. } => {
                let load = |value: &u32| Load {
                    parameter: Parameter::Connections,
                    value: f64::from(*value),
                };
                // A level that no trial can have is not measured either.
                let levels = connections
                    .iter()
                    .filter_map(|value| at(point, path.clients, &[load(value)], 1, false).ok());
                levels.for_each(|level| cover(&mut bounds, path, &level));
                bounds.threads = threads.iter().copied().fold(bounds.threads, u32::max);
            }
            goal => {
                // What follows from a rate can grow with it.
                for value in goal
                    .rates()
                    .into_iter()
                    .flat_map(|rates| [rates.lowest_per_s, rates.highest_per_s])
                {
                    let load = Load { parameter: Parameter::Rate, value };
                    if let Ok(level) = at(point, path.clients, &[load], 1, false) {
                        cover(&mut bounds, path, &level);
                    }
                }
            }
        }
    }
    bounds
}

/// Raises them to a client's job and that of its servers, which is for all clients together.
fn cover(bounds: &mut Bounds, path: &Path, point: &Point) {
    bounds.cover(&point.job);
    if let Some(workload) = hopbench_load::workload(&point.job.workload) {
        bounds.cover(&workload.together(&point.job, path.clients));
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Job, RateRange};
    use serde_json::json;

    use super::*;
    use crate::campaign::searches::search_driver::tests::planned;

    #[test]
    fn searches_and_several_clients_count() {
        let knee = SearchGoal::Knee {
            connections: vec![1, 64, 256],
            threads: vec![1, 4],
            least_growth: 0.05,
        };
        let mut plan = planned("rr", json!({"size": "1B"}), knee);
        assert_eq!((bounds(&plan).connections, bounds(&plan).threads), (256, 4));
        plan.paths[0].clients = 2;
        assert_eq!(bounds(&plan).connections, 512, "a server's are those of both clients");
        plan.points[0].search = None;
        let Job { connections, threads, timing, .. } = plan.points[0].job;
        let trial_ns = timing.warmup_ns + timing.window_ns + timing.timeout_ns;
        assert_eq!(bounds(&plan), Bounds { trial_ns, connections: 2 * connections, threads });
        plan.cells.clear();
        assert_eq!(bounds(&plan), Bounds::default(), "what is in no cell is not in the plan");
    }

    #[test]
    fn a_search_for_a_rate_stays_within_its_job() {
        let rates = RateRange { lowest_per_s: 1.0, highest_per_s: 1e6 };
        let lossless = SearchGoal::Lossless { loss_share: 0.0, rates, precision: 0.01 };
        let plan = planned("udp", json!({"size": "100B", "rate": "10pps", "gso": 1}), lossless);
        assert_eq!(bounds(&plan).connections, plan.points[0].job.connections);
    }
}
