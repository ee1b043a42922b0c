//! Keys of how sure figures are to be: `rounds`, `budget`, `stop`, `a-a`, `minimum-effect`.

use hopbench_model::{Plan, SECOND, StopRule};
use hopbench_scenario::Overrides;

use crate::bad_input::compare;
use crate::common::{lines, plan, resolved, try_plan, try_with};

fn with(key: &str) -> String {
    format!("name: x\n{key}\npaths: {{p: host@a -> host@b}}\nworkloads: {{w: rr}}\n")
}

#[test]
fn rounds_go_on_until_enough_is_known() {
    let of = |keys: &str| {
        let plan = plan(&with(&format!("stop: {keys}")));
        (plan.rounds, plan.stop.expect("a rule"))
    };
    let rule = |share, metric: &str, min_rounds, budget_ns| StopRule {
        half_width_share: share,
        metric: metric.to_owned(),
        min_rounds,
        budget_ns,
    };
    assert_eq!(of("{ci: 2%}"), (20, rule(0.02, "throughput", 3, None)));
    assert_eq!(
        of("{ci: 0.05, metric: p99, min-rounds: 4, max-rounds: 12, budget: 10m}"),
        (12, rule(0.05, "p99", 4, Some(600 * SECOND)))
    );
    assert_eq!(
        of("{ci: 1 %, max_rounds: 5, min_rounds: 5, budget: 90}"),
        (5, rule(0.01, "throughput", 5, Some(90 * SECOND)))
    );
    assert_eq!(of("{ci: 1%, min-rounds: 30}").0, 30, "as many as are made in any case");
    assert_eq!(of("{ci: 1%, metric: p99.9}").1.metric, "p999");
    assert_eq!(of("{ci: 1%, metric: retransmitted_segments}").1.metric, "retransmitted_segments");
    assert_eq!(of("{ci: 1%, metric: proxy_cores}").1.metric, "proxy_cores");
    let fixed = plan(&with("rounds: 4"));
    assert_eq!((fixed.rounds, fixed.stop), (4, None));
    // Exactly so many, whatever the scenario says.
    let over = Overrides { rounds: Some(7), ..Overrides::default() };
    let plan = resolved(&with("stop: {ci: 2%, max-rounds: 5, budget: 1m}"), &over).plan;
    assert_eq!((plan.rounds, plan.stop), (7, None));
    let over = Overrides { rounds: Some(0), ..Overrides::default() };
    let said = lines(&try_with(&with("stop: {ci: 2%}"), &over).expect_err("no rounds"));
    assert_eq!(said, "--rounds: found `0`, expected 1 to 1000");
}

/// Warm-up and window of the first workload, ms.
fn times(plan: &Plan) -> (u64, u64) {
    let timing = plan.points[0].job.timing;
    (timing.warmup_ns / 1_000_000, timing.window_ns / 1_000_000)
}

#[test]
fn a_budget_makes_trials_short_and_their_number_open() {
    let of = |keys: &str, over: &Overrides| resolved(&with(keys), over).plan;
    let none = Overrides::default();
    let budget = of("budget: 2m30s", &none);
    assert_eq!((budget.rounds, budget.most_rounds()), (1, 1000));
    assert_eq!((budget.budget_ns, budget.stop), (Some(150 * SECOND), None));
    assert_eq!(times(&of("budget: 90", &none)), (10, 120));
    assert_eq!(times(&of("budget: 90\ntime: 1s\nwarmup: 300ms", &none)), (300, 1000));
    let usual = times(&of("rounds: 3", &none));
    // The command line has the last word, and leaves trials as short as they are.
    let rounds = of("budget: 90", &Overrides { rounds: Some(7), ..none.clone() });
    assert_eq!((rounds.rounds, rounds.budget_ns, times(&rounds)), (7, None, (10, 120)));
    let budget = Overrides { budget: "30s".parse().ok(), ..none.clone() };
    for keys in ["rounds: 9", "stop: {ci: 2%}", "budget: 1h"] {
        let plan = of(keys, &budget);
        assert_eq!((plan.budget_ns, times(&plan)), (Some(30 * SECOND), (10, 120)), "{keys}");
        assert_eq!(plan.stop, None);
    }
    assert!(usual.1 > 1000);
    for (keys, said) in [
        ("budget: soon", "x.yaml:2:9: budget: found `soon`, expected a time from 1s on, like 10m"),
        ("budget: 1ms", "x.yaml:2:9: budget: found `1ms`, expected a time from 1s on, like 10m"),
        (
            "budget: 10m\nrounds: 3",
            "x.yaml:2:9: budget: found `budget` beside `rounds`, expected only one of them: \
             `budget` is time for the rounds, `rounds` is their number, and `stop` is as many as \
             each cell needs",
        ),
    ] {
        assert_eq!(lines(&try_with(&with(keys), &none).expect_err(keys)), said);
    }
    let over = Overrides { budget: "10ms".parse().ok(), ..none };
    let said = lines(&try_with(&with("rounds: 3"), &over).expect_err("too short"));
    assert_eq!(said, "--budget: found `10ms`, expected a time from 1s on, like 10m");
}

