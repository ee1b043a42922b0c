use hopbench_model::{Job, RateRange, SECOND, ShortTrials, fixture};
use serde_json::json;

use super::*;

/// A plan with one cell that is searched for `goal`.
pub(in crate::campaign::searches) fn planned(
    workload: &str,
    params: serde_json::Value,
    goal: SearchGoal,
) -> Plan {
    let job = Job { connections: 4, ..fixture::job(workload, params) };
    let point = Point { search: Some(fixture::search(goal)), ..fixture::point("w", job) };
    Plan { rounds: 3, seed: 7, ..fixture::plan(vec![fixture::path("x")], vec![point]) }
}

/// The same, searched so many times.
fn repeated(mut plan: Plan, repeats: u32) -> Plan {
    plan.points[0].search.as_mut().unwrap().repeats = repeats;
    plan
}

fn driver_of(plan: &Plan) -> SearchDriver<'_> {
    SearchDriver::new(plan, plan.cells[0]).unwrap()
}

/// Searches to the end on a system; all that was told.
pub(in crate::campaign::searches) fn run(
    driver: &mut SearchDriver<'_>,
    system: impl Fn(&[Load]) -> f64,
) -> Vec<SearchStep> {
    let mut told = Vec::new();
    while driver.is_open() {
        let value = system(&driver.loads());
        told.push(driver.observe(driver.steps + 1, Measurement { value, within: true }).unwrap().0);
        assert!(told.len() <= 200, "it must end");
    }
    told
}

/// The trial that an earlier session made where a search stands now, with what it says of it.
fn past(driver: &SearchDriver<'_>, step: SearchStep) -> Searched {
    let load = Load { value: step.load, ..driver.next().unwrap() };
    let job = driver.at(&driver.loads(), step.step).unwrap().job;
    Searched {
        trial: driver.trial(Some(load), step.step),
        step,
        job: serde_json::to_value(job).unwrap(),
    }
}

fn value(loads: &[Load], parameter: Parameter) -> f64 {
    loads.iter().find(|load| load.parameter == parameter).map_or(1.0, |load| load.value)
}

/// Each thread serves eight connections at a time, 100 a second each.
fn threaded(loads: &[Load]) -> f64 {
    let (connections, threads) =
        (value(loads, Parameter::Connections), value(loads, Parameter::Threads));
    100.0 * connections.min(8.0 * threads)
}

fn knee(connections: &[u32], threads: &[u32]) -> SearchGoal {
    SearchGoal::Knee {
        connections: connections.to_vec(),
        threads: threads.to_vec(),
        least_growth: 0.05,
    }
}

#[test]
fn a_knee_is_found_over_connections_and_then_over_threads() {
    let plan = planned("rr", json!({"size": "1B"}), knee(&[2, 4, 8, 16, 32], &[1, 2, 16]));
    let mut driver = driver_of(&plan);
    let told = run(&mut driver, threaded);
    let ends: Vec<_> = told.iter().filter(|step| step.outcome.is_some()).collect();
    let is = |step: &SearchStep, parameter: &str, load: f64| {
        step.parameter == parameter
            && matches!(step.outcome, Some(SearchOutcome::Found { load: at, .. }) if at == load)
    };
    // 16 threads for 8 connections cannot be had: 2 are the most.
    assert!(
        ends.len() == 2 && is(ends[0], "connections", 8.0) && is(ends[1], "threads", 1.0),
        "{ends:?}"
    );
    let found: Vec<_> =
        driver.found().iter().map(|load| (load.parameter.name(), load.value)).collect();
    assert_eq!(found, [("threads", 1.0), ("connections", 8.0)]);
    let numbers: Vec<u32> = told.iter().map(|step| step.step).collect();
    assert_eq!(numbers, (1..=u32::try_from(told.len()).unwrap()).collect::<Vec<_>>());
    assert!(told.iter().all(|step| step.goal == "knee" && step.figure == "requests_per_s"));
}

#[test]
fn the_highest_level_is_what_was_found_where_none_is_too_high() {
    let plan = planned("rr", json!({"size": "1B"}), knee(&[2, 4], &[1, 2, 3]));
    let mut driver = driver_of(&plan);
    let told = run(&mut driver, |loads| {
        value(loads, Parameter::Connections) * value(loads, Parameter::Threads)
    });
    let ends: Vec<_> = told.iter().filter_map(|step| step.outcome).collect();
    assert_eq!(ends, [SearchOutcome::AboveHighest, SearchOutcome::AboveHighest]);
    let found: Vec<_> = driver.found().iter().map(|load| load.value).collect();
    assert_eq!(found, [3.0, 4.0]);
    // Threads alone: at the connections that the job has, which no more threads than these can
    // share.
    let plan = planned("rr", json!({"size": "1B"}), knee(&[], &[1, 2, 8]));
    let mut alone = driver_of(&plan);
    assert!(
        run(&mut alone, threaded)
            .iter()
            .all(|step| step.parameter == "threads" && step.load <= 4.0)
    );
}

