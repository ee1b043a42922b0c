//! `hopbench plan`, `hopbench schema` and `hopbench list scenarios`: nothing is started by them.

#[path = "lab/lab.rs"]
mod lab;

use std::fs;

use hopbench_model::Plan;
use lab::program::run;
use lab::{Finished, program};
use serde_json::Value;

const SHIPPED: [&str; 7] =
    ["quickstart", "tcp-fanout", "message-size-sweep", "mesh-latency", "mesh-variants", "cni-matrix", "max-throughput"];

fn ran(arguments: &[&str]) -> Finished {
    let run = run(&mut program(arguments));
    // Where a program is not installed that all of a scenario needs, its plan says so at the end.
    if run.code == Some(3) && arguments[0] == "plan" {
        assert!(run.stderr.contains("no cell can be measured here"), "{arguments:?}: {}", run.story());
        return run;
    }
    assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.story());
    assert!(run.stderr.is_empty(), "{arguments:?}: {}", run.story());
    run
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&ran(arguments).stdout).expect("JSON")
}

#[test]
fn every_shipped_scenario_has_a_page() {
    for name in SHIPPED {
        let page = ran(&["plan", name, "--seed", "7"]).stdout;
        for line in page.lines() {
            assert!(line.chars().count() <= 80, "{name}: {} columns: {line}", line.chars().count());
        }
        let planned = json(&["plan", name, "--seed", "7", "--json"]);
        let plan: Plan = serde_json::from_value(planned["plan"].clone()).expect("a plan");
        let cells = planned["cells"].as_u64().expect("a count") as usize;
        let (trials, impossible) = (cells * plan.rounds as usize, plan.cells.len() - cells);
        let first = format!("{name}: {cells} cells in {} rounds = {trials} trials, about ", plan.rounds);
        assert!(page.starts_with(&first), "{page}");
        let more = format!("\n{impossible} {} more cannot run here", if impossible == 1 { "cell" } else { "cells" });
        assert_eq!(page.contains(&more), impossible > 0, "{page}");
        assert_eq!(planned["trials"], trials);
        let estimated_s = planned["estimated_s"].as_f64().expect("seconds");
        let least_s = plan.least_ns() as f64 / 1e9 + 0.15 * trials as f64;
        if impossible == 0 {
            assert!((estimated_s - least_s).abs() < 1e-6, "{estimated_s} {least_s}");
        } else {
            assert!(estimated_s < least_s, "{name}: {estimated_s} s with what cannot run: {least_s} s");
        }
        for path in &plan.paths {
            assert!(page.lines().any(|line| line.starts_with(&format!("{} ", path.name))), "{name}: no {}", path.name);
        }
        assert_eq!(plan.seed, 7);
    }
}

#[test]
fn what_cannot_be_measured_is_told_with_the_reason() {
    let page = ran(&["plan", "quickstart", "--only", "path=node-port"]).stdout;
    assert!(page.contains("cannot run here\n  echo on node-port\n    ICMP has no ports"), "{page}");
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("x.yaml");
    let text = "name: x\npaths: {p: host@a -> host@b}\nworkloads: {w: {rr: {cpu: 8000}}}\n";
    fs::write(&file, text).expect("a file");
    let whole = run(&mut program(&["plan", &file.to_string_lossy()]));
    let page = &whole.stdout;
    assert!(page.contains("cannot run here\n  w on p\n    CPU 8000 of the client: this process may use "), "{page}");
    assert!(page.starts_with("x: 0 cells in 3 rounds = 0 trials, about 0 s\n1 cell more cannot run here"), "{page}");
    assert_eq!(whole.code, Some(3), "{}", whole.story());
    assert!(whole.stderr.contains("no cell can be measured here"), "{}", whole.story());
}

#[test]
fn a_seed_that_a_run_would_choose_is_not_told() {
    let seed = |arguments: &[&str]| {
        let page = ran(&[&["plan", "quickstart"], arguments].concat()).stdout;
        let line = page.lines().find(|line| line.starts_with("seed ")).expect("a seed").to_owned();
        line.trim_start_matches("seed").trim().to_owned()
    };
    assert_eq!(seed(&[]), "chosen at the start");
    assert_eq!(seed(&["--seed", "7"]), "7");
}

