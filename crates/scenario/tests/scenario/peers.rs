//! `peer`: tools of others beside a workload.

use hopbench_model::{Peer, SECOND};
use hopbench_scenario::Overrides;

use crate::common::{lines, plan, resolved, testbed, testbed_file, try_with, with};

/// What is said of a scenario with this workload.
fn told(workload: &str, over: &Overrides) -> String {
    match try_with(&with(workload), over) {
        Ok(_) => "nothing is wrong".to_owned(),
        Err(problems) => lines(&problems),
    }
}

fn refused(workload: &str) -> String {
    told(workload, &Overrides::default())
}

#[test]
fn every_point_has_another_one_for_each_tool() {
    let workload = with("{stream: {connections: [1, 4], size: 1KiB}, peer: iperf3}");
    let plan = plan(&format!("rounds: 3\n{workload}"));
    let [ours, theirs] = [0, 2].map(|from| &plan.points[from..from + 2]);
    for (our, their) in ours.iter().zip(theirs) {
        let peer = Peer { tool: "iperf3".to_owned(), of: "w".to_owned() };
        assert_eq!((our.peer.as_ref(), their.peer.as_ref()), (None, Some(&peer)));
        assert_eq!(their.workload, "w (iperf3)");
        assert_eq!((&their.point, &their.server), (&our.point, &our.server));
        assert_eq!(
            (their.job.connections, &their.job.params),
            (our.job.connections, &our.job.params)
        );
        assert_eq!(
            (their.job.workload.as_str(), their.job.kind()),
            ("peer-stream", our.job.kind())
        );
        // Some tools have whole seconds only, and none is told a warm-up.
        let timing = their.job.timing;
        assert_eq!((timing.warmup_ns, timing.window_ns), (0, 3 * SECOND));
    }
    assert_eq!((plan.points.len(), plan.cells.len()), (4, 4));
}

#[test]
fn a_time_that_is_said_holds_for_the_tool_too() {
    let window_s = |keys: &str| {
        let plan = plan(&with(&format!("{{stream: {{{keys}}}, peer: [iperf3]}}")));
        plan.points[1].job.timing.window_ns as f64 / SECOND as f64
    };
    assert_eq!(window_s("time: 5s"), 5.0);
    assert_eq!(window_s("time: 2500ms"), 3.0);
    assert_eq!(window_s("time: 100ms"), 1.0);
    let budget = format!("budget: 1m\n{}", with("{stream: {}, peer: iperf3}"));
    assert_eq!(plan(&budget).points[1].job.timing.window_ns, SECOND, "short where all is");
}

#[test]
fn a_tool_goes_with_its_workload() {
    let text = "name: x\npaths: {p: host@a -> host@b}\n\
                workloads: {bulk: {stream: {}, peer: iperf3}, echo: ping}\n";
    let only = |filter: &str| {
        let over = Overrides { only: vec![filter.to_owned()], ..Overrides::default() };
        let plan = resolved(text, &over).plan;
        plan.points.into_iter().map(|point| point.workload).collect::<Vec<_>>()
    };
    assert_eq!(only("workload=bulk"), ["bulk", "bulk (iperf3)"]);
    assert_eq!(only("workload=* (iperf3)"), ["bulk (iperf3)"]);
    assert_eq!(only("workload=echo"), ["echo"]);
}

#[test]
fn what_no_tool_can_do_is_told_with_its_place() {
    let at = "x.yaml:4:";
    for (workload, expected) in [
        (
            "{stream: {}, peer: iperf}",
            "25: workloads.w.peer: found `iperf`, expected one of iperf3, sockperf, wrk, ping; did \
             you mean `iperf3`?",
        ),
        (
            "{rr: {}, peer: iperf3}",
            "21: workloads.w.peer: found `iperf3`, expected one of sockperf (iperf3: it measures \
             something else)",
        ),
        (
            "{http: {}, peer: [wrk]}",
            "24: workloads.w.peer: found `wrk`, expected no tool, as none measures this (wrk: it \
             measures something else)",
        ),
        (
            "{ping: {}, peer: [ping, ping]}",
            "30: workloads.w.peer: found `ping` twice, expected each tool once",
        ),
        (
            "{ping: {}, peer: {ping: 1}}",
            "23: workloads.w.peer: found a mapping, expected the name of a tool, or a list of \
             names",
        ),
    ] {
        assert_eq!(refused(workload), format!("{at}{expected}"), "{workload}");
    }
    let search = "{http: {connections: 4}, search: {knee: {connections: 1..4}}, peer: wrk}";
    assert!(refused(search).contains("found `wrk`, expected no tool beside a search"));
    let nginx = "{http: {server: nginx}, peer: wrk}";
    assert_eq!(refused(nginx), "nothing is wrong");
}

#[test]
fn nobody_starts_tools_on_hosts() {
    let hosts = "hosts: {nodes: {a: 10.0.0.1, b: 10.0.0.2}}";
    let said = |over| told("{stream: {}, peer: iperf3}", &over);
    assert_eq!(said(testbed("kubernetes")), "nothing is wrong");
    let said = said(testbed_file(hosts));
    let expected = "workloads.w.peer: found `iperf3`, expected no tool on this testbed: labs and \
                    clusters start them; or leave `peer` out";
    assert!(said.contains(expected), "{said}");
}
