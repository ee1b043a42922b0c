//! Every path at the loads that were found on the others.

use std::collections::BTreeMap;

use hopbench_model::{EQUAL_LOAD, Record, RunStatus, SearchOutcome, SearchStep};

use super::{consistent, knee, searching, steps, web, workshops};
use crate::alone::Alone;
use crate::onlooker::{Onlooker, contents, resume, run};

const LEVELS: [u32; 5] = [1, 2, 4, 8, 16];

/// The knee of a path.
fn found(records: &[Record], path: &str) -> f64 {
    let outcomes = steps(records, path).into_iter().filter_map(|step| step.outcome);
    let loads: Vec<f64> = outcomes
        .map(|outcome| match outcome {
            SearchOutcome::Found { load, .. } => load,
            SearchOutcome::AboveHighest => 16.0,
            other => panic!("{path}: {other:?}"),
        })
        .collect();
    assert_eq!(loads.len(), 1, "{path}");
    loads[0]
}

#[test]
fn each_path_is_measured_at_the_load_of_the_other() {
    let _alone = Alone::new();
    let dir = tempfile::tempdir().unwrap();
    let mut point = web(200, knee(&LEVELS, &[]));
    point.search.as_mut().unwrap().equal_load = true;
    let bed = || workshops(&[("one", 1), ("four", 4)]);
    let plan = searching(&["one", "four"], vec![point], 2);
    let mut onlooker = Onlooker::default();
    let ended = run(plan, dir.path(), &mut bed(), &mut onlooker).unwrap();
    assert_eq!((ended.failures, ended.errors), (0, 0), "{:?}", onlooker.failed);
    let (file, records) = contents(dir.path());
    assert_eq!(file.status, RunStatus::Complete);
    consistent(&records);
    let is_visit = |step: &SearchStep| step.goal == EQUAL_LOAD;
    let first = records.iter().position(|record| is_visit(record.search.as_ref().unwrap())).unwrap();
    assert!(records[first..].iter().all(|record| is_visit(record.search.as_ref().unwrap())), "they come last");
    // By where, and where the load was found: how often, at which load, how fast on average.
    let mut visits: BTreeMap<(&str, &str), Vec<(f64, f64)>> = BTreeMap::new();
    for record in &records[first..] {
        let step = record.search.as_ref().unwrap();
        assert_eq!((step.outcome, step.within, step.figure.as_str()), (None, true, "requests_per_s"));
        assert_eq!(step.value, Some(record.metrics["requests_per_s"]));
        visits.entry((&record.path, &step.why)).or_default().push((step.load, step.value.unwrap()));
    }
    let cells: Vec<_> = visits.keys().copied().collect();
    assert_eq!(cells, [("four", "four"), ("four", "one"), ("one", "four"), ("one", "one")]);
    for ((at, why), trials) in &visits {
        assert_eq!(trials.len(), 2, "{at} {why}: as often as there are rounds");
        let workers = found(&records, why);
        assert!(trials.iter().all(|(load, _)| *load == workers), "{at} {why}: {trials:?}");
    }
    let of = |at, why| visits[&(at, why)].iter().map(|(_, rate)| rate).sum::<f64>();
    // Four workers make more of four connections than of one, and one worker does not.
    assert!(found(&records, "four") > found(&records, "one"), "{visits:?}");
    assert!(of("four", "four") > 1.5 * of("four", "one") && of("one", "four") < 1.3 * of("one", "one"), "{visits:?}");
    assert_eq!(visits[&("one", "one")].len() * 4, records.len() - first);
    // Both passes have all four.
    for pass in records[first..].chunks(4) {
        let mut cells: Vec<_> =
            pass.iter().map(|record| (&*record.path, record.search.as_ref().unwrap().why.as_str())).collect();
        cells.sort_unstable();
        assert_eq!(cells, visits.keys().copied().collect::<Vec<_>>());
    }
    // A crash in the middle of them: the rest comes, and in its order.
    let path = dir.path().join("records.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: String = text.lines().take(records.len() - 3).map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, kept).unwrap();
    let mut later = Onlooker::default();
    let ended = resume(dir.path(), &mut bed(), &mut later).unwrap();
    assert_eq!((ended.good, later.searches), (3, (2, 0)));
    let again = contents(dir.path()).1;
    let trial = |record: &Record| (record.path.clone(), record.point.clone(), record.round);
    assert_eq!(again.iter().map(trial).collect::<Vec<_>>(), records.iter().map(trial).collect::<Vec<_>>());
}
