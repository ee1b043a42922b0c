//! Caveats that a reader must know before using a figure.

use hopbench_model::{Record, Warning};

use super::page::Page;

/// Writes what makes the figures useless or partial, before anything else.
pub(super) fn alarms(page: &mut Page, record: &Record) {
    let mut any = false;
    if let Some(why) = &record.incomplete {
        page.alarm(&format!("INCOMPLETE: {why}; the figures cover what was measured until then"));
        any = true;
    }
    for invariant in record.invariants.iter().filter(|invariant| !invariant.ok) {
        let detail =
            if invariant.detail.is_empty() { "no numbers were kept" } else { &invariant.detail };
        page.alarm(&format!(
            "INVARIANT VIOLATED: {}: {detail}; do not use these figures",
            invariant.name
        ));
        any = true;
    }
    for proof in record.proof.iter().filter(|proof| !proof.ok) {
        page.alarm(&format!("PATH NOT PROVEN: {}: {}", proof.hop, proof.evidence));
        any = true;
    }
    if any {
        page.blank();
    }
}

pub(super) fn warnings(page: &mut Page, record: &Record) {
    if record.warnings.is_empty() {
        return;
    }
    page.heading("warnings");
    for warning in &record.warnings {
        page.field(&kind(warning), &warning.detail);
        if !warning.next.is_empty() {
            page.field("", &format!("-> {}", warning.next));
        }
    }
}

/// The sort of caveat as the record names it.
fn kind(warning: &Warning) -> String {
    match serde_json::to_value(warning.kind) {
        Ok(serde_json::Value::String(name)) => name.replace('_', " "),
        _ => format!("{:?}", warning.kind),
    }
}
