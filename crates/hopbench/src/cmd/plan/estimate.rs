//! The estimate of a plan: its trials and its time, at least and at most.

use std::collections::HashMap;

use hopbench_kube::Sight;
use hopbench_model::{Cell, Nanos, Plan, Point, SECOND, SearchGoal, SearchSpec};
use hopbench_run::{Profiling, is_metered, trial_overhead_ns};
use hopbench_stats::{Ceiling, Highest, Knee, Measurement, Outcome, Search};

/// Trials of a search in noise, for each that it takes without.
const NOISE: u64 = 2;
/// Results for which a search is tried out.
const TRIED: i32 = 12;
/// The time in which the meters of a cluster read what no agent sees, before a trial and after it:
/// the middle of 8 to 16 s.
const METERS_NS: Nanos = 12 * SECOND;

/// From the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Range {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Range {
    fn of(n: u64) -> Self {
        Self { least: n, most: n }
    }

    fn plus(self, other: Self) -> Self {
        let sum = u64::saturating_add;
        Self { least: sum(self.least, other.least), most: sum(self.most, other.most) }
    }

    fn times(self, other: Self) -> Self {
        let product = u64::saturating_mul;
        Self { least: product(self.least, other.least), most: product(self.most, other.most) }
    }
}

/// What some cells of a plan take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Estimate {
    /// Cells that have rounds, and those that are searched.
    pub(super) cells: u64,
    pub(super) searches: u64,
    /// Rounds of a cell.
    pub(super) rounds: Range,
    /// Trials in rounds, and those of searches with what follows them.
    pub(super) trials: Range,
    pub(super) search_trials: Range,
    /// Extra trials with profiles, and their time, ns.
    pub(super) profiles: u64,
    pub(super) profile_ns: Nanos,
    /// All of them, ns.
    pub(super) time_ns: Range,
}

impl Estimate {
    /// Of these cells of a plan.
    pub(super) fn of(plan: &Plan, cells: &[Cell]) -> Self {
        let (searched, in_rounds): (Vec<Cell>, Vec<Cell>) =
            cells.iter().partition(|cell| plan.points[cell.point].search.is_some());
        let sights = Sight::of_cells(plan);
        let wait_ns = |cell: &Cell, window_ns| meters_ns(&sights, *cell, window_ns);
        let round_ns = in_rounds
            .iter()
            .map(|cell| {
                let (path, point) = plan.at(*cell);
                let waits_ns = wait_ns(cell, point.job.timing.window_ns);
                trial_ns(plan, point, path.clients, None, false).saturating_add(waits_ns)
            })
            .fold(0, u64::saturating_add);
        let rounds = rounds(plan, round_ns);
        let mut out = Self {
            cells: in_rounds.len() as u64,
            searches: searched.len() as u64,
            rounds,
            trials: rounds.times(Range::of(in_rounds.len() as u64)),
            search_trials: Range::default(),
            profiles: 0,
            profile_ns: 0,
            time_ns: rounds.times(Range::of(round_ns)),
        };
        for (at, point) in plan.points.iter().enumerate() {
            let paths = searched.iter().filter(|cell| cell.point == at).count() as u64;
            if let (Some(search), 1..) = (&point.search, paths) {
                let of_point = || searched.iter().filter(|cell| cell.point == at);
                let clients = of_point().map(|cell| plan.paths[cell.path].clients).max();
                let length = |rate, is_scan| {
                    let window_ns = search.trial_window_ns(rate, is_scan);
                    let window_ns = window_ns.unwrap_or(point.job.timing.window_ns);
                    // All paths have the mean of them.
                    let waits = of_point().map(|cell| wait_ns(cell, window_ns));
                    let waits_ns = waits.sum::<Nanos>() / paths;
                    trial_ns(plan, point, clients.unwrap_or(1), rate, is_scan)
                        .saturating_add(waits_ns)
                };
                let effort = effort(search, paths, plan.most_rounds(), &length);
                out.search_trials = out.search_trials.plus(effort.trials);
                out.time_ns = out.time_ns.plus(effort.time_ns);
            }
        }
        if let Some(budget_ns) = plan.budget_ns.filter(|_| !plan.has_rounds()) {
            // It ends the searches.
            let Range { least, most } = out.time_ns;
            out.time_ns = Range { least: least.min(budget_ns), most: most.min(budget_ns) };
        }
        out
    }

