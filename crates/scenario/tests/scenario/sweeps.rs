//! Points of a sweep: those that a workload's keys make.

use hopbench_model::{EngineKind, Point, SECOND, Schedule};
use serde_json::{Value, json};

use crate::common::{plan, try_plan, with};

fn points(workload: &str) -> Vec<Point> {
    plan(&with(workload)).points
}

/// The swept keys of all points, in order.
fn swept(workload: &str) -> Value {
    points(workload).into_iter().map(|p| Value::from_iter(p.point)).collect()
}

#[test]
fn a_workload_without_sweeps_is_one_point() {
    for workload in ["rr", "{rr: }", "{rr: {}}", "{rr: {size: 64}}", "{rr: {size: [64]}}"] {
        assert_eq!(swept(workload), json!([{}]), "{workload}");
    }
    let point = &points("{rr: {size: 64}}")[0];
    assert_eq!(point.job.params["size"], json!("64B"), "one value, not a list of one");
    assert_eq!((point.server.program.as_str(), point.server.request.as_str()), ("hopbench", "/"));
}

#[test]
fn the_ways_to_write_a_sweep_mean_the_same() {
    let expected = json!([{"size": "1B"}, {"size": "64B"}, {"size": "4KiB"}, {"size": "256KiB"}]);
    for size in [
        "[1, 64, 4096, 256KiB]",
        "{from: 1B, to: 256KiB, factor: 64}",
        "{from: 1, to: 262144, factor: 64}",
        "1:256KiB:*64",
        "\"1,64,4KiB,256KiB\"",
    ] {
        assert_eq!(swept(&format!("{{rr: {{size: {size}}}}}")), expected, "{size}");
    }
    assert_eq!(
        swept("{rr: {connections: 8:32:*2}}"),
        json!([{"connections": 8}, {"connections": 16}, {"connections": 32}])
    );
    assert_eq!(
        swept("{rr: {time: {from: 1s, to: 2s, step: 500ms}}}"),
        json!([{"time": "1s"}, {"time": "1500ms"}, {"time": "2s"}])
    );
    assert_eq!(
        swept("{stream: {rate: {from: 1Mbit, to: 100Mbit, factor: 10}}}"),
        json!([{"rate": "1Mbit"}, {"rate": "10Mbit"}, {"rate": "100Mbit"}])
    );
    assert_eq!(swept("{rr: {rate: [0.5, 100]}}"), json!([{"rate": 0.5}, {"rate": 100}]));
}

#[test]
fn bursts_are_a_key_of_what_has_a_schedule() {
    let of = |workload: &str| -> Vec<_> {
        points(workload).into_iter().map(|p| (p.job.burst, p.point.get("burst").cloned())).collect()
    };
    assert_eq!(of("{rr: {rate: 100}}"), [(1, None)]);
    assert_eq!(of("{http: {rate: 100, burst: 16}}"), [(16, None)]);
    let swept = [(1, Some(json!(1))), (16, Some(json!(16)))];
    assert_eq!(of("{rr: {rate: 100, schedule: poisson, burst: [1, 16]}}"), swept);
    assert!(try_plan(&with("{stream: {rate: 1Mbit, burst: 16}}")).is_err());
}

#[test]
fn the_last_key_varies_fastest() {
    assert_eq!(
        swept("{rr: {connections: [4, 2], engine: [spin, epoll], size: 1}}"),
        json!([
            {"connections": 4, "engine": "spin"},
            {"connections": 4, "engine": "epoll"},
            {"connections": 2, "engine": "spin"},
            {"connections": 2, "engine": "epoll"},
        ])
    );
    let order: Vec<_> = points("{rr: {size: [9, 1], connections: [4, 2]}}")
        .iter()
        .map(|p| (p.job.params["size"].clone(), p.job.connections))
        .collect();
    assert_eq!(order, [(json!("9B"), 4), (json!("9B"), 2), (json!("1B"), 4), (json!("1B"), 2)]);
}

