//! Runs with subjects in reports: what each of them had, cost, and what hops add with each.

use hopbench_model::{Cell, Cost, NodeSettings, Path, Place, Proof, Reference, Subject};
use hopbench_report::campaign::Screen;
use hopbench_report::comparison::CaseState;

use super::fixture::{self, Made, Noise};
use super::{mesh, render, summary};

/// The Envoys of both subjects, as a lab reads them back.
const OLD: &str = "envoy 1.40.0 at /x/envoy (sha256 01)";
const NEW: &str = "envoy 1.41.0 at /y/envoy (sha256 02)";

fn named(path: &str, subject: &str) -> String {
    format!("{path}.{subject}")
}

/// A run through proxies with every path as `old` and as `new` has it, which is far slower.
fn compared(rounds: u32) -> Made {
    let Made { mut run, records } = mesh::mesh(rounds);
    let plan = &mut run.plan;
    plan.baseline = None;
    let node = NodeSettings { envoy: Some("/y/envoy".to_owned()), ..NodeSettings::default() };
    plan.subjects = vec![
        Subject { name: "old".to_owned(), ..Subject::default() },
        Subject { name: "new".to_owned(), node, ..Subject::default() },
    ];
    let count = plan.paths.len();
    let new = |path: &Path| Path {
        name: named(&path.name, "new"),
        subject: Some("new".to_owned()),
        reference: Some(Reference { path: named(&path.name, "old"), again: false }),
        // As a lab gives every subject nodes of its own.
        from: Place { node: named(&path.from.node, "new"), ..path.from.clone() },
        to: Place { node: named(&path.to.node, "new"), ..path.to.clone() },
        ..path.clone()
    };
    let of_new: Vec<Path> = plan.paths.iter().map(new).collect();
    for path in &mut plan.paths {
        path.name = named(&path.name, "old");
        path.subject = Some("old".to_owned());
    }
    plan.paths.extend(of_new);
    let more: Vec<Cell> =
        plan.cells.iter().map(|cell| Cell { path: cell.path + count, ..*cell }).collect();
    plan.cells.extend(more);
    let mut noise = Noise::default();
    let mut all = Vec::new();
    for record in records {
        for (subject, envoy) in [("old", OLD), ("new", NEW)] {
            let mut own = record.clone();
            own.path = named(&record.path, subject);
            let is_proxied = record.path != "none";
            let evidence = if is_proxied { envoy } else { Subject::NOT_READ_BACK };
            let (hop, evidence) = (Subject::hop(subject), evidence.to_owned());
            own.proof.push(Proof { hop, evidence, ok: true });
            if subject == "new" {
                let latencies = own.latency.values_mut();
                latencies.for_each(|one| *one = fixture::distribution(1e7, &mut noise));
            }
            all.push(own);
        }
    }
    Made { run, records: all }
}