#[test]
fn a_run_of_which_nobody_says_how_long_it_is_has_a_budget() {
    let of = |keys: &str, over: &Overrides| resolved(&with(keys), over).plan;
    let none = Overrides::default();
    let default = of("seed: 1", &none);
    // One cell: with windows of 120 ms there would be too many rounds.
    assert_eq!((default.budget_ns, times(&default)), (Some(150 * SECOND), (10, 130)));
    assert_eq!(default, of("seed: 1\nbudget: 2m30s", &none), "as if the scenario said so");
    // What is said of trials stays, as with any budget.
    for (keys, expected) in [
        ("time: 2s", (10, 2000)),
        ("warmup: 300ms", (300, 120)),
        ("time: 2s\nwarmup: 300ms", (300, 2000)),
    ] {
        let plan = of(keys, &none);
        assert_eq!((plan.budget_ns, times(&plan)), (Some(150 * SECOND), expected), "{keys}");
    }
    // Whoever says one of the three, has that.
    let rounds = of("rounds: 3", &none);
    assert_eq!((rounds.rounds, rounds.budget_ns, times(&rounds)), (3, None, (1000, 10_000)));
    let rule = of("stop: {ci: 2%}", &none);
    assert_eq!((rule.stop.is_some(), rule.budget_ns, times(&rule)), (true, None, (1000, 10_000)));
    let over = Overrides { rounds: Some(4), ..none.clone() };
    let rounds = of("seed: 1", &over);
    assert_eq!((rounds.rounds, rounds.budget_ns, times(&rounds)), (4, None, (1000, 10_000)));
    let over = Overrides { budget: "30s".parse().ok(), ..none };
    assert_eq!(of("seed: 1", &over).budget_ns, Some(30 * SECOND));
}

/// The budget that nobody said is for rounds: searches end when they have found something.
#[test]
fn searches_alone_have_no_budget_that_nobody_said() {
    let found = "find: {rr: , search: {slo: {p99: 5ms, rates: 100..50000}}}";
    let of = |keys: &str, workloads: &str, only: &[&str]| {
        let text =
            format!("name: x\n{keys}paths: {{p: host@a -> host@b}}\nworkloads: {{{workloads}}}\n");
        let only = only.iter().map(|filter| (*filter).to_owned()).collect();
        resolved(&text, &Overrides { only, ..Overrides::default() }).plan
    };
    let is_short = |plan: &Plan| {
        let search = plan.points[0].search.as_ref();
        search.is_some_and(|search| search.short.is_some())
    };
    let alone = of("", found, &[]);
    assert_eq!((alone.budget_ns, alone.rounds, is_short(&alone)), (None, 3, true));
    let of_rounds = of("rounds: 3\n", found, &[]);
    assert_eq!((is_short(&of_rounds), times(&of_rounds)), (false, (1000, 10_000)));
    assert!(!is_short(&of("stop: {ci: 2%}\n", found, &[])));
    // Beside rounds, they are the same trials.
    let both = format!("{found}, ask: rr");
    let beside = of("", &both, &[]);
    assert_eq!((beside.budget_ns, is_short(&beside)), (Some(150 * SECOND), true));
    assert_eq!(beside, of("budget: 2m30s\n", &both, &[]));
    assert_eq!(alone.points, beside.points[..1]);
    // The same trials, but nothing that ends them.
    let left = of("", &both, &["workload=find"]);
    assert_eq!((left.budget_ns, left.rounds, is_short(&left)), (None, 3, true));
    assert_eq!(left.points, beside.points[..1]);
    let said = of("budget: 2m30s\n", &both, &["workload=find"]);
    assert_eq!(said.budget_ns, Some(150 * SECOND));
    assert_eq!(of("", &both, &["workload=ask"]).budget_ns, Some(150 * SECOND));
}

