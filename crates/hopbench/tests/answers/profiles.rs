//! Profiles whose answer is known: only a tunnel runs the code of tunnels.

use std::io::{self, Write};
use std::path::Path;

use hopbench_model::{Folded, ProfileFile};

use crate::lab::namespace::outside_alone;
use crate::lab::{Bench, User};

const TWO_PATHS: &str = "
name: profiled
testbed: {lab: {nodes: [a, b]}}
rounds: 2
time: 300ms
warmup: 100ms
interval: 50ms
baseline: bridge
paths:
  bridge:  bridge@a -> bridge@b
  overlay: overlay@a -> overlay@b
workloads:
  ask: {rr: {size: 100B, connections: 4}}
";

/// What only the overlay's packets pass.
const TUNNEL: &str = "vxlan";

fn folded(dir: &Path, name: &str) -> Folded {
    let text = std::fs::read_to_string(dir.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    Folded::parse(&text).expect("folded stacks")
}

/// The share of samples whose stack has this word.
fn share(folded: &Folded, word: &str) -> f64 {
    let with = folded.stacks().filter(|(stack, _)| stack.contains(word));
    with.map(|(_, count)| count as f64).sum::<f64>() / folded.total().max(1) as f64
}

#[test]
fn a_profile_shows_what_a_path_adds_and_is_in_no_figure() {
    let Some(_turn) = outside_alone() else {
        return;
    };
    let bench = Bench::new(User::Caller, TWO_PATHS);
    let done = bench.run(&["--profile"]);
    if done.code == Some(3) && done.stderr.contains("perf_event_open") {
        let required = std::env::var("HOPBENCH_REQUIRE_PERF").is_ok_and(|value| value == "1");
        assert!(!required, "{}", done.story());
        let _ = writeln!(io::stderr(), "SKIP: the kernel forbids profiles: {}", done.stderr);
        return;
    }
    assert_eq!(done.code, Some(0), "{}", done.story());
    let results = bench.results();
    // The trials of the plan, and no others.
    results.whole();
    assert_eq!(results.records.len(), 6, "two paths and the twin, in two rounds");
    let dir = bench.out().join("profile");
    let text = std::fs::read_to_string(dir.join("profile.json")).expect("profile.json");
    let file: ProfileFile = serde_json::from_str(&text).expect("a description");
    assert_eq!(file.run_id, results.run.run_id);
    let names: Vec<&str> = file.cells.iter().map(|cell| cell.path.as_str()).collect();
    assert_eq!(names, ["bridge", "overlay"], "{text}");
    for cell in &file.cells {
        assert_eq!((&cell.problem, cell.lost_samples), (&None, 0), "{text}");
        assert!((1.9..2.2).contains(&cell.window_s) && cell.samples > 100, "{text}");
        let count = cell.count.as_ref().expect("requests");
        assert!(count.unit == "request" && count.number > 100.0, "{text}");
    }
    let [bridge, overlay] =
        ["bridge", "overlay"].map(|path| folded(&dir, &format!("{path}.ask.folded")));
    for profile in [&bridge, &overlay] {
        let roots = profile.roots();
        assert!(roots.contains_key("client") && roots.contains_key("server"), "{roots:?}");
    }
    // With less rights the kernel is not seen, and a note says so.
    if file.notes.is_empty() {
        assert!(bridge.roots().contains_key("softirq"), "{:?}", bridge.roots());
        let [without, with] = [&bridge, &overlay].map(|profile| share(profile, TUNNEL));
        assert!(without < 0.005 && with > 0.02, "{without} and {with} of the samples in {TUNNEL}");
    }
    for name in ["bridge.ask.svg", "overlay.ask.svg", "overlay-vs-bridge.ask.svg"] {
        let svg = std::fs::read_to_string(dir.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(svg.starts_with("<svg ") && svg.contains("<rect "), "{name}: {svg}");
    }
    assert!(done.stdout.contains("ask on overlay against bridge: CPU "), "{}", done.story());
    let page = std::fs::read_to_string(bench.out().join("report.html")).expect("a report");
    assert!(page.contains("<a href=\"profile/overlay-vs-bridge.ask.svg\">"), "no link");

    // A folder that is finished can be profiled, too: the cell that is named is made anew.
    let again = bench.resume(&["--profile=bridge/ask", "--no-report"]);
    assert_eq!(again.code, Some(0), "{}", again.story());
    assert_eq!(bench.results().records, results.records);
    assert!(again.stderr.contains("profile 1 of 1, bridge ask: "), "{}", again.story());
    assert_eq!(folded(&dir, "overlay.ask.folded"), overlay, "it was not asked for");
}
