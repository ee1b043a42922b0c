//! `hopbench plan`, `hopbench schema` and `hopbench list scenarios`: nothing is started by them.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hopbench_model::{Cell, Plan};
use hopbench_scenario::shipped;
use serde_json::Value;

use crate::lab::program::run;
use crate::lab::{Finished, program, words};
use crate::promised::promised;

#[rustfmt::skip]
const SHIPPED: [&str; 11] = [
    "quickstart", "tcp-fanout", "message-size-sweep", "mesh-latency", "mesh-variants",
    "mesh-protocols",
    "cni-matrix", "max-throughput", "ip-families", "before-after",
    "check-against-peers",
];

fn ran(arguments: &[&str]) -> Finished {
    let run = run(&mut program(arguments));
    // Where a program is not installed that all of a scenario needs, its plan says so at the end.
    if run.code == Some(3) && arguments[0] == "plan" {
        assert!(
            run.stderr.contains("no cell can be measured here"),
            "{arguments:?}: {}",
            run.story()
        );
        return run;
    }
    assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.story());
    assert!(run.stderr.is_empty(), "{arguments:?}: {}", run.story());
    run
}

fn count(planned: &Value, key: &str) -> usize {
    planned[key].as_u64().unwrap_or_else(|| panic!("no {key}")) as usize
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
        let searched = |cell: &&Cell| plan.points[cell.point].search.is_some();
        let (cells, searches) = (count(&planned, "cells"), count(&planned, "searches"));
        let impossible = plan.cells.len() - cells - searches;
        let more = format!(
            "\n{impossible} {} more cannot run here",
            if impossible == 1 { "cell" } else { "cells" }
        );
        assert_eq!(page.contains(&more), impossible > 0, "{page}");
        let [least, most] = ["least_trials", "trials"].map(|key| count(&planned, key));
        let [shortest_s, longest_s] =
            ["least_estimated_s", "estimated_s"].map(|key| planned[key].as_f64().expect("seconds"));
        if plan.cells.iter().any(|cell| searched(&cell)) {
            assert!(
                cells == 0
                    && page
                        .starts_with(&format!("{name}: {searches} searches of {least} to {most} ")),
                "{page}"
            );
            // Each path at the best of each, besides the searches.
            assert!(least > 9 * searches && most > least, "{least} to {most} trials");
        } else {
            let rounds = match plan.budget_ns {
                Some(_) => u32::try_from(most / cells).expect("rounds"),
                None => plan.rounds,
            };
            let min = plan.stop.as_ref().map_or(rounds, |stop| stop.min_rounds) as usize;
            let rounds = if plan.stop.is_some() {
                format!("{min} to {}", most / cells)
            } else {
                min.to_string()
            };
            let trials =
                if least == most { most.to_string() } else { format!("{least} to {most}") };
            let first =
                format!("{name}: {cells} cells in {rounds} rounds = {trials} trials, about ");
            assert!(
                page.split_whitespace().collect::<Vec<_>>().join(" ").starts_with(&first),
                "{first}: {page}"
            );
            assert_eq!(least, cells * min);
            // No round begins after the budget.
            let round_s = longest_s / (most / cells) as f64;
            let budget_s = plan
                .stop
                .as_ref()
                .and_then(|stop| stop.budget_ns)
                .or(plan.budget_ns)
                .map_or(f64::INFINITY, |ns| ns as f64 / 1e9);
            assert!(
                longest_s < budget_s + round_s && most <= cells * plan.most_rounds() as usize,
                "{longest_s} s"
            );
            assert!((shortest_s - round_s * min as f64).abs() < 1e-6, "{shortest_s} s");
            let trial_s = |cell: &Cell| {
                let timing = plan.points[cell.point].job.timing;
                (timing.warmup_ns + timing.window_ns) as f64 / 1e9 + 0.06
            };
            let all_s: f64 = plan.cells.iter().map(trial_s).sum();
            assert!(
                if impossible == 0 { (round_s - all_s).abs() < 1e-6 } else { round_s < all_s },
                "{round_s} {all_s}"
            );
        }
        // What its first comment promises.
        if impossible == 0 {
            let [least, most] = promised(shipped(name).expect("a scenario").text);
            let near = |promised: f64, s: f64| (promised - s / 60.0).abs() <= 0.5;
            assert!(
                near(least, shortest_s) && near(most, longest_s),
                "{name}: {shortest_s} to {longest_s} s"
            );
        }
        for path in &plan.paths {
            assert!(
                page.lines().any(|line| line.starts_with(&format!("{} ", path.name))),
                "{name}: no {}",
                path.name
            );
        }
        assert_eq!(plan.seed, 7);
    }
}

