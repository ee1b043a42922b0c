//! `search:` of a workload.

mod forms;

use hopbench_model::{CpuOf, EngineKind, Point, RateRange, Schedule, SearchGoal, SearchSpec};
use serde_json::json;

use crate::bad_input::compare;
use crate::common::{plan, resolved, with};
use hopbench_scenario::Overrides;

fn points(workload: &str) -> Vec<Point> {
    plan(&with(workload)).points
}

fn spec(workload: &str) -> SearchSpec {
    points(workload).remove(0).search.expect("a search")
}

fn rates(lowest_per_s: f64, highest_per_s: f64) -> RateRange {
    RateRange { lowest_per_s, highest_per_s }
}

#[test]
fn levels_up_to_the_knee() {
    let spec = |workload: &str| SearchSpec { short: None, ..spec(workload) };
    let knee = |connections: &[u32], threads: &[u32], least_growth| SearchSpec {
        goal: SearchGoal::Knee {
            connections: connections.to_vec(),
            threads: threads.to_vec(),
            least_growth,
        },
        repeats: 1,
        errors_share: 0.01,
        equal_load: false,
        short: None,
    };
    assert_eq!(
        spec("{rr: , search: {knee: {connections: [8, 16, 32]}}}"),
        knee(&[8, 16, 32], &[], 0.05)
    );
    assert_eq!(
        spec(
            "{http: {}, search: {knee: {connections: 4:16:*2, threads: {from: 1, to: 4, \
             factor: 2}, growth: 2%}, errors: 0}}"
        ),
        SearchSpec { errors_share: 0.0, ..knee(&[4, 8, 16], &[1, 2, 4], 0.02) }
    );
    // The trials begin with the first level; what is varied is no part of the point.
    let point = points(
        "{rr: {size: [1, 2], threads: 2}, search: {knee: {connections: [8, 16], threads: [1, 2]}}}",
    );
    let of: Vec<_> = point
        .iter()
        .map(|p| (p.job.connections, p.job.threads, p.job.is_closed_loop(), &p.point["size"]))
        .collect();
    assert_eq!(of, [(8, 2, true, &json!("1B")), (8, 2, true, &json!("2B"))]);
    assert!(point.iter().all(|p| p.point.len() == 1 && p.search.is_some()));
}

#[test]
fn a_budget_lets_a_search_choose_its_windows() {
    let search = "search: {slo: {p99: 5ms, rates: 100..50000}}";
    let of = |keys: &str, budget: &str| {
        let text = with(&format!("{{rr: {{{keys}}}, {search}}}"));
        let point = plan(&format!("{budget}{text}")).points.remove(0);
        let timing = point.job.timing;
        let ms = [timing.window_ns, timing.warmup_ns].map(|ns| ns / 1_000_000);
        (point.search.expect("a search").short.map(|short| short.least_window_ns), ms)
    };
    let (none, usual) = of("", "rounds: 3\n");
    assert_eq!((none, usual), (None, [10_000, 1000]));
    // 250 ms at least, and at the lowest rate ten samples beyond the percentile.
    assert_eq!(of("", "budget: 1m\n"), (Some(250_000_000), [10_000, 50]));
    // So it is where nothing says how long the run goes on.
    assert_eq!(of("", ""), of("", "budget: 1m\n"));
    assert_eq!(of("warmup: 70ms", "budget: 1m\n"), (Some(250_000_000), [10_000, 70]));
    assert_eq!(of("time: 3s", "budget: 1m\n"), (None, [3000, usual[1]]));
    // The bucket of a link holds 10 ms.
    for (lab, burst_ns) in [("{}", 0), ("{nodes: {a: {link: 1Gbit}, b: {}}}", 10_000_000)] {
        let text = with(&format!("{{rr: , {search}}}"));
        let text = format!("budget: 1m\ntestbed: {{lab: {lab}}}\n{text}");
        let found = plan(&text).points.remove(0).search.expect("a search");
        assert_eq!(found.short.expect("short trials").burst_ns, burst_ns, "{lab}");
    }
}