    /// The same with an extra trial of each of these cells, which no budget counts.
    pub(super) fn with_profiles(mut self, plan: &Plan, cells: &[Cell]) -> Self {
        let time_ns = |cell: &Cell| {
            let point = Profiling::point(&plan.points[cell.point]);
            trial_ns(plan, &point, plan.paths[cell.path].clients, None, false)
        };
        self.profiles = cells.len() as u64;
        self.profile_ns = cells.iter().map(time_ns).fold(0, u64::saturating_add);
        self.time_ns = self.time_ns.plus(Range::of(self.profile_ns));
        self
    }
}

/// How long a trial of a cell with such a window waits for meters, ns. Those that are too short for
/// figures wait twice in all.
fn meters_ns(sights: &HashMap<Cell, Sight>, cell: Cell, window_ns: Nanos) -> Nanos {
    let is_by_meters = || sights.get(&cell).is_some_and(|sight| !sight.by_meters.is_empty());
    if is_metered(window_ns) && is_by_meters() { METERS_NS } else { 0 }
}

/// The time of a trial with so many clients, ns. That of a search depends on its load: a window
/// must hold enough of it, and its first requests may take longer than the warm-up. One of a scan
/// is shorter.
fn trial_ns(plan: &Plan, point: &Point, clients: u32, rate: Option<f64>, is_scan: bool) -> Nanos {
    let timing = point.job.timing;
    let search = point.search.as_ref();
    let searched = search.and_then(|search| search.trial_window_ns(rate, is_scan));
    let suits = search.and_then(|search| search.short).is_some_and(|short| short.suits_warmup);
    let first_ns = match (rate, searched) {
        (Some(rate), Some(window_ns)) if suits => {
            let each = rate / f64::from(clients.max(1));
            point.job.first_requests_at(each).min(window_ns)
        }
        _ => 0,
    };
    let warmup_ns = timing.warmup_ns.max(first_ns);
    let window_ns = searched.unwrap_or(timing.window_ns);
    warmup_ns.saturating_add(window_ns).saturating_add(trial_overhead_ns(&plan.testbed))
}

/// Rounds of a cell, no more than a run may have: where the time ends first, those that were begun
/// before.
fn rounds(plan: &Plan, round_ns: Nanos) -> Range {
    if round_ns == 0 {
        return Range::default();
    }
    if let Some(budget_ns) = plan.budget_ns {
        // Half of the last one fits.
        let fit = budget_ns.saturating_add(round_ns / 2) / round_ns;
        return Range::of(fit.clamp(1, plan.most_rounds().into()));
    }
    let Some(stop) = &plan.stop else { return Range::of(plan.rounds.into()) };
    let least = u64::from(stop.min_rounds.min(plan.rounds));
    let begun = stop.budget_ns.map_or(u64::MAX, |budget_ns| budget_ns.div_ceil(round_ns).max(1));
    let most = u64::from(plan.rounds).min(begun);
    Range { least: least.min(most), most }
}

/// Trials, and their time, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Effort {
    trials: Range,
    time_ns: Range,
}

impl Effort {
    fn plus(self, other: Self) -> Self {
        Self { trials: self.trials.plus(other.trials), time_ns: self.time_ns.plus(other.time_ns) }
    }

    fn times(self, n: u64) -> Self {
        let n = Range::of(n);
        Self { trials: self.trials.times(n), time_ns: self.time_ns.times(n) }
    }
}