#[test]
fn a_metric_is_one_that_a_workload_with_rounds_has() {
    let of = |metric: &str, workloads: &str| {
        let text = format!(
            "name: x\nstop: {{ci: 2%, metric: {metric}}}\npaths: {{p: host@a -> host@b}}\n\
             workloads: {{{workloads}}}\n"
        );
        try_with(&text, &Overrides::default()).map(|_| ()).map_err(|problems| lines(&problems))
    };
    let (bulk, ask) = ("bulk: stream", "ask: rr");
    // One of them has it.
    assert_eq!(of("requests_per_s", &format!("{bulk}, {ask}")), Ok(()));
    assert_eq!(of("p99", &format!("{bulk}, {ask}")), Ok(()));
    assert_eq!(of("to_server_sent_bits_per_s", "both: {stream: {direction: both}}"), Ok(()));
    // None has.
    let lacking = of("requests_per_s", bulk).expect_err("a stream asks nothing");
    assert!(
        lacking.starts_with(
            "x.yaml:2:24: stop.metric: found `requests_per_s`, expected one of throughput, \
             received_bits_per_s,"
        ),
        "{lacking}"
    );
    assert!(of("p99", bulk).expect_err("a stream has no latency").contains("found `p99`"));
    // What is searched has no rounds.
    let searched = "ask: {rr: , search: {knee: {connections: [1, 2]}}}";
    assert!(of("requests_per_s", &format!("{bulk}, {searched}")).is_err());
    // Nobody has.
    let unknown = of("request_per_s", ask).expect_err("no such metric");
    assert!(
        unknown
            .contains("found `request_per_s`, expected one of throughput, p50, p90, p99, p999, "),
        "{unknown}"
    );
    assert!(unknown.ends_with("did you mean `requests_per_s`?"), "{unknown}");
    assert!(of("foo_bar", ask).expect_err("no such metric").contains("found `foo_bar`"));
    // It is said beside all else.
    assert_eq!(of("foo_bar", "ask: {rr: {siez: 1}}").expect_err("two things").lines().count(), 2);
    // As `compare` writes it.
    for spelled in ["p99_service", "service_p99_ns", "p99_response"] {
        let said = of(spelled, ask).expect_err("not here");
        assert!(
            said.contains(&format!(
                "found `{spelled}`, expected `p99`: of the response time where there is a rate"
            )),
            "{said}"
        );
    }
}