#[test]
fn what_cannot_be_measured_is_told_with_the_reason() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("x.yaml");
    let text = "name: x\ntestbed: {lab: {nodes: 3}}\nworkloads: {w: {ping: {}}}\n\
                paths: {p: host@a -> bridge@c via node-port@b}\n";
    fs::write(&file, text).expect("a file");
    let page = run(&mut program(&["plan", &file.to_string_lossy()])).stdout;
    assert!(page.contains("cannot run here\n  w on p\n    ICMP has no ports"), "{page}");
    let text = "name: x\npaths: {p: host@a -> host@b}\nworkloads: {w: {rr: {cpu: 8000}}}\n";
    fs::write(&file, text).expect("a file");
    let whole = run(&mut program(&["plan", &file.to_string_lossy()]));
    let page = &whole.stdout;
    assert!(
        page.contains(
            "cannot run here\n  w on p\n    CPU 8000 of the client: this process may use "
        ),
        "{page}"
    );
    assert!(page.starts_with("x: no cell\n1 cell more cannot run here"), "{page}");
    assert_eq!(whole.code, Some(3), "{}", whole.story());
    assert!(whole.stderr.contains("no cell can be measured here"), "{}", whole.story());
}

#[test]
fn a_path_without_anything_to_compare_it_with_is_told() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("x.yaml");
    // The node's own network is no pod, with gVisor or without.
    let text = "name: x\npaths: {p: host@a -> host@b}\nworkloads: {w: {rr: {}}}\n\
                subjects: {old: {runtime: runsc}, new: {mtu: 1400}}\n";
    fs::write(&file, text).expect("a file");
    let file = file.to_string_lossy();
    let told = json(&["plan", &file, "--json"])["uncompared"].clone();
    let sentence = told[0].as_str().expect("a sentence");
    let begins = "`p.old` cannot be measured here, so `p.new` is compared with nothing: ";
    assert!(sentence.starts_with(begins) && sentence.len() > begins.len() + 10, "{told}");
    assert_eq!(told.as_array().map(Vec::len), Some(1), "{told}");
    let page = run(&mut program(&["plan", &file])).stdout;
    assert!(
        page.contains("\ncompared with nothing\n  `p.old` cannot be measured here, so "),
        "{page}"
    );
}

#[test]
fn a_subject_that_changes_nothing_is_as_the_testbed_has_it() {
    let page = run(&mut program(&["plan", "before-after", "--subject", "new=mtu: 1400"])).stdout;
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("subject old: as the testbed has it subject new: mtu 1400 "), "{page}");
}

/// A plan of somebody else's scenario starts nothing that it names.
#[test]
fn the_envoy_of_a_subject_is_not_started() {
    let dir = tempfile::tempdir().expect("a folder");
    let [file, envoy, started] = ["x.yaml", "envoy", "started"].map(|name| dir.path().join(name));
    let script = format!("#!/bin/sh\ntouch '{}'\n", started.display());
    fs::write(&envoy, script).expect("a file");
    fs::set_permissions(&envoy, fs::Permissions::from_mode(0o755)).expect("a program");
    let text = format!(
        "name: x\npaths: {{p: bridge@a -> bridge@b mesh server}}\nworkloads: {{w: {{rr: {{}}}}}}\n\
         subjects: {{new: {{envoy: '{}'}}}}\n",
        envoy.display()
    );
    fs::write(&file, text).expect("a file");
    let planned = || run(&mut program(&["plan", &file.to_string_lossy()]));
    let whole = planned();
    assert!(whole.stdout.contains("p.new "), "{}", whole.story());
    assert!(!whole.stdout.contains("the subject's envoy"), "{}", whole.story());
    assert!(!started.exists(), "it was started: {}", whole.story());
    fs::remove_file(&envoy).expect("gone");
    let whole = planned();
    assert!(whole.stdout.contains("the subject's envoy: "), "{}", whole.story());
}