#[test]
fn every_subject_says_what_it_had() {
    let made = compared(2);
    let old = format!("old: as the testbed has it, read back as {OLD}");
    let new = format!("new: envoy /y/envoy, read back as {NEW}");
    let told = |made: &Made| {
        let page = render(made, "table");
        page.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let page = told(&made);
    assert!(page.contains(&format!("; subject: {old}; subject: {new}; ")), "{page}");
    let json: serde_json::Value = serde_json::from_str(&render(&made, "json")).unwrap();
    let subjects = &json["run"]["subjects"];
    assert_eq!(subjects[0]["changes"], "nothing");
    assert_eq!(subjects[0]["read_back"], OLD);
    assert_eq!(subjects[1]["read_back"], NEW);
    // Where nothing is read back, no more is said than is known.
    let mut unread = made;
    unread.records.iter_mut().for_each(|record| {
        record.proof.retain(|proof| !proof.hop.starts_with("subject "));
    });
    let page = told(&unread);
    let plain = "; subject: old: as the testbed has it; subject: new: envoy /y/envoy; ";
    assert!(page.contains(plain), "{page}");
}

#[test]
fn each_hop_adds_has_a_row_of_each_subject() {
    let (plain, both) = (mesh::mesh(2), compared(2));
    let screen = |made: &Made| Screen { height: 200, ..Screen::default() }.text(&summary(made));
    let below = |screen: &str, title: &str| -> Vec<String> {
        let title = format!("\neach hop adds, bridge@a to bridge@b, direct{title}\n");
        let (_, rest) = screen.split_once(&title).unwrap_or_else(|| panic!("{screen}"));
        rest.lines().take_while(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let [plain, rows] = [&plain, &both].map(|made| {
        let told = below(&screen(made), " (1 of 3 families)");
        told.into_iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
    });
    let rows: Vec<String> = rows.collect();
    let steps = ["no proxy", "+ server sidecar", "+ client sidecar"];
    let expected: Vec<String> =
        plain.filter(|line| steps.iter().any(|step| line.starts_with(step))).collect();
    assert_eq!(expected.len(), steps.len(), "{expected:?}");
    for (step, line) in steps.iter().zip(&expected) {
        // The old one is as the run without subjects.
        let [old, new] = ["old", "new"].map(|subject| {
            let name = format!("{step}, {subject} ");
            let at = rows.iter().position(|row| row.starts_with(&name));
            let at = at.unwrap_or_else(|| panic!("{name}: {rows:?}"));
            (at, rows[at].strip_prefix(&name).unwrap())
        });
        // The unit stands in the head only where all rows have it.
        let bare = |text: &str| text.replace(" us", "");
        assert_eq!(Some(bare(old.1)), line.strip_prefix(&format!("{step} ")).map(bare));
        assert_eq!(new.0, old.0 + 1, "one below the other: {rows:?}");
        assert!(new.1.split(' ').all(|word| word != "."), "it was measured: {rows:?}");
    }
    // The details have those of all.
    let all = summary(&both).waterfall;
    for (subject, nodes) in [("old", ["a", "b"]), ("new", ["a.new", "b.new"])] {
        let [from, to] = nodes;
        let name = format!("bridge@{from} → bridge@{to}, direct, subject {subject} at rate=100");
        assert_eq!(all.iter().filter(|one| one.name() == name).count(), 1, "{name}");
    }
}

#[test]
fn the_costs_of_each_path_are_compared_with_those_of_the_first_subject() {
    let mut made = compared(6);
    for record in made.records.iter_mut().filter(|record| record.path == "both.new") {
        let Cost { client, server, proxies, .. } = &mut record.cost;
        let of_proxies = proxies.iter_mut().map(|proxy| &mut proxy.figures);
        for figures in of_proxies.chain([client, server]) {
            for name in ["cores", "cpu_s", "system_s", "user_s"] {
                figures.get_mut(name).into_iter().for_each(|value| *value *= 2.0);
            }
        }
    }
    let screen = Screen { height: 200, ..Screen::default() }.text(&summary(&made));
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, costs) = words.split_once("CPU per request ").unwrap();
    let (costs, _) = costs.split_once(" limited by ").unwrap();
    let told = costs.strip_prefix("web at rate=4000: both.new +100 ±");
    assert!(told.is_some_and(|told| told.contains(" % (133 us to 26")), "{costs}");
    assert!(costs.ends_with(" us), 6 same"), "{costs}");
    // Two rounds have no verdicts: then every path shows its figure.
    let few = Screen { height: 200, ..Screen::default() }.text(&summary(&compared(2)));
    let few = few.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(few.contains("CPU per request web at rate=4000: none.old 9."), "{few}");
}

#[test]
fn a_bound_is_about_all_rounds_together() {
    let mut made = compared(40);
    made.run.plan.subjects[1].bounds.insert("throughput".to_owned(), 0.05);
    let is_bulk = |workload: &str, path: &str| workload == "bulk" && path.starts_with("none.");
    made.records.retain(|record| is_bulk(&record.workload, &record.path));
    let state = |made: &Made| {
        let said = summary(made);
        let cases = &said.run.subjects[1].bounds[0].cases;
        cases.iter().find(|case| case.cell.contains("none.new")).map(|case| case.state)
    };
    assert_eq!(state(&made), Some(CaseState::Kept));
    // In four rounds of 40 it carries a third, which no median shows.
    let bad = |round: u32| round % 10 == 2;
    for record in made.records.iter_mut().filter(|one| one.path == "none.new" && bad(one.round)) {
        *record.metrics.get_mut("received_bits_per_s").unwrap() /= 3.0;
    }
    assert_eq!(state(&made), Some(CaseState::Unseen));
}