#[test]
fn rates_can_be_asked_for_as_they_stand_in_the_trace() {
    let rates = RateRange { lowest_per_s: 10.4, highest_per_s: 1e5 };
    let goal = SearchGoal::Lossless { loss_share: 0.001, rates, precision: 0.01 };
    let plan =
        repeated(planned("udp", json!({"size": "1000B", "rate": "1Mbit", "gso": 1}), goal), 2);
    let mut driver = driver_of(&plan);
    let told = run(&mut driver, |loads| (1.0 - 4321.0 / value(loads, Parameter::Rate)).max(0.0));
    assert!(told.iter().all(|step| step.load.fract() == 0.0), "whole datagrams");
    let last = told.last().unwrap();
    assert!(
        matches!(
            last.outcome,
            Some(SearchOutcome::Found { load, .. })
                if load.fract() == 0.0 && (load / 4321.0 - 1.0).abs() < 0.012
        ),
        "{last:?}"
    );
    // The lowest that can be asked for ends a search, too.
    let rates = RateRange { lowest_per_s: 1.0 / 3.0, highest_per_s: 1e5 };
    let slo = SearchGoal::Slo { percentile: 99.0, limit_ns: 10, rates, precision: 0.02 };
    let plan = planned("rr", json!({"size": "1B"}), slo);
    let mut low = driver_of(&plan);
    let told = run(&mut low, |_| 1e9);
    assert_eq!(
        (told.last().unwrap().outcome, low.found()),
        (Some(SearchOutcome::BelowLowest), Vec::new())
    );
}

#[test]
fn a_search_goes_on_from_any_trial_as_if_nothing_had_happened() {
    let rates = RateRange { lowest_per_s: 100.0, highest_per_s: 50_000.0 };
    let slo = SearchGoal::Slo { percentile: 99.0, limit_ns: 5000, rates, precision: 0.02 };
    // What a value is when it was read from a disk again.
    let read = |step: &SearchStep| {
        serde_json::from_str::<SearchStep>(&serde_json::to_string(step).unwrap()).unwrap()
    };
    for goal in [knee(&[2, 4, 8, 16, 32], &[1, 2]), slo] {
        let plan = repeated(planned("rr", json!({"size": "1B"}), goal), 2);
        let system = |loads: &[Load]| match value(loads, Parameter::Rate) {
            1.0 => threaded(loads) * (1.0 + loads.len() as f64 / 97.0),
            rate => 1e6 / (1300.0 - rate).max(1.0) / 3.0,
        };
        let whole = run(&mut driver_of(&plan), system);
        for cut in 0..=whole.len() {
            let mut again = driver_of(&plan);
            let mut replay = |step| {
                let past = past(&again, read(step));
                again.replay(&past)
            };
            assert!(whole[..cut].iter().all(&mut replay), "cut at {cut}");
            let rest = run(&mut again, system);
            assert_eq!(rest, whole[cut..], "cut at {cut}");
        }
        // What it would not have asked for is not taken.
        let mut strange = driver_of(&plan);
        let odd = past(&strange, SearchStep { load: 3.5, ..whole[0].clone() });
        assert!(strange.has_made(&odd) && !strange.replay(&odd));
        assert_eq!(run(&mut strange, system).len(), whole.len());
    }
}

/// What was found of the connections is not what it was when the threads were tried.
#[test]
fn threads_are_taken_at_the_connections_that_were_found() {
    let plan = planned("rr", json!({"size": "1B"}), knee(&[2, 4, 8, 16], &[1, 2]));
    let mut driver = driver_of(&plan);
    let whole = run(&mut driver, threaded);
    let first = whole.iter().position(|step| step.parameter == "threads").unwrap();
    let mut again = driver_of(&plan);
    for step in &whole[..first] {
        let past = past(&again, step.clone());
        assert!(again.replay(&past));
    }
    let made = past(&again, whole[first].clone());
    assert_eq!((&made.job["connections"], &made.job["threads"]), (&json!(8), &json!(1)));
    let mut elsewhere = made.clone();
    elsewhere.job["connections"] = json!(4);
    assert!(!again.replay(&elsewhere) && again.replay(&made));
}

#[test]
fn three_failures_in_a_row_end_it() {
    let plan = planned("rr", json!({"size": "1B"}), knee(&[2, 4], &[]));
    let mut driver = driver_of(&plan);
    assert_eq!((driver.failed(), driver.failed()), (false, false));
    driver.observe(1, Measurement { value: 1.0, within: true });
    assert_eq!((driver.failed(), driver.failed(), driver.is_open()), (false, false, true));
    assert!(driver.failed() && !driver.is_open() && driver.found().is_empty());
}