#[test]
fn profiles_are_counted_with_their_time() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("x.yaml");
    // A trial takes 1 s, a profile 2.1 s, and 60 ms go by between trials.
    let text = "name: x\nrounds: 2\ntime: 900ms\nwarmup: 100ms\nbaseline: p\n\
                paths: {p: host@a -> host@b, q: host@a -> host@b}\n\
                workloads: {w: {rr: {}}, v: {rr: {size: 9B}}}\n";
    fs::write(&file, text).expect("a file");
    let file = file.to_string_lossy();
    let seconds = |planned: &Value, key: &str| planned[key].as_f64().expect("seconds");
    let plain = json(&["plan", &file, "--json"]);
    assert_eq!(plain["profiles"].as_array().map(Vec::len), Some(0), "{plain}");
    assert!(seconds(&plain, "profiles_s").abs() < 1e-9, "{plain}");
    let both = json(&["plan", &file, "--json", "--profile=q/w"]);
    let names: Vec<&str> = both["profiles"]
        .as_array()
        .expect("profiles")
        .iter()
        .filter_map(|cell| cell["path"].as_str())
        .collect();
    assert_eq!(names, ["p", "q"], "{both}");
    assert!((seconds(&both, "profiles_s") - 2.0 * 2.16).abs() < 1e-9, "{both}");
    for key in ["estimated_s", "least_estimated_s"] {
        let more = seconds(&both, key) - seconds(&plain, key);
        assert!((more - 2.0 * 2.16).abs() < 1e-9, "{key}: {more}");
    }
    let page = ran(&["plan", &file, "--profile"]).stdout;
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(" trials and 4 profiles, about "), "{page}");
    let row = "profiles 4 extra trials at the end, about 8.6 s: p/w, q/w, p/v, q/v ";
    assert!(page.contains(row), "{page}");
    let unknown = run(&mut program(&["plan", &file, "--profile=q/none"]));
    assert_eq!(unknown.code, Some(2), "{}", unknown.story());
    assert!(unknown.stderr.contains("--profile: found `q/none`"), "{}", unknown.story());
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
    let page =
        ran(&["plan", "max-throughput"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "service bridge@a -> bridge@[b, c] x 8 via cluster-ip nft, nginx gateway.plain ",
        "gateway.plain bridge@a -> bridge@[b, c] x 8 via envoy, nft, nginx gateway@[d, e] x 5, \
         mesh ",
        "plain 1 mTLS, any HTTP, 2 workers mixer 1 mTLS, any HTTP, 2 workers, a policy check for \
         each request, a telemetry report for each request workload ",
        " variant mixer ",
    ] {
        assert!(page.contains(words), "no {words}: {page}");
    }
    // One sidecar speaks with no other, and a client's asks nobody.
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("idle.yaml");
    let text = "name: idle\npaths: {out: bridge@a -> bridge@b mesh client, both: bridge@a -> \
                bridge@b mesh both}\n\
                mesh: {variants: [plain, no-mtls, policy-check]}\nworkloads: {w: rr}\n";
    fs::write(&file, text).expect("a scenario");
    let file = file.to_str().expect("a path");
    let page = ran(&["plan", file]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "changes nothing out.no-mtls no-mtls: there is no second proxy out.policy-check \
                policy-check: a client's sidecar asks nobody";
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
fn rules_pairs_and_searches_have_their_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rule.yaml");
    let text = include_str!("../../../../scenarios/mesh-latency.yaml")
        .replace("budget: 5m", "stop: {ci: 5%, metric: p99, max-rounds: 12, budget: 5m}")
        .replace("time: 250ms", "time: 1s\nwarmup: 300ms");
    fs::write(&file, text).expect("a scenario");
    let page = ran(&["plan", file.to_str().expect("a path"), "--seed", "1"]).stdout;
    let line = |name: &str| {
        page.lines()
            .find_map(|line| line.strip_prefix(name))
            .unwrap_or_else(|| panic!("{page}"))
            .trim()
    };
    assert_eq!(line("rounds "), "3 to 8 rounds in 5m (of 12 at most), until p99 is known to 5 %");
    assert_eq!(line("A/A "), "none again: the baseline once more; what they differ by is noise");
    let page = ran(&["plan", "mesh-latency", "--rounds", "2", "--only", "path=both"]).stdout;
    assert!(page.starts_with("mesh-latency: 5 cells in 2 rounds = 10 trials, about "), "{page}");
    assert!(
        !page.contains("\nrounds ") && !page.contains("A/A"),
        "neither a rule nor a pair: {page}"
    );
    let file = folder.path().join("searches.yaml");
    let text = "name: x\nrounds: 3\nminimum-effect: 2%\ntime: 940ms\nwarmup: 0s\nbaseline: a\n\
                paths: {a: host@a -> host@b, b: bridge@a -> bridge@b, c: bridge@a -> bridge@c}\n\
                workloads:\n  ask: {rr: , paths: [a, b]}\n  \
                knee: {rr: {size: 1}, search: {knee: {connections: [1, 2]}, errors: 0, equal-load: \
                true}}\n  \
                slo: {rr: {size: [1, 64]}, search: {slo: {p99.9: 5ms, rates: 1..9.5, repeats: 1}}, \
                paths: a}\n  \
                node: {http: , search: {cpu: {of: node c, ceiling: 60%, rates: 100..50000}}}\n  \
                loss: {udp: {size: 125}, search: {lossless: {loss: 0.1%, rates: 1Mbit..1Gbit, \
                repeats: 1}}, paths: b}\n";
    fs::write(&file, text).expect("a scenario");
    let file = file.to_str().expect("a path");
    let words = ran(&["plan", file]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    // Two paths and the twin; three searches for a knee, and three at each of three results; one a
    // path for the others.
    assert!(words.starts_with("x: 3 cells in 3 rounds = 9 trials and 7 searches of "), "{words}");
    for told in [
        " baseline a A/A a again: the baseline once more; what they differ by is noise effect \
         differences below 2 % are of no interest seed ",
        " knee knee: connections 1, 2, while throughput grows by 5%, errors up to 0%; all paths at \
         what each was found to carry a, b, c",
        " slo size=1B slo: p99.9 within 5ms, rates 1 to 9.5 a second, to 2%, errors up to 1% a",
        " slo size=64B slo: p99.9 ",
        " node cpu: CPU of node c at most 60%, rates 100 to 50000 a second, 3 times, errors up to \
         1% c",
        " loss lossless: loss at most 0.1%, rates 1000/s = 1.00 Mbit/s to 1000000/s = 1.00 Gbit/s, \
         to 1%, errors up to 1% b",
        " left out workloads.node.search.cpu on a, b: no node c there",
    ] {
        // Columns of a table are mixed where their lines are wrapped.
        let missing: Vec<&str> =
            told.split_whitespace().filter(|word| !words.contains(word)).collect();
        assert!(missing.is_empty(), "{missing:?} of `{told}`: {words}");
    }
    let planned = json(&["plan", file, "--json"]);
    assert_eq!((count(&planned, "cells"), count(&planned, "searches")), (3, 7));
    // A trial a second, those of rounds and of searches.
    let seconds = planned["least_estimated_s"].as_f64().expect("seconds");
    assert!((seconds - count(&planned, "least_trials") as f64).abs() < 1e-6, "{seconds}");
    assert_eq!(planned["plan"]["twin"], "a again");
    assert_eq!(planned["plan"]["minimum_effect"], 0.02);
    assert_eq!(
        planned["plan"]["points"][1]["search"]["goal"]["knee"]["connections"],
        serde_json::json!([1, 2])
    );
}

#[test]
fn a_rule_says_what_it_looks_at_and_how_far_the_time_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rule.yaml");
    let text = "name: x\nstop: {ci: 5%, metric: p99, max-rounds: 500, budget: 1s}\ntime: 2s\n\
        paths: {a: host@a -> host@b}\nworkloads: {ask: rr, bulk: stream}\n";
    fs::write(&file, text).expect("a scenario");
    let file = file.to_str().expect("a path");
    let words = ran(&["plan", file]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.starts_with("x: 2 cells in 1 round = 2 trials, "), "{words}");
    let rule = "rounds 1 round in 1s, no more begin then: too few to say whether p99 is known to 5 \
                %, which takes 3 to 500 rounds";
    assert!(words.contains(rule), "{words}");
    assert!(
        words.contains("bulk: it has no p99: its rounds end when its received_bits_per_s is sure"),
        "{words}"
    );
    let instead = json(&["plan", file, "--json"])["looked_at_instead"].clone();
    assert_eq!(instead.as_array().map(Vec::len), Some(1), "{instead}");
    let wrong = fs::read_to_string(file).expect("the scenario").replace("p99", "foo_bar");
    fs::write(file, wrong).expect("a scenario");
    let refused = run(&mut program(&["plan", file]));
    assert_eq!(refused.code, Some(2), "{}", refused.story());
    assert!(
        refused.stderr.contains("stop.metric: found `foo_bar`, expected one of throughput, p50"),
        "{}",
        refused.story()
    );
}

#[test]
fn a_search_whose_trials_end_before_the_queue_is_full_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("flood.yaml");
    let text = "name: x\ntestbed: {lab: {nodes: 2, link: 100Mbit}}\ntime: 1s\nwarmup: 200ms\n\
                paths: {far: host@a -> host@b, near: bridge@a -> bridge@a}\nworkloads:\n  \
                flood: {udp: {size: 1400}, search: {lossless: {loss: 0.1%, rates: 10Mbit..300Mbit, \
                precision: 1%}}}\n";
    fs::write(&file, text).expect("a scenario");
    let file = file.to_str().expect("a path");
    let words = ran(&["plan", file]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "flood on far: warm-up and window are 1.2 s together, but the queue of a link of \
                100Mbit holds 21 ms, and 1 % above the link's rate fills it in 2.1 s. The search \
                can find more than the link carries. Let them be 2.1 s or longer";
    assert!(words.contains(told), "{words}");
    for (short, long) in [("time: 1s", "time: 2s"), ("precision: 1%", "precision: 2%")] {
        fs::write(file, text.replace(short, long)).expect("a scenario");
        assert_eq!(json(&["plan", file, "--json"])["too_short"], serde_json::json!([]), "{long}");
    }
}

#[test]
fn the_command_line_changes_the_plan() {
    let line = "plan quickstart --only path=overlay,workload=rr --rounds 5 --time 2s";
    let page = ran(&words(line)).stdout;
    assert!(page.starts_with("quickstart: 1 cell in 5 rounds = 5 trials, about 11 s\n"), "{page}");
}

#[test]
fn how_long_a_run_goes_on_is_told_where_nobody_said_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("x.yaml");
    let text = "name: x\npaths: {p: host@a -> host@b}\nworkloads: {w: {rr: {}}}\n";
    fs::write(&file, text).expect("a scenario");
    let file = file.to_str().expect("a path");
    let words = ran(&["plan", file]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(" budget 2m30s for the rounds seed "), "{words}");
    // So many long rounds, whoever wants them.
    let page = ran(&["plan", file, "--rounds", "3"]).stdout;
    assert!(page.starts_with("x: 1 cell in 3 rounds = 3 trials, about "), "{page}");
    assert!(!page.contains("2m30s"), "{page}");
}