#[test]
fn stops_that_make_no_sense() {
    let rows = r"
        {}
            x.yaml:2:7: stop: found no `ci`, expected how narrow is enough, like 2% or 0.02: half
                the interval as a share of the figure, 0.1% to 50%
        2%
            x.yaml:2:7: stop: found `2%`, expected a mapping like {ci: 2%, metric: throughput,
                max-rounds: 20, budget: 10m}
        {ci: 2}
            x.yaml:2:12: stop.ci: found `2`, expected how narrow is enough, like 2% or 0.02: half
                the interval as a share of the figure, 0.1% to 50%
        {ci: 0%}
            x.yaml:2:12: stop.ci: found `0%`, expected how narrow is enough, like 2% or 0.02: half
                the interval as a share of the figure, 0.1% to 50%
        {ci: narrow}
            x.yaml:2:12: stop.ci: found `narrow`, expected how narrow is enough, like 2% or 0.02:
                half the interval as a share of the figure, 0.1% to 50%
        {ci: 2%, metrik: p99}
            x.yaml:2:16: stop.metrik: found `metrik`, expected one of ci, metric, min-rounds,
                max-rounds, budget; did you mean `metric`?
        {ci: 2%, metric: p95}
            x.yaml:2:24: stop.metric: found `p95`, expected one of throughput, p50, p90, p99, p999;
                did you mean `p90`?
        {ci: 2%, metric: througput}
            x.yaml:2:24: stop.metric: found `througput`, expected one of throughput, p50, p90, p99,
                p999; did you mean `throughput`?
        {ci: 2%, metric: CPU/req}
            x.yaml:2:24: stop.metric: found `CPU/req`, expected one of throughput, p50, p90, p99,
                p999, or a metric as records call it, like requests_per_s
        {ci: 2%, metric: [p50]}
            x.yaml:2:24: stop.metric: found a list, expected the name of a metric, like throughput
                or p99
        {ci: 2%, min-rounds: 2}
            x.yaml:2:28: stop.min-rounds: found `2`, expected a whole number from 3 to 1000: fewer
                rounds show no interval to stop by
        {ci: 2%, max-rounds: 1001}
            x.yaml:2:28: stop.max-rounds: found `1001`, expected 1 to 1000
        {ci: 2%, max-rounds: 2}
            x.yaml:2:28: stop.max-rounds: found `2`, expected at least min-rounds, 3
        {ci: 2%, min-rounds: 9, max-rounds: 5}
            x.yaml:2:43: stop.max-rounds: found `5`, expected at least min-rounds, 9
        {ci: 2%, budget: soon}
            x.yaml:2:24: stop.budget: found `soon`, expected a time from 1s on, like 10m
        {ci: 2%, budget: 10ms}
            x.yaml:2:24: stop.budget: found `10ms`, expected a time from 1s on, like 10m
        {ci: 2%}\nrounds: 3
            x.yaml:2:7: stop: found `stop` beside `rounds`, expected only one of them: `budget` is
                time for the rounds, `rounds` is their number, and `stop` is as many as each cell
                needs
    ";
    compare(rows, |stop| with(&format!("stop: {stop}")));
}

#[test]
fn effects_of_no_interest_and_pairs_that_cannot_be() {
    let effect = |key: &str| plan(&with(key)).minimum_effect;
    assert_eq!(
        [effect("minimum-effect: 2%"), effect("minimum_effect: 0.1"), effect("seed: 1")],
        [0.02, 0.1, 0.0]
    );
    let rows = "
        minimum-effect: 2
            x.yaml:2:17: minimum-effect: found `2`, expected a share like 2% or 0.02, 0% to 100%
        minimum-effect:
            x.yaml:2:1: minimum-effect: found nothing, expected a share like 2% or 0.02, 0% to 100%
        a-a: maybe
            x.yaml:2:6: a-a: found `maybe`, expected true or false
        a-a: true
            x.yaml:2:6: a-a: found `true` without a baseline, expected `baseline`, which is measured
                twice
    ";
    compare(rows, with);
    assert!(try_plan(&with("a-a: false")).is_ok(), "what is not there can be left out");
}

fn shown(plan: &Plan) -> Vec<String> {
    let cell = |cell: &hopbench_model::Cell| {
        let (path, point) = plan.at(*cell);
        let size = point
            .point
            .get("size")
            .map(|size| format!(" {}", size.as_str().expect("a size")))
            .unwrap_or_default();
        format!("{}: {}{size}", path.name, point.workload)
    };
    plan.cells.iter().map(cell).collect()
}

