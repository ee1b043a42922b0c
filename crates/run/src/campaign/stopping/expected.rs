//! The expected end of the rounds, before anything is measured.

use std::collections::BTreeSet;

use hopbench_model::{COMMON_METRICS, Cell, Plan};

use super::figure::Figure;

/// Where the rounds of a plan will be ended by another figure than its rule asks for, a sentence
/// each: `stream: it has no p99: ...`. What a record lacks although it can have it, only the run
/// will know.
pub fn looked_at_instead(plan: &Plan) -> Vec<String> {
    let Some(rule) = &plan.stop else { return Vec::new() };
    let in_rounds = || plan.cells.iter().filter(|cell| plan.points[cell.point].search.is_none());
    let mut found: Vec<(&str, String, BTreeSet<usize>)> = Vec::new();
    for cell in in_rounds() {
        let (_, point) = plan.at(*cell);
        let figures = Figure::of_job(&rule.metric, &point.job);
        let first = figures.iter().find(|figure| is_to_come(figure, plan, *cell));
        let Some(why) = first.and_then(|figure| figure.instead(&rule.metric, &point.job)) else {
            continue;
        };
        let of = point.workload.as_str();
        match found.iter_mut().find(|(workload, known, _)| (*workload, known) == (of, &why)) {
            Some((.., paths)) => drop(paths.insert(cell.path)),
            None => found.push((of, why, [cell.path].into())),
        }
    }
    let sentence = |(workload, why, paths): (&str, String, BTreeSet<usize>)| {
        let of_workload = in_rounds().filter(|cell| plan.points[cell.point].workload == workload);
        let all: BTreeSet<usize> = of_workload.map(|cell| cell.path).collect();
        let names: Vec<&str> = paths.iter().map(|path| plan.paths[*path].name.as_str()).collect();
        let on = if paths == all { String::new() } else { format!(" on {}", names.join(", ")) };
        format!("{workload}{on}: {why}")
    };
    found.into_iter().map(sentence).collect()
}

/// Whether the records of a cell can have a figure.
fn is_to_come(figure: &Figure, plan: &Plan, cell: Cell) -> bool {
    let (path, point) = plan.at(cell);
    match figure {
        Figure::Latency(..) => true,
        Figure::Metric(name) if COMMON_METRICS.contains(&name.as_str()) => {
            !name.starts_with("proxy_") || path.is_proxied()
        }
        Figure::Metric(name) => hopbench_load::metrics(&point.job).contains(name),
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{MeshMode, Schedule, StopRule, fixture};
    use serde_json::json;

    use super::super::tests::plan;
    use super::*;

    fn told(metric: &str) -> Vec<String> {
        let metric = metric.to_owned();
        let mut plan = plan(
            2,
            3,
            Some(StopRule { half_width_share: 0.02, metric, min_rounds: 3, budget_ns: None }),
        );
        plan.paths[1].mesh = MeshMode::Both;
        for (point, name) in plan.points.iter_mut().zip(["ask", "bulk", "paced"]) {
            point.workload = name.to_owned();
        }
        plan.points[1].job = fixture::job("stream", json!({}));
        plan.points[2].job.schedule = Schedule::Rate(100.0);
        looked_at_instead(&plan)
    }

    #[test]
    fn a_plan_knows_which_workloads_lack_the_metric() {
        let bulk = |metric: &str| {
            format!("bulk: it has no {metric}: its rounds end when its received_bits_per_s is sure")
        };
        let given =
            "its throughput is what its rate says: its rounds end when its response_ns p99 is sure";
        assert_eq!(told("throughput"), [format!("paced: {given}")]);
        assert_eq!(told("p99"), [bulk("p99")]);
        assert_eq!(told("requests_per_s"), [bulk("requests_per_s"), format!("paced: {given}")]);
        assert_eq!(told("overhead_cores"), Vec::<String>::new());
        let proxies = told("proxy_cores");
        assert_eq!(proxies.len(), 3, "{proxies:?}");
        assert!(
            proxies.iter().all(|told| told.contains(" on p0: it has no proxy_cores")),
            "{proxies:?}"
        );
        // Only an open loop says what was to be sent.
        assert_eq!(told("unsent").len(), 2);
    }
}