#[test]
fn what_is_wrong_is_told_at_once_and_nothing_is_printed() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("bad.yaml");
    let name = file.to_string_lossy().into_owned();
    fs::write(
        &file,
        "name: x\nrounds: 0\npaths: {p: hots@a -> host@b}\nworkloads: {w: {rr: {siez: 1}}}\n",
    )
    .expect("a file");
    let run = run(&mut program(&["plan", &name]));
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{}", run.story());
    let expected = [
        format!("hopbench: {name}:2:9: rounds: found `0`, expected 1 to 1000"),
        format!(
            "hopbench: {name}:3:12: paths.p: found `hots`, expected one of host, bridge, overlay, \
             ptp, macvlan, eni; did you mean `host`?"
        ),
    ];
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines[..2], expected);
    assert!(
        lines[2].contains(":4:22: workloads.w.rr.siez: found `siez`")
            && lines[2].ends_with("did you mean `size`?")
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
        ("quickstrat".to_owned(), "check-against-peers; did you mean `quickstart`?"),
        (dir.path().to_string_lossy().into_owned(), "a file that can be read"),
        (long.to_string_lossy().into_owned(), "at most 1MiB"),
        (binary.to_string_lossy().into_owned(), "expected UTF-8; byte 1 is none"),
        ("/dev/zero".to_owned(), "at most 1MiB"),
    ] {
        let run = run(&mut program(&["plan", &name]));
        assert_eq!(run.code, Some(2), "{name}: {}", run.story());
        assert!(
            run.stderr.contains(&format!("found `{name}`")) && run.stderr.contains(expected),
            "{}",
            run.story()
        );
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
        let rows = list.lines().map(|line| {
            line.trim().split_once(' ').unwrap_or_else(|| panic!("no summary: {line}"))
        });
        let about: std::collections::BTreeSet<String> =
            rows.clone().map(|(_, about)| about.trim().to_owned()).collect();
        assert_eq!(about.len(), list.lines().count(), "each has a line of its own: {list}");
        rows.map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("mesh"), ["none", "server", "client", "both"]);
    let variants = names("variants");
    for name in
        ["plain", "stats", "access-log", "policy-check", "policy-report", "no-mtls", "http2"]
    {
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

#[test]
fn the_file_of_a_scenario_is_printed() {
    for name in SHIPPED {
        let file = format!("{}/../../scenarios/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
        let printed = ran(&["list", "scenarios", name]);
        assert_eq!(printed.stdout, fs::read_to_string(file).expect("the file"));
    }
    for (arguments, part) in [
        (["list", "scenarios", "quickstrat"], "quickstart"),
        (["list", "engines", "quickstart"], "`hopbench list scenarios quickstart`"),
    ] {
        let wrong = run(&mut program(&arguments));
        assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""), "{}", wrong.story());
        assert!(wrong.stderr.contains(part), "{}", wrong.story());
    }
}