#[test]
fn a_page_shows_meshes_and_what_their_proxies_do() {
    // As lines are wrapped nobody needs to know.
    let page = ran(&["plan", "max-throughput"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "service bridge@a -> bridge@b via cluster-ip nft, nginx gateway.plain ",
        "gateway.plain bridge@a -> bridge@b via gateway@c, mesh ",
        "plain 1 mTLS, HTTP/1.1, 2 workers mixer 1 mTLS, HTTP/1.1, 2 workers, a policy check for each request, \
         a telemetry report for each request workload ",
        " variant mixer ",
    ] {
        assert!(page.contains(words), "no {words}: {page}");
    }
    // One sidecar speaks with no other, and a client's asks nobody.
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("idle.yaml");
    let text = "name: idle\npaths: {out: bridge@a -> bridge@b mesh client, both: bridge@a -> bridge@b mesh both}\n\
                mesh: {variants: [plain, no-mtls, policy-check]}\nworkloads: {w: rr}\n";
    fs::write(&file, text).expect("a scenario");
    let file = file.to_str().expect("a path");
    let page = ran(&["plan", file]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "changes nothing out.no-mtls no-mtls: there is no second proxy out.policy-check policy-check: a client's \
                sidecar asks nobody";
    assert!(page.ends_with(told), "{page}");
    let idle = json(&["plan", file, "--json"])["without_effect"].clone();
    assert_eq!(idle.as_array().map(Vec::len), Some(2), "{idle}");
    assert_eq!((&idle[0]["path"], &idle[0]["setting"]), (&"out.no-mtls".into(), &"no-mtls".into()));
    let page = ran(&["plan", "mesh-latency"]).stdout;
    assert!(!page.contains("changes nothing"), "{page}");
    assert!(page.contains("bridge@a -> bridge@b, mesh both "), "{page}");
    assert!(!page.contains("variant plain"), "what goes without saying: {page}");
    for (scenario, envoy) in [("mesh-latency", true), ("cni-matrix", false)] {
        let page = ran(&["plan", scenario]).stdout;
        assert_eq!(page.contains("envoy, nft"), envoy, "{page}");
        assert_eq!(page.contains("what its proxies do"), envoy, "{page}");
    }
}

#[test]
fn the_command_line_changes_the_plan() {
    let arguments = ["plan", "quickstart", "--only", "path=overlay,workload=rr", "--rounds", "5", "--duration", "2s"];
    let page = ran(&arguments).stdout;
    assert!(page.starts_with("quickstart: 1 cell in 5 rounds = 5 trials, about 13 s\n"), "{page}");
}

#[test]
fn what_is_wrong_is_told_at_once_and_nothing_is_printed() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("bad.yaml");
    let name = file.to_string_lossy().into_owned();
    fs::write(&file, "name: x\nrounds: 0\npaths: {p: hots@a -> host@b}\nworkloads: {w: {rr: {siez: 1}}}\n")
        .expect("a file");
    let run = run(&mut program(&["plan", &name]));
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{}", run.story());
    let expected = [
        format!("hopbench: {name}:2:9: rounds: found `0`, expected 1 to 1000"),
        format!(
            "hopbench: {name}:3:12: paths.p: found `hots`, expected one of host, bridge, overlay, ptp, macvlan, eni; did you mean `host`?"
        ),
    ];
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines[..2], expected);
    assert!(
        lines[2].contains(":4:22: workloads.w.rr.siez: found `siez`") && lines[2].ends_with("did you mean `size`?")
    );
    assert_eq!(lines.len(), 3);
}

#[test]
fn files_that_cannot_be_scenarios() {
    let dir = tempfile::tempdir().expect("a folder");
    let long = dir.path().join("long.yaml");
    fs::write(&long, vec![b'#'; (1 << 20) + 1]).expect("a file");
    let binary = dir.path().join("binary.yaml");
    fs::write(&binary, [b'a', 0xff]).expect("a file");
    for (name, expected) in [
        ("quikstart".to_owned(), "or one of quickstart, tcp-fanout"),
        ("quickstrat".to_owned(), "max-throughput; did you mean `quickstart`?"),
        (dir.path().to_string_lossy().into_owned(), "a file that can be read"),
        (long.to_string_lossy().into_owned(), "at most 1MiB"),
        (binary.to_string_lossy().into_owned(), "expected UTF-8; byte 1 is none"),
        ("/dev/zero".to_owned(), "at most 1MiB"),
    ] {
        let run = run(&mut program(&["plan", &name]));
        assert_eq!(run.code, Some(2), "{name}: {}", run.story());
        assert!(run.stderr.contains(&format!("found `{name}`")) && run.stderr.contains(expected), "{}", run.story());
    }
}

#[test]
fn the_schema_knows_this_programs_words() {
    let schema = json(&["schema"]);
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let kind = schema["$defs"]["kind"]["pattern"].as_str().expect("a pattern");
    for word in ["host", "bridge", "overlay", "ptp", "macvlan", "eni", "runsc"] {
        assert!(kind.contains(word), "{kind}");
    }
    assert!(schema["$defs"]["http"]["properties"]["server"].to_string().contains("nginx"));
    let path = schema["$defs"]["path"]["anyOf"][0]["pattern"].as_str().expect("a pattern");
    assert!(path.contains("mesh +both") && path.contains("gateway"), "{path}");
}

#[test]
fn mesh_modes_and_variants_are_listed() {
    let names = |kind: &str| {
        let list = ran(&["list", kind]).stdout;
        let rows = list.lines().map(|line| line.trim().split_once(' ').unwrap_or_else(|| panic!("no summary: {line}")));
        let about: std::collections::BTreeSet<String> =
            rows.clone().map(|(_, about)| about.trim().to_owned()).collect();
        assert_eq!(about.len(), list.lines().count(), "each has a line of its own: {list}");
        rows.map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("mesh"), ["none", "server", "client", "both"]);
    let variants = names("variants");
    for name in ["plain", "stats", "access-log", "policy-check", "policy-report", "no-mtls", "http2"] {
        assert!(variants.iter().any(|known| known == name), "{variants:?}");
    }
}

#[test]
fn scenarios_are_listed() {
    let list = ran(&["list", "scenarios"]).stdout;
    let names: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, SHIPPED);
    assert!(list.lines().all(|line| line.ends_with('?') && line.len() <= 80), "{list}");
}