/// 64 KiB at 10 Mbit are 19 a second: a step is 5 %, and nothing lies between two of them.
#[test]
fn a_search_ends_where_no_rate_between_can_be_asked_for() {
    for (clients, repeats, precision) in [(1, 1, 0.01), (1, 3, 0.01), (3, 3, 0.01), (2, 2, 0.001)] {
        let step = f64::from(clients);
        for most in 11..40 {
            let most = f64::from(most) * step + 0.5;
            let rates = RateRange { lowest_per_s: 10.0 * step, highest_per_s: 400.0 * step };
            let lossless = SearchGoal::Lossless { loss_share: 0.001, rates, precision };
            let slo = SearchGoal::Slo { percentile: 99.0, limit_ns: 1000, rates, precision };
            let cpu = SearchGoal::Cpu { of: hopbench_model::CpuOf::Client, ceiling: 0.6, rates };
            for (goal, good, bad) in [(lossless, 0.0, 0.5), (slo, 10.0, 1e6), (cpu, 0.3, 0.9)] {
                let plan =
                    planned("udp", json!({"size": "64000B", "rate": "10Mbit", "gso": 1}), goal);
                let mut plan = repeated(plan, repeats);
                plan.paths[0].clients = clients;
                let told = run(&mut driver_of(&plan), |loads| {
                    if value(loads, Parameter::Rate) < most { good } else { bad }
                });
                let last = told.last().unwrap();
                let Some(SearchOutcome::Found { load, low, high }) = last.outcome else {
                    panic!("{most}: {last:?}")
                };
                assert!(load < most && most < load + step, "{clients} {most}: {last:?}");
                // Each search ends with what it found, and says so.
                let results: Vec<f64> = told.iter().filter_map(|step| step.found).collect();
                assert_eq!(results, vec![load; repeats as usize], "{clients} {most}: {last:?}");
                if repeats == 1 {
                    assert_eq!((low, high), (load, Some(load + step)), "one step");
                }
            }
        }
    }
}

#[test]
fn a_search_with_a_scan_goes_on_where_it_was_cut() {
    let rates = RateRange { lowest_per_s: 100.0, highest_per_s: 50_000.0 };
    let goal = SearchGoal::Slo { percentile: 99.0, limit_ns: 5_000_000, rates, precision: 0.02 };
    let mut plan = planned("http", json!({"url": "http://a/"}), goal);
    let short = ShortTrials { least_window_ns: SECOND / 4, suits_warmup: false, burst_ns: 0 };
    plan.points[0].search.as_mut().unwrap().short = Some(short);
    let spec = plan.points[0].search.clone().unwrap();
    let system = |loads: &[Load]| value(loads, Parameter::Rate) / 3000.0 * 5e6;
    let (mut whole, mut made) = (driver_of(&plan), Vec::new());
    while whole.is_open() {
        let (rate, step) = (whole.next().unwrap().value, whole.steps + 1);
        let window_ns = whole.next_point(step).unwrap().job.timing.window_ns;
        let seen = Measurement { value: system(&whole.loads()), within: true };
        // As a later session will find it.
        let mut earlier = past(&whole, whole.step(whole.next().unwrap(), step, "?"));
        earlier.step = whole.observe(step, seen).unwrap().0;
        let is_scan = earlier.step.why == SCAN;
        let expected = if is_scan { spec.scan_window_ns(rate) } else { spec.window_ns(Some(rate)) };
        assert_eq!(Some(window_ns), expected, "{:?}", earlier.step);
        made.push(earlier);
    }
    let scans = made.iter().take_while(|past| past.step.why == SCAN).count();
    assert!((5..20).contains(&scans), "{scans}");
    assert!(made[scans..].iter().all(|past| past.step.why != SCAN));
    for cut in 0..made.len() {
        let mut later = driver_of(&plan);
        assert!(made[..cut].iter().all(|past| later.replay(past)), "{cut}");
        let rest: Vec<SearchStep> = run(&mut later, system);
        let expected: Vec<&SearchStep> = made[cut..].iter().map(|past| &past.step).collect();
        assert_eq!(rest.iter().collect::<Vec<_>>(), expected, "{cut}");
    }
    // What is measured at loads that were found elsewhere is no trial of a scan.
    let fresh = driver_of(&plan);
    let load = Load { parameter: Parameter::Rate, value: 1000.0 };
    let at_load = fresh.at(&[load], 1).unwrap();
    assert_eq!(Some(at_load.job.timing.window_ns), spec.window_ns(Some(1000.0)));
}
