//! The windows of a run with a budget, so long that its rounds use it.

use hopbench_model::{Nanos, Plan, Point, ROUNDS, SECOND};

use crate::workload::peers;
use crate::workload::short_times::UnsaidWindows;

const MILLISECOND: Nanos = SECOND / 1000;

/// No window becomes longer than this.
const LONGEST: Nanos = 10 * SECOND;
/// The step in which windows become longer.
const STEP: Nanos = 10 * MILLISECOND;
/// The least that a trial takes beyond its warm-up and window. Two paths with one workload made
/// 1000 rounds of three trials in about 7.5 minutes. The estimate of `plan` is longer, on purpose.
/// With an overhead that is too long here, the rounds would end before the budget.
const LEAST_OVERHEAD: Nanos = 20 * MILLISECOND;
/// The rounds that are aimed at, as a share of those that a run may have.
const AIM: f64 = 0.95;
/// The share of the rounds that a settled cell is in.
const RESTING: f64 = 0.25;
/// A round in which cells rest is taken to be at least this share of one of all cells. Even less
/// would cost runs in which few cells rest too many of their rounds.
const LEAST_SHARE: f64 = 0.5;

/// Makes windows that the scenario does not say longer, where the budget is for more rounds than a
/// run may have.
///
/// Warm-ups stay: cells whose jobs differ only in the window can be compared with those of other
/// runs.
pub(super) fn fill(plan: &mut Plan, unsaid: &UnsaidWindows) {
    let Some(budget_ns) = plan.budget_ns else { return };
    let cells = cells(plan);
    if cells.iter().all(|cells| *cells == 0) {
        return;
    }
    let goal = (budget_ns as f64 / rounds(plan, &cells)) as Nanos;
    // The fewest steps with which a round takes its part of the budget.
    let (mut fewest, mut most) = (0, LONGEST / STEP);
    while fewest < most {
        let steps = fewest + (most - fewest) / 2;
        if round_ns(plan, &cells, unsaid, steps * STEP) < goal {
            fewest = steps + 1;
        } else {
            most = steps;
        }
    }
    for point in &mut plan.points {
        let window_ns = window_ns(point, unsaid, fewest * STEP);
        let follows = point.peer.is_some() || unsaid.get(ours(point)) == Some(&true);
        let timing = &mut point.job.timing;
        if window_ns > timing.window_ns {
            timing.window_ns = window_ns;
            if follows {
                timing.interval_ns = window_ns;
            }
        }
    }
}

/// The cells of each point that are measured in rounds.
fn cells(plan: &Plan) -> Vec<u64> {
    let mut out = vec![0; plan.points.len()];
    for cell in &plan.cells {
        if plan.points[cell.point].search.is_none() {
            out[cell.point] += 1;
        }
    }
    out
}

/// The rounds of all cells that are aimed at. They are fewer where cells can rest, as rounds then
/// become shorter.
fn rounds(plan: &Plan, cells: &[u64]) -> f64 {
    let references = plan.references();
    let compares = (0..plan.paths.len()).any(|path| references.of(path).is_some());
    // The last open comparison keeps both of its cells in each round, and the twin.
    let busy = if references.twins().next().is_some() { 3 } else { 2 };
    let resting = if compares { can_rest(plan, cells).saturating_sub(busy) } else { 0 };
    let share = 1.0 - (1.0 - RESTING) * resting as f64 / cells.iter().sum::<u64>() as f64;
    f64::from(*ROUNDS.end()) * AIM * share.max(LEAST_SHARE)
}

/// The cells that can rest: none of a tool of others, and none beside which one measures.
fn can_rest(plan: &Plan, cells: &[u64]) -> u64 {
    let compared = |point: &&Point| point.peer.is_some();
    let beside: Vec<&str> = plan.points.iter().filter(compared).map(ours).collect();
    let rests = plan.points.iter().map(|point| !beside.contains(&ours(point)));
    rests.zip(cells).filter(|(rests, _)| *rests).map(|(_, cells)| cells).sum()
}

/// The least time of a round of all cells, with this as the least of the unsaid windows.
fn round_ns(plan: &Plan, cells: &[u64], unsaid: &UnsaidWindows, least_ns: Nanos) -> Nanos {
    let of_point = |(point, cells): (&Point, &u64)| {
        // A visit can do without most of its warm-up.
        let warmup_ns = if plan.stay_connected { 0 } else { point.job.timing.warmup_ns };
        let trial_ns = warmup_ns
            .saturating_add(window_ns(point, unsaid, least_ns))
            .saturating_add(LEAST_OVERHEAD);
        trial_ns.saturating_mul(*cells)
    };
    plan.points.iter().zip(cells).map(of_point).fold(0, Nanos::saturating_add)
}

/// The window of a point: at least this long, if the scenario does not say it.
fn window_ns(point: &Point, unsaid: &UnsaidWindows, least_ns: Nanos) -> Nanos {
    let own = point.job.timing.window_ns;
    if !unsaid.contains_key(ours(point)) {
        return own;
    }
    own.max(if point.peer.is_some() { peers::length(least_ns) } else { least_ns })
}

/// The workload of a point, or that beside which a tool measures.
fn ours(point: &Point) -> &str {
    point.peer.as_ref().map_or(&point.workload, |peer| &peer.of)
}
