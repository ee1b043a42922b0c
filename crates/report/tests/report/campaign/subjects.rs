//! Runs with subjects in reports: what each of them had.

use hopbench_model::{Cell, NodeSettings, Path, Proof, Reference, Subject};

use super::fixture::Made;
use super::{mesh, render};

/// The Envoys of both subjects, as a lab reads them back.
const OLD: &str = "envoy 1.40.0 at /x/envoy (sha256 01)";
const NEW: &str = "envoy 1.41.0 at /y/envoy (sha256 02)";

fn named(path: &str, subject: &str) -> String {
    format!("{path}.{subject}")
}

/// A run through proxies with every path as `old` and as `new` has it.
fn compared() -> Made {
    let Made { mut run, records } = mesh::mesh(2);
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
    let mut all = Vec::new();
    for record in records {
        for (subject, envoy) in [("old", OLD), ("new", NEW)] {
            let mut own = record.clone();
            own.path = named(&record.path, subject);
            let is_proxied = record.path != "none";
            let evidence = if is_proxied { envoy } else { Subject::NOT_READ_BACK };
            let (hop, evidence) = (Subject::hop(subject), evidence.to_owned());
            own.proof.push(Proof { hop, evidence, ok: true });
            all.push(own);
        }
    }
    Made { run, records: all }
}

#[test]
fn every_subject_says_what_it_had() {
    let made = compared();
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
