//! `subjects`, and `--subject`.

use hopbench_model::TestbedSpec;
use hopbench_scenario::Overrides;

use crate::common::{lines, plan, resolved, try_plan, try_with};

fn with(subjects: &str) -> String {
    format!(
        "name: x\nbudget: 10\nbaseline: p\nsubjects: {subjects}\n\
         paths: {{p: bridge@a -> bridge@b, q: host@a -> host@b}}\nworkloads: {{w: rr}}\n"
    )
}

fn names(plan: &hopbench_model::Plan) -> Vec<&str> {
    plan.paths.iter().map(|path| path.name.as_str()).collect()
}

#[test]
fn every_path_is_measured_with_every_subject() {
    let plan = plan(&with("{old: , new: {mtu: 1400, network: {bridge: overlay}}}"));
    let all = ["p.old", "p.new", "p.old again", "q.old", "q.new", "q.old again"];
    assert_eq!((names(&plan), plan.baseline.as_deref()), (all.to_vec(), None));
    assert_eq!(plan.paths[1].from.to_string(), "overlay@a.new");
    let TestbedSpec::Lab(lab) = &plan.testbed else { panic!("a lab") };
    let mtus: Vec<_> = lab.nodes.iter().map(|n| (n.name.as_str(), n.settings.mtu)).collect();
    assert_eq!(mtus, [("a", None), ("b", None), ("a.new", Some(1400)), ("b.new", Some(1400))]);
    let text = with("{old: , new: }").replace("baseline: p", "a-a: false");
    assert_eq!(plan_names(&text), ["p.old", "p.new", "q.old", "q.new"]);
}

fn plan_names(text: &str) -> Vec<String> {
    plan(text).paths.into_iter().map(|path| path.name).collect()
}

#[test]
fn flags_take_the_place_of_the_scenarios_and_only_goes_by_its_paths() {
    let over = Overrides {
        subjects: vec!["fast=mtu: 9000".to_owned()],
        only: vec!["path=q".to_owned()],
        ..Overrides::default()
    };
    let resolved = resolved(&with("{one: , two: }"), &over);
    assert_eq!(names(&resolved.plan), ["q.old", "q.fast", "q.old again"]);
    assert!(resolved.notes.iter().any(|note| note.contains("baseline p: not with subjects")));
    let nothing = Overrides { subjects: vec!["old".into(), "new".into()], ..Overrides::default() };
    let notes = crate::common::resolved(&with("{one: , two: }"), &nothing).notes;
    assert!(notes.iter().any(|note| note.contains("old and new change the same")), "{notes:?}");
}

#[test]
fn what_is_wrong_is_told_with_what_is_expected() {
    for (subjects, told) in [
        ("{old: , new: {mtu: 100}}", "subjects.new.mtu: found `100`, expected 1280 to 65535 bytes"),
        ("{old: , new: {tmu: 1400}}", "did you mean `mtu`?"),
        (
            "{old: , new: {sysctl: {vm.swappiness: 1}}}",
            "found `vm.swappiness`, expected a parameter",
        ),
        (
            "{old: , new: {offloads: {lro: off}}}",
            "subjects.new.offloads: found `lro`, expected one of",
        ),
        ("{old: , new: {offloads: {tso: maybe}}}", "found `tso: maybe`, expected on or off"),
        ("{old: , new: {runtime: kata}}", "subjects.new.runtime: found `kata`, expected"),
        ("{old: , new: {variant: fast}}", "subjects.new.variant: found `fast`"),
        ("{old: , new: {network: {bridge: bridgr}}}", "did you mean `bridge`?"),
        ("{old: , new: {bounds: {p99: lots}}}", "a metric and a share of it"),
        ("{old: , new: {agent: 'x:1'}}", "subjects.new.agent: found `agent`, expected a cluster"),
        ("{old: , new: {proxy: 'a b'}}", "found `a b`, expected an image like name:tag"),
        ("{old: }", "no subject to compare with"),
        ("{Old: , new: }", "a name of at most 15 lower-case letters"),
        ("[old, new]", "found a list, expected a mapping like"),
    ] {
        let said = lines(&try_plan(&with(subjects)).expect_err(subjects));
        assert!(said.contains(told), "{subjects}: {said}");
    }
    let over = Overrides { subjects: vec!["new=mtu: x".to_owned()], ..Overrides::default() };
    let said = lines(&try_with(&with("{one: , two: }"), &over).expect_err("no MTU"));
    assert!(said.contains("--subject.mtu: found `x`"), "{said}");
}

#[test]
fn a_cluster_keeps_what_it_can_and_hosts_have_none() {
    let on = |testbed: &str, subjects: &str| {
        let text = with(subjects).replace("budget: 10", &format!("budget: 10\ntestbed: {testbed}"));
        try_plan(&text.replace(", q: host@a -> host@b", ""))
    };
    let plan = on("kubernetes", "{old: , new: {runtime: gvisor}}").expect("a plan");
    assert_eq!(plan.paths[1].from.to_string(), "bridge+gvisor@a");
    let said = lines(&on("kubernetes", "{old: , new: {mtu: 1400}}").expect_err("no MTU"));
    assert!(said.contains("subjects.new.mtu: found `mtu`, expected a lab with it"), "{said}");
    let pods = on("kubernetes", "{old: , new: {agent: 'hopbench:b', env: {GOMAXPROCS: 2}}}");
    let pods = pods.expect("a plan").subjects;
    let settings = &pods[1].pod;
    assert_eq!(
        (settings.agent.as_deref(), settings.env["GOMAXPROCS"].as_str()),
        (Some("hopbench:b"), "2")
    );
    assert!(pods[1].node == hopbench_model::NodeSettings::default() && settings.proxy.is_none());
    let command = "{old: , new: {command: {before: kubectl get pods}}}";
    let said = lines(&on("kubernetes", command).expect_err("not allowed"));
    assert!(
        said.contains("subjects.new.command: found `command`, expected `allow-commands: true`"),
        "{said}"
    );
    let plan = on("{kubernetes: {allow-commands: true}}", command).expect("a plan");
    assert_eq!(plan.program().as_deref(), Some("command kubectl get pods"));
    for (mesh, is_taken) in
        [("envoy", true), ("istio", true), ("linkerd", false), ("istio-ambient", false)]
    {
        let testbed = format!("{{kubernetes: {{mesh: {mesh}}}}}");
        match on(&testbed, "{old: , new: {proxy: 'envoy:2'}}") {
            Ok(plan) => {
                assert!(is_taken, "{mesh}");
                assert_eq!(plan.subjects[1].changes().to_string(), "proxy envoy:2");
            }
            Err(problems) => {
                let said = lines(&problems);
                assert!(!is_taken && said.contains("the mesh provider envoy or istio"), "{said}");
            }
        }
    }
    let hosts = "{hosts: {nodes: {a: 10.0.0.1, b: 10.0.0.2}}}";
    let said = lines(&on(hosts, "{old: , new: }").expect_err("no subjects"));
    assert!(said.contains("subjects: found subjects, expected a lab or a cluster"), "{said}");
}
