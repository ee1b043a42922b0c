//! The windows of a run with a budget: short, or so long that its rounds use it.

use hopbench_model::{Plan, SECOND, Timing};
use hopbench_scenario::{Overrides, SHIPPED};

use crate::common::{resolved, testbed};

const MILLISECOND: u64 = SECOND / 1000;

/// Workloads on paths of these names.
fn scenario(keys: &str, paths: &[&str], workloads: &str) -> String {
    let path = |name: &&str| format!("{name}: bridge@a -> bridge@b");
    let paths = paths.iter().map(path).collect::<Vec<_>>().join(", ");
    format!("name: x\n{keys}\npaths: {{{paths}}}\nworkloads: {{{workloads}}}\n")
}

/// `rr` on the baseline and another path.
fn two(keys: &str) -> String {
    scenario(&format!("baseline: p\n{keys}"), &["p", "q"], "w: rr")
}

fn plan(text: &str) -> Plan {
    resolved(text, &Overrides::default()).plan
}

fn timing(text: &str) -> Timing {
    plan(text).points[0].job.timing
}

/// Of each point, ms.
fn windows(plan: &Plan) -> Vec<u64> {
    plan.points.iter().map(|point| point.job.timing.window_ns / MILLISECOND).collect()
}

#[test]
fn a_long_budget_makes_windows_longer_so_that_its_rounds_use_it() {
    for (budget, ms) in
        [("2m30s", 120), ("7m", 120), ("8m", 140), ("30m", 610), ("1h", 1240), ("10h", 10_000)]
    {
        let timing = timing(&two(&format!("budget: {budget}")));
        let found = [timing.warmup_ns, timing.window_ns, timing.interval_ns];
        assert_eq!(found.map(|ns| ns / MILLISECOND), [10, ms, ms], "{budget}");
    }
    // As `hopbench plan` estimates trials, and with the shortest that were seen.
    let plan = plan(&two("budget: 30m"));
    assert_eq!(plan.cells.len(), 3);
    for between_ms in [20, 60] {
        let trial_ms = windows(&plan)[0] + 10 + between_ms;
        let rounds = 30 * 60_000 / (3 * trial_ms);
        assert!((870..950).contains(&rounds), "{rounds} rounds with {between_ms} ms");
    }
}

#[test]
fn what_is_said_stays() {
    let ms = |keys: &str, over: &Overrides| {
        let timing = resolved(&two(keys), over).plan.points[0].job.timing;
        [timing.window_ns, timing.interval_ns].map(|ns| ns / MILLISECOND)
    };
    let none = Overrides::default();
    let long = Overrides { budget: "30m".parse().ok(), ..none.clone() };
    assert_eq!(ms("rounds: 3", &long), [610, 610]);
    assert_eq!(ms("budget: 30m\ninterval: 50ms", &none), [610, 50]);
    assert_eq!(ms("budget: 30m\ntime: 200ms", &none)[0], 200);
    let time = Overrides { time: "300ms".parse().ok(), ..none.clone() };
    assert_eq!(ms("budget: 30m", &time)[0], 300);
    // So many rounds, however long they take.
    let rounds = Overrides { rounds: Some(7), ..none.clone() };
    assert_eq!(ms("budget: 30m", &rounds), [120, 120]);
    // Some windows are said, and the others use the rest.
    let both = scenario("budget: 30m", &["p"], "w: rr, said: {rr: {time: 1s}}");
    assert_eq!(windows(&plan(&both)), [840, 1000]);
    let count = scenario("budget: 10m", &["p"], "w: {ping: {every: 10ms, count: 5}}");
    let rounds = resolved(&count, &rounds).plan;
    assert_eq!(windows(&plan(&count)), windows(&rounds));
}

#[test]
fn a_window_that_is_longer_already_grows_with_the_others_only() {
    let of = |budget: &str| {
        let keys = format!("baseline: p\nbudget: {budget}");
        windows(&plan(&scenario(&keys, &["p", "q"], "w: rr, slow: {rr: {rate: 20}}")))
    };
    // 30 requests take 1.5 s.
    assert_eq!(of("30m"), [120, 1500]);
    assert_eq!(of("1h"), [470, 1500]);
    assert_eq!(of("3h"), [3010, 3010]);
}

#[test]
fn the_cells_that_are_measured_decide_with_those_that_can_rest() {
    let of = |keys: &str, paths: &[&str], over: &Overrides| {
        let plan = resolved(&scenario(&format!("budget: 30m\n{keys}"), paths, "w: rr"), over).plan;
        (plan.cells.len(), windows(&plan)[0])
    };
    let none = Overrides::default();
    assert_eq!(of("baseline: p", &["p", "q"], &none), (3, 610));
    assert_eq!(of("baseline: p\na-a: false", &["p", "q"], &none), (2, 920));
    assert_eq!(of("", &["p", "q"], &none), (2, 920));
    // A visit has hardly any warm-up.
    assert_eq!(of("baseline: p\nstay-connected: true", &["p", "q"], &none), (3, 620));
    // One path can rest while the other is open, so there are more rounds than of all cells.
    assert_eq!(of("baseline: p", &["p", "q", "r"], &none), (4, 560));
    assert_eq!(of("", &["p", "q", "r"], &none), (3, 610), "nothing to compare");
    let only = Overrides { only: vec!["path=q".to_owned()], ..none.clone() };
    assert_eq!(of("baseline: p", &["p", "q"], &only), (1, 1870));
    let subjects = ["old", "new"].map(str::to_owned).to_vec();
    let subjects = Overrides { subjects, ..none.clone() };
    assert_eq!(of("", &["p"], &subjects), (3, 610), "one of them twice");
    // Of many cells, not all but one rest: at least 475 rounds of all.
    let paths = ["p", "q", "r", "s", "t", "u", "v", "w", "x"];
    assert_eq!(of("baseline: p", &paths, &none), (10, 350));
}

#[test]
fn elsewhere_windows_are_longer_and_grow_too() {
    let of = |budget: &str| {
        let text = two(&format!("budget: {budget}"));
        windows(&resolved(&text, &testbed("kubernetes")).plan)[0]
    };
    assert_eq!([of("10m"), of("30m")], [250, 570]);
}

#[test]
fn a_tool_measures_for_whole_seconds_beside_a_longer_window() {
    let of = |budget: &str| {
        let text = scenario(&format!("budget: {budget}"), &["p"], "w: {stream: , peer: iperf3}");
        windows(&plan(&text))
    };
    assert_eq!(of("30m"), [820, 1000]);
    assert_eq!(of("2h"), [4500, 3000]);
}

#[test]
fn searches_keep_their_windows() {
    let search = "w: {rr: , search: {slo: {p99: 5ms, rates: 100..50000}}}";
    let of = |budget: &str| {
        plan(&scenario(&format!("baseline: p\nbudget: {budget}"), &["p", "q"], search)).points
    };
    assert_eq!(of("10h"), of("1m"));
    let beside = |budget: &str| {
        let workloads = format!("{search}, rounds: rr");
        windows(&plan(&scenario(&format!("budget: {budget}"), &["p"], &workloads)))
    };
    let (short, long) = (beside("1m"), beside("10h"));
    assert_eq!((short[0], short[1], long[1]), (long[0], 120, 10_000));
}

#[test]
fn no_budget_of_a_shipped_scenario_is_so_long() {
    for scenario in SHIPPED {
        let of = |over: &Overrides| windows(&resolved(scenario.text, over).plan);
        let rounds = Overrides { rounds: Some(3), ..Overrides::default() };
        assert_eq!(of(&Overrides::default()), of(&rounds), "{}", scenario.name);
    }
}
