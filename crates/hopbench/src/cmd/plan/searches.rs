//! The table of a plan's searches.

use hopbench_model::units::Span;
use hopbench_model::{Job, Plan, RateRange, SearchGoal, SearchSpec, point_label};
use hopbench_report::campaign::rate_text;
use hopbench_report::number::{as_written, percent_as_written};

use super::words::listed;

/// A row a point that is searched: where it stands, what for, and on which paths.
pub(super) fn rows(plan: &Plan) -> Vec<Vec<String>> {
    let row = |(at, point): (usize, &hopbench_model::Point)| {
        let search = point.search.as_ref()?;
        let paths = plan
            .cells
            .iter()
            .filter(|cell| cell.point == at)
            .map(|cell| plan.paths[cell.path].name.clone());
        let name = format!("{} {}", point.workload, point_label(&point.point));
        Some(vec![
            name.trim_end().to_owned(),
            goal(search, &point.job),
            listed(&paths.collect::<Vec<_>>()),
        ])
    };
    plan.points.iter().enumerate().filter_map(row).collect()
}

/// `slo: the highest rate from 100 to 50000 a second with p99 within 5ms, to 2 %, errors up to 1
/// %`.
fn goal(search: &SearchSpec, job: &Job) -> String {
    let levels = |levels: &[u32]| listed(&levels.iter().map(u32::to_string).collect::<Vec<_>>());
    let within = |rates: &RateRange| match [rates.lowest_per_s, rates.highest_per_s] {
        // Of datagrams people ask in bits.
        ends if rate_text(job, ends[0]).contains('=') => {
            format!("rates {}", ends.map(|rate| rate_text(job, rate)).join(" to "))
        }
        [lowest, highest] => {
            format!("rates {} to {} a second", as_written(lowest), as_written(highest))
        }
    };
    let what = match &search.goal {
        SearchGoal::Knee { connections, threads, least_growth } => {
            let threads = if threads.is_empty() {
                String::new()
            } else {
                format!(", then threads {}", levels(threads))
            };
            format!(
                "connections {}{threads}, while throughput grows by {}",
                levels(connections),
                percent(*least_growth)
            )
        }
        SearchGoal::Slo { percentile, limit_ns, rates, precision } => {
            format!(
                "p{percentile} within {}, {}, to {}",
                Span(*limit_ns),
                within(rates),
                percent(*precision)
            )
        }
        SearchGoal::Cpu { of, ceiling, rates } => {
            format!("CPU of {} at most {}, {}", of, percent(*ceiling), within(rates))
        }
        SearchGoal::Lossless { loss_share, rates, precision } => {
            format!(
                "loss at most {}, {}, to {}",
                percent(*loss_share),
                within(rates),
                percent(*precision)
            )
        }
    };
    let times =
        if search.repeats == 1 { String::new() } else { format!(", {} times", search.repeats) };
    let equal = if search.equal_load { "; all paths at what each was found to carry" } else { "" };
    format!(
        "{}: {what}{times}, errors up to {}{equal}",
        search.goal.name(),
        percent(search.errors_share)
    )
}

/// A share as scenarios write it: `2%`.
fn percent(share: f64) -> String {
    percent_as_written(share).replace(' ', "")
}