#[test]
fn the_highest_rate_within_a_limit() {
    let slo = |percentile, limit_ns, precision| SearchGoal::Slo {
        percentile,
        limit_ns,
        rates: rates(100.0, 5e4),
        precision,
    };
    let of = |keys: &str| {
        spec(&format!(
            "{{http: {{connections: 4}}, search: {{slo: {{{keys}, rates: 100..50000}}}}}}"
        ))
        .goal
    };
    let repeats = |keys: &str| {
        spec(&format!("{{http: , search: {{slo: {{p50: 1ms, rates: 1..9{keys}}}}}}}")).repeats
    };
    assert_eq!([repeats(""), repeats(", repeats: 1"), repeats(", repeats: 20")], [3, 1, 20]);
    assert_eq!(of("p99: 5ms"), slo(99.0, 5_000_000, 0.02));
    assert_eq!(of("p99.9: 1s, precision: 0.05"), slo(99.9, 1_000_000_000, 0.05));
    assert_eq!(of("p999: 1s"), slo(99.9, 1_000_000_000, 0.02));
    assert_eq!(of("p99.5: 1s"), slo(99.5, 1_000_000_000, 0.02));
    assert_eq!(of("p: 97.5, limit: 800us"), slo(97.5, 800_000, 0.02));
    // Trials have a schedule, and the kind of it that is asked for.
    let schedule = |keys: &str| {
        points(&format!("{{rr: {{{keys}}}, search: {{slo: {{p50: 1ms, rates: 0.5..9}}}}}}"))[0]
            .job
            .schedule
    };
    assert_eq!(
        [schedule(""), schedule("schedule: poisson")],
        [Schedule::Rate(0.5), Schedule::Poisson(0.5)]
    );
    assert!(points("{rr: {}, search: {slo: {p50: 1ms, rates: 1..9}}}")[0].point.is_empty());
}

#[test]
fn the_highest_rate_of_datagrams() {
    let points = points(
        "{udp: {size: [16, 160], gso: 4}, search: {lossless: {loss: 0.1%, \
         rates: 1280kbit..12.8Mbit}}}",
    );
    let goal = |rates| SearchGoal::Lossless { loss_share: 0.001, rates, precision: 0.01 };
    // What `rate` comes to: payload, datagrams and not sends.
    assert_eq!(points[0].search.as_ref().expect("a search").goal, goal(rates(10_000.0, 100_000.0)));
    assert_eq!(points[1].search.as_ref().expect("a search").goal, goal(rates(1000.0, 10_000.0)));
    assert_eq!(points[1].job.schedule, Schedule::Rate(250.0), "the lowest, in sends");
    let of = |keys: &str| {
        spec(&format!("{{udp: {{}}, search: {{lossless: {{loss: 0, {keys}}}}}}}")).goal
    };
    assert_eq!(
        of("rates: 5kpps..1Mpps, precision: 2%, repeats: 1"),
        SearchGoal::Lossless { loss_share: 0.0, rates: rates(5e3, 1e6), precision: 0.02 }
    );
}

