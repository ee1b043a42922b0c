//! The limit of the trial, the settings of the system, and the path as both ends saw it.

use hopbench_model::Record;

use super::page::Page;
use crate::{ADDRESS_SETTING, OTHERS_SETTING};

pub(super) fn write(page: &mut Page, record: &Record) {
    page.heading("evidence");
    page.field("limited by", &limit(record));
    let settings: Vec<_> = record
        .settings
        .iter()
        .filter(|(name, _)| ![ADDRESS_SETTING, OTHERS_SETTING].contains(&name.as_str()))
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    page.fields("settings", &settings);
    let proofs: Vec<_> = record
        .proof
        .iter()
        .map(|proof| {
            let verdict = if proof.ok { "ok" } else { "NOT AS NAMED" };
            format!("{}: {} ({verdict})", proof.hop, proof.evidence)
        })
        .collect();
    page.fields("path", &proofs);
    let held = record.invariants.iter().filter(|invariant| invariant.ok).count();
    if !record.invariants.is_empty() {
        let all = record.invariants.len();
        page.field(
            "invariants",
            &if held == all { format!("all {all} held") } else { format!("{held} of {all} held") },
        );
    }
}

fn limit(record: &Record) -> String {
    match (record.limited_by.as_str(), record.limited_because.as_str()) {
        ("", "") => "unknown".to_owned(),
        (by, "") => by.to_owned(),
        (by, because) => format!("{by} ({because})"),
    }
}