#[test]
fn the_baseline_is_measured_once_more() {
    let text = "name: x\nbaseline: q\n\
                paths: {p: host@a -> host@b, q: {from: bridge@a, to: bridge@c, via: cluster-ip, \
                clients: 2, backends: 3}}\n\
                workloads:\n  one: {rr: {size: [1, 2]}}\n  two: {stream: {}, paths: p}\n  \
                three: {http: {}, paths: q}\n  \
                four: {http: {}, search: {slo: {p99: 5ms, rates: 1..9}}}\n";
    let plan = plan(text);
    let names: Vec<&str> = plan.paths.iter().map(|path| path.name.as_str()).collect();
    assert_eq!(names, ["p", "q", "q again"]);
    assert_eq!(plan.twin.as_deref(), Some("q again"));
    let mut twin = plan.paths[2].clone();
    twin.name = "q".to_owned();
    assert_eq!(twin, plan.paths[1], "the same in all but the name");
    let own: Vec<String> =
        shown(&plan).into_iter().filter(|cell| cell.starts_with("q again")).collect();
    assert_eq!(
        own,
        ["q again: one 1B", "q again: one 2B"],
        "all that rounds measure and another path has, too"
    );
    // Who does not want it, has nothing to compare, or nothing in rounds, has none.
    for other in [
        text.replace("baseline: q", "a-a: false\nbaseline: q"),
        text.replace("baseline: q\n", ""),
        "name: x\nbaseline: p\npaths: {p: host@a -> host@b}\nworkloads: {w: rr}\n".to_owned(),
        "name: x\nbaseline: p\npaths: {p: host@a -> host@b, q: host@a -> host@c}\n\
         workloads: {w: {rr: {}, search: {slo: {p99: 5ms, rates: 1..9}}}}\n"
            .to_owned(),
    ] {
        let plan = crate::common::plan(&other);
        assert_eq!(plan.twin, None, "{other}");
        assert!(plan.paths.iter().all(|path| !path.name.contains("again")), "{other}");
    }
}

#[test]
fn the_twin_of_a_variant_is_set_up_like_it() {
    let text = "name: x\nbaseline: both.stats\npaths: {both: bridge@a -> bridge@b mesh both}\n\
        mesh: {variants: [plain, stats]}\nworkloads: {w: rr}\n";
    let plan = plan(text);
    let twin = plan.paths.last().expect("a path");
    assert_eq!(
        (twin.name.as_str(), twin.variant.as_ref()),
        ("both.stats again", plan.paths[1].variant.as_ref())
    );
}

#[test]
fn the_twin_is_kept_with_what_it_is_compared_with() {
    let text = "name: x\nbaseline: host\n\
        paths: {host: host@a -> host@b, overlay: overlay@a -> overlay@b, eni: eni@a -> eni@b}\n\
        workloads:\n  latency: {rr: {size: [1, 2]}}\n  bulk: {stream: {}, paths: [host, eni]}\n";
    let only = |filters: &[&str]| {
        let only = filters.iter().map(|filter| (*filter).to_owned()).collect();
        try_with(text, &Overrides { only, ..Overrides::default() })
            .map(|resolved| resolved.plan)
            .map_err(|p| lines(&p))
    };
    let own = |filters: &[&str]| {
        let plan = only(filters).expect("a plan");
        assert_eq!(
            plan.twin.is_some(),
            plan.paths.iter().any(|path| path.name == "host again"),
            "{filters:?}"
        );
        shown(&plan)
            .into_iter()
            .filter_map(|cell| Some(cell.strip_prefix("host again: ")?.to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(own(&[]), ["latency 1B", "latency 2B", "bulk"]);
    assert_eq!(own(&["size=1"]), ["latency 1B"]);
    assert_eq!(
        own(&["path=host", "path=overlay"]),
        ["latency 1B", "latency 2B"],
        "bulk is of the baseline alone"
    );
    assert_eq!(own(&["path=host", "path=overlay,size=2"]), ["latency 1B", "latency 2B"]);
    assert_eq!(own(&["path=host,size=1", "path=overlay"]), ["latency 1B"]);
    for nothing in
        [&["path=host"][..], &["path=overlay"], &["path=host,workload=bulk", "path=overlay"]]
    {
        assert!(own(nothing).is_empty(), "{nothing:?}");
    }
    // It goes with the others: no filter is for it alone.
    let said = only(&["path=host again"]).expect_err("no cell");
    assert!(said.contains("path of host, overlay, eni; size"), "{said}");
    assert_eq!(own(&["path=*"]).len(), 3);
}

#[test]
fn connections_stay_only_where_somebody_says_so() {
    let of = |keys: &str| resolved(&with(keys), &Overrides::default()).plan.stay_connected;
    assert_eq!(
        [of("seed: 1"), of("stay-connected: false"), of("stay-connected: true")],
        [false, false, true]
    );
    let said = lines(&try_with(&with("stay-connected: 7"), &Overrides::default()).expect_err("no"));
    assert_eq!(said, "x.yaml:2:17: stay-connected: found `7`, expected true or false");
}
