//! Records as `--json` prints them.

use hopbench_model::{Latency, Record};

use super::program::Finished;

/// The records of a run that went well.
pub(crate) fn measured(run: &Finished) -> Vec<Record> {
    assert_eq!(run.code, Some(0), "{}", run.story());
    printed(run)
}

/// The one record of a run that went well: nothing in it contradicts itself.
pub(crate) fn one(run: &Finished) -> Record {
    let mut records = measured(run);
    assert_eq!(records.len(), 1, "{}", run.story());
    let record = records.remove(0);
    sound(&record);
    record
}

/// The records that were printed, however the run ended.
pub(crate) fn printed(run: &Finished) -> Vec<Record> {
    let parse =
        |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("not a record: {e}: {line}"));
    run.stdout.lines().map(parse).collect()
}

/// Every invariant holds, there is at least one, and nothing was cut short.
pub(crate) fn sound(record: &Record) {
    assert_eq!(record.incomplete, None, "{}", record.workload);
    assert!(!record.invariants.is_empty(), "{}: no invariants", record.workload);
    let broken: Vec<_> = record.invariants.iter().filter(|i| !i.ok).collect();
    assert!(broken.is_empty(), "{} on {}: {broken:?}", record.workload, record.job["engine"]);
}

/// States that the record has this invariant; whether it holds is [`sound`]'s to say.
pub(crate) fn states(record: &Record, name: &str) {
    let names: Vec<_> = record.invariants.iter().map(|i| i.name.as_str()).collect();
    assert!(names.contains(&name), "{} does not state {name}, only {names:?}", record.workload);
}

/// A figure that must be there.
pub(crate) fn metric(record: &Record, name: &str) -> f64 {
    let found = record.metrics.get(name).copied();
    found.unwrap_or_else(|| panic!("{} has no {name}, only {:?}", record.workload, record.metrics))
}

/// A latency that must be there.
pub(crate) fn latency<'r>(record: &'r Record, name: &str) -> &'r Latency {
    let found = record.latency.get(name);
    found.unwrap_or_else(|| {
        panic!("{} has no {name}, only {:?}", record.workload, record.latency.keys())
    })
}