/// The searches of a point on so many paths, in a run of so many rounds at most. `length`: the time
/// of a trial at a rate, ns, and of one of a scan.
fn effort(
    search: &SearchSpec,
    paths: u64,
    rounds: u32,
    length: &impl Fn(Option<f64>, bool) -> Nanos,
) -> Effort {
    let repeats = search.repeats as usize;
    let at_rate = |rate: f64, is_scan| length(Some(rate), is_scan);
    let each = match &search.goal {
        SearchGoal::Knee { connections, threads, least_growth } => {
            let over = |levels: &[u32]| {
                let levels: Vec<f64> = levels.iter().map(|level| f64::from(*level)).collect();
                let search = || Knee::new(&levels, *least_growth);
                let at_level = |_, is_scan| length(None, is_scan);
                tried(levels.iter().map(|knee| walked(search(), |at| at.min(*knee), at_level)))
            };
            over(connections).plus(over(threads))
        }
        SearchGoal::Slo { rates, precision, .. } => {
            let search = || {
                let (lowest, highest) = (rates.lowest_per_s, rates.highest_per_s);
                Highest::slo(1.0, lowest, highest, *precision, repeats)
                    .scanning(search.scan_width())
            };
            let best = between(rates.lowest_per_s, rates.highest_per_s);
            tried(best.map(|best| walked(search(), |rate| passed(rate, best), at_rate)))
        }
        SearchGoal::Lossless { rates, precision, .. } => {
            let search = || {
                Highest::lossless(1.0, rates.lowest_per_s, rates.highest_per_s, *precision, repeats)
            };
            let best = between(rates.lowest_per_s, rates.highest_per_s);
            tried(best.map(|best| walked(search(), |rate| passed(rate, best), at_rate)))
        }
        SearchGoal::Cpu { ceiling, rates, .. } => {
            let search =
                || Ceiling::new(*ceiling, rates.lowest_per_s, rates.highest_per_s, repeats);
            let best = between(rates.lowest_per_s, rates.highest_per_s);
            tried(best.map(|best| walked(search(), |rate| ceiling * rate / best, at_rate)))
        }
    };
    let in_noise = |range: Range| Range { most: range.most.saturating_mul(NOISE), ..range };
    let each = Effort { trials: in_noise(each.trials), time_ns: in_noise(each.time_ns) };
    // Each of the loads that were found is measured on every path.
    let equal = if search.equal_load {
        paths.saturating_mul(paths).saturating_mul(rounds.min(3).into())
    } else {
        0
    };
    let ends = match search.goal.rates() {
        Some(rates) => [rates.lowest_per_s, rates.highest_per_s].map(Some),
        None => [None; 2],
    };
    let [slow, fast] = ends.map(|rate| length(rate, false));
    let one = Effort {
        trials: Range::of(1),
        time_ns: Range { least: slow.min(fast), most: slow.max(fast) },
    };
    each.times(paths).plus(one.times(equal))
}

/// What a system shows that keeps a limit of 1 up to `best`.
fn passed(rate: f64, best: f64) -> f64 {
    if rate <= best { 0.1 } else { 10.0 }
}

/// Rates from one to the other, by equal factors.
fn between(lowest: f64, highest: f64) -> impl Iterator<Item = f64> {
    (1..TRIED).map(move |n| lowest * (highest / lowest).powf(f64::from(n) / f64::from(TRIED)))
}

/// The fewest and the most trials of searches, and the shortest and the longest time.
fn tried(walks: impl Iterator<Item = (u64, Nanos)>) -> Effort {
    let (trials, times): (Vec<u64>, Vec<Nanos>) = walks.unzip();
    let span = |values: &[u64]| Range {
        least: values.iter().min().copied().unwrap_or(0),
        most: values.iter().max().copied().unwrap_or(0),
    };
    Effort { trials: span(&trials), time_ns: span(&times) }
}