#[test]
fn the_highest_rate_for_a_cpu() {
    let of = |whose: &str| {
        let text = with(&format!(
            "{{http: {{}}, search: {{cpu: {{of: {whose}, ceiling: 60%, rates: 1..9}}}}}}"
        ));
        match plan(&text).points.remove(0).search.expect("a search").goal {
            SearchGoal::Cpu { of, ceiling, .. } => (of, ceiling),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(of("client"), (CpuOf::Client, 0.6));
    assert_eq!(of("server"), (CpuOf::Server, 0.6));
    assert_eq!(of("node b"), (CpuOf::Node("b".to_owned()), 0.6));
    let both = CpuOf::Nodes(vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!(of("'nodes [a, b]'"), (both, 0.6));
    assert_eq!(
        spec("{udp: {size: 100}, search: {cpu: {of: node b, ceiling: 0.5, rates: 8kbit..8Mbit}}}")
            .goal,
        SearchGoal::Cpu {
            of: CpuOf::Node("b".to_owned()),
            ceiling: 0.5,
            rates: rates(10.0, 10_000.0)
        }
    );
}

/// Four paths with other proxies each, and a search for the CPU of one of them.
fn proxied(whose: &str) -> String {
    format!(
        "name: x\nbaseline: none\npaths:\n  none: bridge@a -> bridge@b\n  \
         server: {{from: bridge@a, to: bridge@b, via: cluster-ip, backends: 2, mesh: server}}\n  \
         both: bridge@a -> bridge@b mesh both\n  gateway: bridge@a -> bridge@b via gateway@c\n\
         mesh: {{policy-check: true}}\nworkloads:\n  \
         w: {{http: {{}}, search: {{cpu: {{of: {whose}, ceiling: 60%, rates: 1..9}}}}}}\n"
    )
}

#[test]
fn paths_without_the_cpu_are_left_out_and_told() {
    let of = |whose: &str| {
        let resolved = resolved(&proxied(whose), &Overrides::default());
        let names: Vec<String> = resolved.plan.paths.iter().map(|path| path.name.clone()).collect();
        assert_eq!(resolved.plan.cells.len(), names.len(), "{whose}");
        assert_eq!(resolved.plan.baseline.is_some(), names.contains(&"none".to_owned()), "{whose}");
        (names, resolved.notes)
    };
    let all = ["none", "server", "both", "gateway"];
    assert_eq!(of("client"), (all.map(str::to_owned).to_vec(), vec![]));
    for (whose, paths, without) in [
        ("proxy server-sidecar", vec!["server", "both"], "none, gateway"),
        ("proxy server-sidecar#2", vec!["server"], "none, both, gateway"),
        ("proxy client-sidecar", vec!["both"], "none, server, gateway"),
        ("proxy gateway", vec!["gateway"], "none, server, both"),
        ("proxy policy", vec!["server", "both", "gateway"], "none"),
        ("node c", vec!["gateway"], "none, server, both"),
    ] {
        let note = format!("workloads.w.search.cpu on {without}: no {whose} there");
        let baseline = "baseline none: nothing is searched on it, so nothing is compared";
        assert_eq!(
            of(whose),
            (paths.into_iter().map(str::to_owned).collect(), vec![note, baseline.to_owned()]),
            "{whose}"
        );
    }
    // The paths that have it are compared.
    let (paths, notes) = of("node b");
    assert_eq!((paths.len(), notes.len()), (4, 0));
    let rows = "
        proxy sidecar
            x.yaml:10:36: workloads.w.search.cpu.of: found `sidecar`, expected one of
                client-sidecar, gateway, policy, server-sidecar
        proxy server-sidecar#3
            x.yaml:10:36: workloads.w.search.cpu.of: found `server-sidecar#3`, expected one of
                client-sidecar, gateway, policy, server-sidecar; did you mean `server-sidecar`?
        proxy server-sidecar#1
            x.yaml:10:36: workloads.w.search.cpu.of: found `server-sidecar#1`, expected one of
                client-sidecar, gateway, policy, server-sidecar; did you mean `server-sidecar`?
        node d
            x.yaml:10:36: workloads.w.search.cpu.of: found node `d`, to which no path of the
                workload goes, expected one of a, b, c, or a path that goes there
        'nodes [a, d]'
            x.yaml:10:36: workloads.w.search.cpu.of: found node `d`, to which no path of the
                workload goes, expected one of a, b, c, or a path that goes there
    ";
    compare(rows, proxied);
}

#[test]
fn nodes_of_several_paths_are_told_with_those_of_each() {
    let rows = "
        p: host@a -> host@b, q: host@a -> host@c
            x.yaml:3:46: workloads.w.search.cpu.of: found nodes b, c, but no path to all of them,
                expected the nodes of one path (p: a, b; q: a, c), or a path that goes to all of
                these
        a: host@a -> host@b, b: host@a -> host@c, c: host@b -> host@a, d: host@b -> host@a, e:
                host@c -> host@a, f: host@c -> host@a
            x.yaml:3:46: workloads.w.search.cpu.of: found nodes b, c, but no path to all of them,
                expected the nodes of one path (a: a, b; b: a, c; c: a, b; d: a, b; e: a, c; 1
                more), or a path that goes to all of these
    ";
    compare(rows, |paths| {
        format!(
            "name: x\npaths: {{{paths}}}\n\
             workloads: {{w: {{http: {{}}, search: {{cpu: {{of: 'nodes [b, c]', ceiling: 60%, \
             rates: 1..9}}}}}}}}\n"
        )
    });
}

#[test]
fn searches_that_make_no_sense() {
    let rows = "
        # What is searched.
        {rr: , search: {}}
            x.yaml:4:21: workloads.w.search: found nothing to search, expected one of knee, slo,
                cpu, lossless
        {rr: , search: slo}
            x.yaml:4:21: workloads.w.search: found `slo`, expected what to search, like {slo: {p99:
                5ms, rates: 100..50000}}
        {rr: , search: {nee: {}}}
            x.yaml:4:22: workloads.w.search.nee: found `nee`, expected one of knee, slo, cpu,
                lossless, errors, equal-load; did you mean `knee`?
        {rr: , serch: {}}
            x.yaml:4:13: workloads.w.serch: found `serch`, expected one of stream, push, rr, crr,
                udp, ping, http, grpc, paths, search, peer; did you mean `search`?
        {rr: , search: {knee: {connections: [1, 2]}, slo: {p50: 1s, rates: 1..2}}}
            x.yaml:4:51: workloads.w.search: found `slo` too, expected one search a workload
        {rr: , search: {knee: {connections: [1, 2]}, errors: 2}}
            x.yaml:4:59: workloads.w.search.errors: found `2`, expected a share like 1% or 0.01, 0%
                to 100%
        {rr: , search: {knee: {connections: [1, 2]}, equal_load: 1}}
            x.yaml:4:63: workloads.w.search.equal-load: found `1`, expected true or false
        {rr: , search: {knee: {connections: [1, 2]}, equal-load: true}}
            x.yaml:4:21: workloads.w.search: found `equal-load` on one path, expected at least two
                paths
        # With which workload.
        {stream: , search: {knee: {connections: [1, 2]}}}
            x.yaml:4:26: workloads.w.search.knee: found the workload `stream`, expected one of rr,
                crr, http, grpc
        {ping: , search: {slo: {p50: 1s, rates: 1..2}}}
            x.yaml:4:24: workloads.w.search.slo: found the workload `ping`, expected one of rr, crr,
                http, grpc
        {push: , search: {cpu: {of: client, ceiling: 1, rates: 1..2}}}
            x.yaml:4:24: workloads.w.search.cpu: found the workload `push`, expected one of rr, crr,
                udp, http, grpc
        {rr: , search: {lossless: {loss: 0, rates: 1..2}}}
            x.yaml:4:22: workloads.w.search.lossless: found the workload `rr`, expected one of udp
        # Knees.
        {rr: , search: {knee: {}}}
            x.yaml:4:28: workloads.w.search.knee: found no `connections`, expected levels like
                {connections: [8, 16, 32, 64], threads: [1, 2, 4]}
        {rr: , search: {knee: {connections: 8}}}
            x.yaml:4:42: workloads.w.search.knee.connections: found one level, expected 2 to 100 of
                them, ascending, like [8, 16, 32]
        {rr: , search: {knee: {connections: [8, 4]}}}
            x.yaml:4:46: workloads.w.search.knee.connections: found `4`, expected more than the
                level before it
        {rr: , search: {knee: {connections: [0, many]}}}
            x.yaml:4:43: workloads.w.search.knee.connections: found `0`, expected a whole number
                from 1 to 1000000
            x.yaml:4:46: workloads.w.search.knee.connections: found `many`, expected a whole number
                from 1 to 1000000
        {rr: , search: {knee: {connections: [1, 2], threads: [2]}}}
            x.yaml:4:59: workloads.w.search.knee.threads: found one level, expected 2 to 100 of
                them, ascending, like [8, 16, 32]
        {rr: , search: {knee: {connections: [1, 2], threads: [1, 4]}}}
            x.yaml:4:59: workloads.w.search.knee.threads: found `4`, expected at most one thread a
                connection, of which there are 2 at most
        {rr: {engine: threads}, search: {knee: {connections: [1, 5000]}}}
            x.yaml:4:59: workloads.w.search.knee.connections: found `threads with 5000 connections`,
                expected at most 4096 connections with one thread each; take engine epoll
        {rr: {engine: threads}, search: {knee: {connections: [1, 50], threads: [1, 2]}}}
            x.yaml:4:77: workloads.w.search.knee.threads: found levels for the engine `threads`,
                expected another engine: this one takes a thread a connection
        {rr: , search: {knee: {connections: [1, 2], growth: -1%}}}
            x.yaml:4:58: workloads.w.search.knee.growth: found `-1%`, expected a share like 5% or
                0.05, 0.1% to 100%
        {rr: {rate: 5}, search: {knee: {connections: [1, 2]}}}
            x.yaml:4:18: workloads.w.rr.rate: found `rate` beside a search for `knee`, expected a
                closed loop: without a rate the answers set the pace
        {rr: {connections: [4, 8]}, search: {knee: {connections: [1, 2]}}}
            x.yaml:4:26: workloads.w.rr.connections: found `connections` beside a search for `knee`,
                expected the levels in the search only
        {rr: {threads: [1, 2]}, search: {knee: {connections: [2, 4], threads: [1, 2]}}}
            x.yaml:4:22: workloads.w.rr.threads: found `threads` beside a search for `knee`,
                expected one number, with which connections are searched
        {rr: {threads: 2}, search: {knee: {connections: [1, 2]}}}
            x.yaml:4:21: workloads.w.rr.threads: found `2`, expected at most one thread a
                connection; raise connections
        # Service levels.
        {rr: , search: {slo: {rates: 1..2}}}
            x.yaml:4:27: workloads.w.search.slo: found no limit, expected a limit and rates like
                {p99: 5ms, rates: 100..50000}
        {rr: , search: {slo: {p99: 1ms}}}
            x.yaml:4:27: workloads.w.search.slo: found no `rates`, expected the lowest and the
                highest rate, like 100..50000
        {rr: , search: {slo: {p99: 1ms, p50: 1us, rates: 1..2}}}
            x.yaml:4:27: workloads.w.search.slo: found several limits or half of one, expected one,
                like p99: 5ms or p: 99.5, limit: 5ms
        {rr: , search: {slo: {p: 99, rates: 1..2}}}
            x.yaml:4:27: workloads.w.search.slo: found several limits or half of one, expected one,
                like p99: 5ms or p: 99.5, limit: 5ms
        {rr: , search: {slo: {p: 101, limit: 1s, rates: 1..2}}}
            x.yaml:4:31: workloads.w.search.slo.p: found `101`, expected a percentile above 0 and up
                to 100, like 99.5
        {rr: , search: {slo: {p99: 0, rates: 1..2}}}
            x.yaml:4:33: workloads.w.search.slo.p99: found `0`, expected a time like 5ms
        {rr: , search: {slo: {p101: 1ms, rates: 1..2}}}
            x.yaml:4:28: workloads.w.search.slo.p101: found `p101`, expected one of p50, p90, p95,
                p99, p99.9, p, limit, rates, precision, repeats
        {rr: , search: {slo: {p99: 1s, rates: 1..2, precision: 90%}}}
            x.yaml:4:61: workloads.w.search.slo.precision: found `90%`, expected a share like 2% or
                0.02, 0.1% to 50%
        {rr: , search: {slo: {p99: 1s, rates: 100}}}
            x.yaml:4:44: workloads.w.search.slo.rates: found `100`, expected the lowest and the
                highest rate, like 100..50000
        {rr: , search: {slo: {p99: 1s, rates: [1, 2]}}}
            x.yaml:4:44: workloads.w.search.slo.rates: found a list, expected the lowest and the
                highest rate, like 100..50000
        {rr: , search: {slo: {p99: 1s, rates: 1..fast}}}
            x.yaml:4:44: workloads.w.search.slo.rates: found `fast`, expected a number
        {rr: , search: {slo: {p99: 1s, rates: 9..9}}}
            x.yaml:4:44: workloads.w.search.slo.rates: found `9..9`, expected the lower rate first,
                and a higher one behind the dots
        {rr: , search: {slo: {p99: 1s, rates: 1..1e9}}}
            x.yaml:4:44: workloads.w.search.slo.rates: found `1e9`, expected more than 0 and at most
                100 000 000 a second
        {rr: , search: {slo: {p99: 1s, rates: 0..9}}}
            x.yaml:4:44: workloads.w.search.slo.rates: found `0`, expected more than 0 and at most
                100 000 000 a second
        {rr: {rate: [1, 2]}, search: {slo: {p99: 1s, rates: 1..9}}}
            x.yaml:4:19: workloads.w.rr.rate: found `rate` beside a search for `slo`, expected
                `rates` of the search only
        {rr: {burst: 8}, search: {slo: {p99: 1s, rates: 1..9}}}
            x.yaml:4:19: workloads.w.rr.burst: found `burst` beside a search for `slo`, expected
                exchanges one by one: the times of a burst are not independent
        {rr: {schedule: closed}, search: {slo: {p99: 1s, rates: 1..9}}}
            x.yaml:4:22: workloads.w.rr.schedule: found `schedule` beside a search for `slo`,
                expected rate or poisson
        # CPU.
        {rr: , search: {cpu: {ceiling: 60%, rates: 1..9}}}
            x.yaml:4:27: workloads.w.search.cpu: found no `of`, expected client, server, node NAME,
                nodes [NAME, NAME] or proxy NAME, like proxy server-sidecar
        {rr: , search: {cpu: {of: client, rates: 1..9}}}
            x.yaml:4:27: workloads.w.search.cpu: found no `ceiling`, expected a share of the CPU
                like 60% or 0.6, 5% to 100%
        {rr: , search: {cpu: {of: client, ceiling: 60, rates: 1..9}}}
            x.yaml:4:49: workloads.w.search.cpu.ceiling: found `60`, expected a share of the CPU
                like 60% or 0.6, 5% to 100%
        {rr: , search: {cpu: {of: b, ceiling: 60%, rates: 1..9}}}
            x.yaml:4:32: workloads.w.search.cpu.of: found `b`, expected client, server, node NAME,
                nodes [NAME, NAME] or proxy NAME, like proxy server-sidecar
        {rr: , search: {cpu: {of: proxy gateway, ceiling: 60%, rates: 1..9}}}
            x.yaml:4:32: workloads.w.search.cpu.of: found `proxy gateway`, expected a path with a
                proxy: none of the workload's has any
        # Loss.
        {udp: , search: {lossless: {rates: 1Mbit..2Mbit}}}
            x.yaml:4:33: workloads.w.search.lossless: found no `loss`, expected the share that may
                be lost, like 0.1% or 0.001, 0% to 50%
        {udp: , search: {lossless: {loss: 0, rates: 100..200}}}
            x.yaml:4:50: workloads.w.search.lossless.rates: found `100`, expected max, datagrams a
                second like 50000pps or 50kpps, or payload like 100Mbit
            x.yaml:4:50: workloads.w.search.lossless.rates: found `200`, expected max, datagrams a
                second like 50000pps or 50kpps, or payload like 100Mbit
        {udp: , search: {lossless: {loss: 0, rates: 1Mbit..max}}}
            x.yaml:4:50: workloads.w.search.lossless.rates: found `max`, expected a rate that can be
                halved
        {udp: , search: {lossless: {loss: 0, rates: 1Mbit..2Mbit, repeats: 0}}}
            x.yaml:4:73: workloads.w.search.lossless.repeats: found `0`, expected a whole number
                from 1 to 20
        {udp: {rate: max}, search: {lossless: {loss: 0, rates: 1Mbit..2Mbit}}}
            x.yaml:4:19: workloads.w.udp.rate: found `rate` beside a search for `lossless`, expected
                `rates` of the search only
    ";
    compare(rows, with);
}

#[test]
fn traffic_that_passes_by_proxies_says_nothing_of_their_cpu() {
    let rows = "
        {udp: {}, search: {cpu: {of: proxy server-sidecar, ceiling: 60%, rates: 1Mbit..9Mbit}}}
            x.yaml:4:35: workloads.w.search.cpu.of: found `udp` through proxies, expected traffic
                that proxies carry: they take TCP only
    ";
    compare(rows, |workload| {
        format!(
            "name: x\npaths: {{p: bridge@a -> bridge@b mesh server}}\nworkloads:\n  w: {workload}\n"
        )
    });
}

#[test]
fn keys_for_all_workloads_hold_for_searches_too() {
    let text = "name: x\ntime: 2s\nwarmup: 100ms\nengine: uring\npaths: {p: host@a -> host@b}\n\
                workloads: {w: {rr: , search: {slo: {p99: 1ms, rates: 10..20}}}}\n";
    let point = plan(text).points.remove(0);
    let timing = point.job.timing;
    assert_eq!(
        (timing.window_ns, timing.warmup_ns, point.job.engine),
        (2_000_000_000, 100_000_000, EngineKind::Uring)
    );
}
