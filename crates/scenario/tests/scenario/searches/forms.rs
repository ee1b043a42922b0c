//! `search:` as people write it: forms of rates and levels, and all mistakes at once.

use hopbench_model::{RateRange, Schedule, SearchGoal};
use hopbench_scenario::Overrides;
use serde_json::json;

use crate::bad_input::rows;
use crate::common::{lines, plan, try_with, with};

#[test]
fn rates_and_levels_take_the_forms_that_people_write() {
    let goal = |search: &str| {
        let plan = plan(&with(&format!("{{rr: , search: {{{search}}}}}")));
        plan.points[0].search.clone().expect("a search").goal
    };
    let rates = |lowest_per_s, highest_per_s| RateRange { lowest_per_s, highest_per_s };
    let slo = |range| SearchGoal::Slo {
        percentile: 99.0,
        limit_ns: 5_000_000,
        rates: range,
        precision: 0.02,
    };
    assert_eq!(goal("slo: {p99: 5ms, rates: 1k..10k}"), slo(rates(1e3, 1e4)));
    assert_eq!(goal("slo: {p99: 5ms, rates: 500 .. 1.5M}"), slo(rates(500.0, 1.5e6)));
    let SearchGoal::Knee { connections, threads, .. } =
        goal("knee: {connections: 1..64, threads: 1..3}")
    else {
        panic!("a knee");
    };
    assert_eq!((connections, threads), (vec![1, 2, 4, 8, 16, 32, 64], vec![1, 2, 3]));
    // A rate beside no search, too; it stands in points as the number that it is.
    let of = |rate: &str| {
        let points = plan(&with(&format!("{{rr: {{rate: {rate}}}}}"))).points;
        points
            .into_iter()
            .map(|p| (p.job.schedule, p.point.get("rate").cloned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(of("10k"), [(Schedule::Rate(1e4), None)]);
    let two = [
        (Schedule::Rate(1500.0), Some(json!(1500))),
        (Schedule::Rate(1e6), Some(json!(1_000_000))),
    ];
    assert_eq!(of("[1.5k, 1M]"), two);
    assert_eq!(of("{from: 1k, to: 4k, factor: 4}").len(), 2);
}

/// One mistake does not hide its neighbours.
#[test]
fn all_that_is_wrong_with_a_search_is_said_at_once() {
    let table = "
        {rr: {rate: 5, connections: 4}, search: {knee: {connections: [8, 4], growth: -1%}, errors:
                2, equal-load: true}}
            rr.rate: found `rate` beside a search
            rr.connections: found `connections` beside a search
            search: found `equal-load` on one path
            connections: found `4`, expected more than
            growth: found `-1%`
            errors: found `2`
        {rr: {rate: 5, schedule: closed}, search: {slo: {p99: soon, rates: 9..2, precision: 90%}}}
            rr.rate: found `rate`
            rr.schedule: found `schedule`
            slo.p99: found `soon`
            slo.rates: found `9..2`, expected the lower rate first
            slo.precision: found `90%`
        {rr: , search: {cpu: {rates: 10ms..10GB}}}
            no `of`
            no `ceiling`
            found `10ms`
            found `10GB`
        {udp: {siez: 5}, search: {lossless: {rates: 2Mbit..1Mbit, repeats: 0}}}
            udp.siez
            no `loss`
            found `2Mbit..1Mbit`
            repeats: found `0`
        {rr: , search: {knee: {connections: 5..2}, slo: {p99: 0, rates: 1..2}}}
            found `5..2`, expected levels like [8, 16, 32], or 1..64 for
            found `slo` too
            slo.p99: found `0`
    ";
    for (workload, parts) in rows(table) {
        let text = with(&workload);
        let said = lines(&try_with(&text, &Overrides::default()).expect_err("wrong"));
        assert_eq!(said.lines().count(), parts.len(), "{said}");
        for part in &parts {
            assert!(said.contains(part), "no `{part}`: {said}");
        }
    }
}