/// How many trials a search takes of a system without noise, and how long, ns.
fn walked(
    mut search: impl Search,
    system: impl Fn(f64) -> f64,
    length: impl Fn(f64, bool) -> Nanos,
) -> (u64, Nanos) {
    let mut time_ns: Nanos = 0;
    while let (Some(load), Outcome::Searching) = (search.next_load(), search.outcome()) {
        time_ns = time_ns.saturating_add(length(load, search.is_scanning()));
        search.observe(load, Measurement { value: system(load), within: true });
    }
    (search.trace().len() as u64, time_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hopbench_model::{Path, Place, RateRange, ShortTrials, TestbedSpec, fixture};
    use serde_json::{Value, json};

    fn trials(search: &SearchSpec, paths: u64, rounds: u32) -> Range {
        effort(search, paths, rounds, &|_, _| 1).trials
    }

    #[test]
    fn a_search_with_a_scan_takes_the_time_of_its_loads() {
        let rates = RateRange { lowest_per_s: 100.0, highest_per_s: 50_000.0 };
        let goal =
            SearchGoal::Slo { percentile: 99.0, limit_ns: 5_000_000, rates, precision: 0.02 };
        let of = |short| {
            let spec = SearchSpec { repeats: 3, short, ..fixture::search(goal.clone()) };
            let length = |rate: Option<f64>, is_scan| {
                spec.trial_window_ns(rate, is_scan).unwrap_or(10 * SECOND)
            };
            effort(&spec, 1, 3, &length).time_ns
        };
        let short = ShortTrials { least_window_ns: SECOND / 4, suits_warmup: true, burst_ns: 0 };
        let (with, without) = (of(Some(short)), of(None));
        // The longest walks to a low rate, whose windows are of seconds. Most find one within 30 s.
        assert!(with.least < 20 * SECOND && with.most < 6 * 60 * SECOND, "{with:?}");
        assert!(without.least > 5 * 60 * SECOND / 2, "{without:?}");
    }

    /// Within what the searches took when they were simulated with noise (SIMULATIONS.md of the
    /// crate stats).
    #[test]
    fn searches_take_what_they_took_in_simulations() {
        let rates = RateRange { lowest_per_s: 100.0, highest_per_s: 50_000.0 };
        let repeated =
            |goal, repeats| trials(&SearchSpec { repeats, ..fixture::search(goal) }, 1, 3);
        let of = |goal| repeated(goal, 1);
        let holds = |span: Range, simulated: u64| {
            span.least <= simulated && simulated <= span.most && span.most <= 5 * simulated
        };
        let knee = of(SearchGoal::Knee {
            connections: vec![8, 16, 32, 64, 128, 256],
            threads: vec![],
            least_growth: 0.05,
        });
        assert!(holds(knee, 10) && holds(knee, 36), "{knee:?}");
        let slo =
            of(SearchGoal::Slo { percentile: 99.0, limit_ns: 5_000_000, rates, precision: 0.02 });
        assert!(holds(slo, 25), "{slo:?}");
        let cpu = of(SearchGoal::Cpu { of: hopbench_model::CpuOf::Client, ceiling: 0.6, rates });
        assert!(holds(cpu, 13), "{cpu:?}");
        let lossless = |repeats| {
            repeated(SearchGoal::Lossless { loss_share: 0.001, rates, precision: 0.01 }, repeats)
        };
        assert!(
            holds(lossless(1), 16) && holds(lossless(3), 33),
            "{:?} {:?}",
            lossless(1),
            lossless(3)
        );
    }

    #[test]
    fn a_budget_is_for_no_more_rounds_than_a_run_may_have() {
        let plan = Plan { budget_ns: Some(3600 * SECOND), ..fixture::plan(vec![], vec![]) };
        let of = |round_ns| rounds(&plan, round_ns).most;
        assert_eq!([of(7 * SECOND), of(SECOND), of(3 * 3600 * SECOND)], [514, 1000, 1]);
    }

    #[test]
    fn trials_that_wait_for_the_meters_of_a_cluster_take_longer() {
        let of = |runtime: Option<&str>, window_ns| {
            let to = Place { runtime: runtime.map(str::to_owned), ..fixture::place("pod", "b") };
            let path = Path { to, ..fixture::path("p") };
            let mut point = fixture::point("rr", fixture::job("rr", Value::Null));
            point.job.timing.window_ns = window_ns;
            let spec = json!({
                "image": "hopbench", "pull_policy": "Never", "nodes": [],
                "mesh": {"provider": "envoy", "image": "envoy"},
                "network_policy": false, "start_timeout_ns": 1,
            });
            let testbed = TestbedSpec::Kubernetes(serde_json::from_value(spec).unwrap());
            let lab = fixture::plan(vec![path], vec![point]);
            let cluster = Plan { testbed, ..lab.clone() };
            [lab, cluster].map(|plan| Estimate::of(&plan, &plan.cells).time_ns)
        };
        let long = hopbench_run::LEAST_METERED_NS;
        let ([lab, plain], [_, sandboxed]) = (of(None, long), of(Some("runsc"), long));
        // Orders travel, and nodes are asked for their counters.
        assert!(lab.most < plain.most, "{lab:?} {plain:?}");
        let later = |ns: u64| ns + METERS_NS;
        assert_eq!(sandboxed, Range { least: later(plain.least), most: later(plain.most) });
        // Too short for figures of meters.
        assert_eq!(of(Some("runsc"), long - 1), of(None, long - 1));
    }

    #[test]
    fn every_path_is_measured_at_what_was_found_on_each() {
        let goal =
            SearchGoal::Knee { connections: vec![8, 16], threads: vec![], least_growth: 0.05 };
        let of = |paths, equal_load| {
            trials(&SearchSpec { equal_load, ..fixture::search(goal.clone()) }, paths, 2)
        };
        let alone = of(1, false);
        assert_eq!(of(3, false), alone.times(Range::of(3)));
        assert_eq!(of(3, true), alone.times(Range::of(3)).plus(Range::of(3 * 3 * 2)));
    }
}