#[test]
fn every_sort_of_key_can_be_swept() {
    assert_eq!(swept("{rr: {udp: [false, true]}}"), json!([{"udp": false}, {"udp": true}]));
    assert_eq!(
        swept("{stream: {direction: [to-server, both]}}"),
        json!([{"direction": "to-server"}, {"direction": "both"}])
    );
    assert_eq!(
        swept("{stream: {receive_buffer: [64KiB, 1MiB]}}"),
        json!([{"receive_buffer": "64KiB"}, {"receive_buffer": "1MiB"}])
    );
    assert_eq!(swept("{rr: {cpu: ['0', '0,1']}}"), json!([{"cpu": "0"}, {"cpu": "0,1"}]));
    assert_eq!(
        swept("{http: {server: [hopbench, nginx]}}"),
        json!([{"server": "hopbench"}, {"server": "nginx"}])
    );
    assert_eq!(
        swept("{http: {response: 1kB:100kB:*10}}"),
        json!([{"response": "1kB"}, {"response": "10kB"}, {"response": "100kB"}])
    );
    assert_eq!(
        swept("{udp: {rate: [max, 50000pps]}}"),
        json!([{"rate": "max"}, {"rate": "50000pps"}])
    );
}

#[test]
fn lists_that_belong_together_are_no_sweep() {
    let points = points("{http: {header: ['A: 1,2', 'B: 3'], body: 'x,y:z'}}");
    assert_eq!(points.len(), 1);
    assert_eq!(points[0].job.params["headers"], json!(["A: 1,2", "B: 3"]));
    assert_eq!(points[0].job.params["body"], json!("x,y:z"));
    assert_eq!(
        self::points("{rr: {cpu: '0,1'}}")[0].job.client_cpus.as_ref().expect("CPUs").0,
        [0, 1]
    );
}

#[test]
fn http_says_who_answers_what() {
    let server = |keys: &str| {
        let point = points(&format!("{{http: {{{keys}}}}}")).remove(0);
        (
            point.server.program,
            point.server.request,
            point.server.response_bytes,
            point.job.params["url"].clone(),
        )
    };
    let expect = |program: &str, request: &str, bytes| {
        (program.to_owned(), request.to_owned(), bytes, json!(format!("http://server{request}")))
    };
    assert_eq!(server(""), expect("hopbench", "/", None));
    assert_eq!(server("response: 1KiB"), expect("hopbench", "/?size=1024", Some(1024)));
    assert_eq!(server("response: 1KiB, server: nginx"), expect("nginx", "/bytes/1024", Some(1024)));
    assert_eq!(server("path: /x?y=z"), expect("hopbench", "/x?y=z", None));
}

#[test]
fn jobs_are_settled() {
    let both = &points("{stream: {direction: both, connections: 4}}")[0];
    assert_eq!(both.job.connections, 8);
    let udp = points("{udp: {size: [16, 160], rate: 1280kbit}}");
    assert_eq!(udp[0].job.schedule, Schedule::Rate(10_000.0));
    assert_eq!(udp[1].job.schedule, Schedule::Rate(1000.0));
    // A budget gives it a warm-up.
    let ping = format!("rounds: 1\n{}", with("{ping: {count: 3, every: 1s}}"));
    let ping = &plan(&ping).points[0];
    assert_eq!((ping.job.timing.warmup_ns, ping.job.timing.window_ns), (0, 3 * SECOND - 100));
}

#[test]
fn defaults_hold_where_a_workload_says_nothing() {
    let text = "name: x\ntime: 3s\nengine: [uring, spin]\nseed: 9\npaths: {p: host@a -> host@b}\n\
                workloads:\n  one: rr\n  two: {rr: {time: 5s, engine: threads}}\n";
    let plan = plan(text);
    assert_eq!(plan.points.len(), 3);
    let of = |i: usize| (plan.points[i].job.timing.window_ns / SECOND, plan.points[i].job.engine);
    assert_eq!(
        [of(0), of(1), of(2)],
        [(3, EngineKind::Uring), (3, EngineKind::Spin), (5, EngineKind::Threads)]
    );
    assert_eq!(plan.points[1].point["engine"], json!("spin"));
    assert!(plan.points[2].point.is_empty());
    assert!(plan.seed == 9 && plan.points.iter().all(|p| p.job.seed == 9));
    assert!(
        plan.points[0].job.timing.interval_ns == 3 * SECOND / 10,
        "a short window gets its intervals"
    );
}

#[test]
fn cells_are_paths_times_points_where_they_apply() {
    let text = "name: x\npaths: {pa: host@a -> host@b, pb: bridge@a -> bridge@b, q: host@b -> \
                host@a}\n\
                workloads:\n  all: rr\n  some: {rr: {size: [1, 2]}, paths: [p*]}\n";
    let plan = plan(text);
    let cells: Vec<_> = plan.cells.iter().map(|c| (c.path, c.point)).collect();
    assert_eq!(cells, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0)]);
    assert!(try_plan(&text.replace("[p*]", "q*")).is_ok(), "one glob needs no list");
}
