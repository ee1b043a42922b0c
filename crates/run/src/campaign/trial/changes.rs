//! The changes of a testbed in a trial's time.

use hopbench_model::{Fault, Warning, WarningKind};

use super::Done;

/// A trial's result with what changed in its time, and in that of the tries before it, whose
/// figures are gone.
pub(in crate::campaign) fn told(
    result: Result<Done, Fault>,
    changes: &[String],
    disturbed: &[String],
) -> Result<Done, Fault> {
    match result {
        Ok(mut done) => {
            if !disturbed.is_empty() {
                let times = format!(
                    "{} times, as the testbed changed: {}",
                    disturbed.len(),
                    disturbed.join(" | ")
                );
                done.record.settings.insert("measured_again".to_owned(), times);
            }
            if !changes.is_empty() {
                done.record.testbed_changed = Some(changes.join("; "));
            }
            done.record.warnings.extend(changes.iter().map(|change| {
                let next = "its figures are compared with nothing; measure it again when the \
                            testbed is quiet";
                Warning::new(WarningKind::EnvironmentChanged, change.clone(), next)
            }));
            Ok(done)
        }
        Err(fault) if changes.is_empty() => Err(fault),
        Err(fault) => {
            let text = format!("{}; the testbed changed: {}", fault.text, changes.join("; "));
            Err(Fault { text, ..fault })
        }
    }
}
