//! Notes of reports on a search: that it was not decided, why loads were too high, and in bits what
//! was asked in bits.

use hopbench_model::{BrokenBound, NodeCost, Record, SearchBound, SearchGoal, SearchOutcome};
use hopbench_report::campaign::Outcome;
use hopbench_stats::{Knee, Search};
use serde_json::{Value, json};

use super::fixture::Made;
use super::searched::{self, At, CPU, KNEE, LOSSLESS, searched};
use super::searches::{path, scripted, search};
use super::{render, summary};

/// A page as one line, as a reader takes it.
fn flat(page: &str) -> String {
    page.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Notes the bounds that a trial broke, as a run does.
fn broken(record: &mut Record, bounds: &[(SearchBound, f64)]) {
    let step = record.search.as_mut().unwrap();
    let over = bounds.iter().filter(|(_, share)| *share > 0.01);
    step.broken = over.map(|(bound, share)| BrokenBound { bound: *bound, share: *share }).collect();
    step.within = step.broken.is_empty();
}

/// A knee over 4 and 16 connections, whose trials are three times as fast every other time; on
/// `overlay` ten times as slow and clear.
fn undecided() -> Made {
    let mut run = searched::run();
    run.plan.cells.retain(|cell| cell.point == KNEE && [0, 2].contains(&cell.path));
    let goal = SearchGoal::Knee { connections: vec![4, 16], threads: vec![], least_growth: 0.1 };
    run.plan.points[KNEE].search.as_mut().unwrap().goal = goal;
    let mut records = Vec::new();
    for which in [0, 2] {
        let at = At {
            path: which,
            point: KNEE,
            goal: "knee",
            parameter: "connections",
            figure: "requests_per_s",
        };
        let mut trials = 0;
        let knee: &mut dyn Search = &mut Knee::new(&[4.0, 16.0], 0.1);
        records.extend(searched::drive(&run, at, knee, 1, |load| {
            trials += 1;
            let base = if which == 0 && trials % 4 < 2 { 300.0 } else { 100.0 };
            base * if load > 4.0 && which == 0 { 1.2 } else { 1.0 }
        }));
    }
    Made { run, records }
}

#[test]
fn what_no_number_of_trials_decided_is_told_everywhere() {
    let made = undecided();
    let knee = search(&made, "pool", "connections");
    let direct = path(&knee, "direct");
    let [step] = &direct.undecided[..] else { panic!("{direct:?}") };
    assert_eq!((step.from, step.to, step.trials), (4.0, 16.0, 9));
    assert!(
        step.low < 0.1
            && 0.1 < step.high.unwrap()
            && (step.low..step.high.unwrap()).contains(&step.growth)
    );
    assert!(path(&knee, "overlay").undecided.is_empty());
    let text = "not decided after 9 trials a level: growth ";
    assert!(direct.text.contains(text) && direct.text.contains(" % [-"), "{}", direct.text);
    for format in ["table", "markdown", "csv", "searches", "json", "html"] {
        let page = flat(&render(&made, format));
        assert!(page.contains(text), "{format}: {page}");
        assert!(!page.contains("still grows"), "{format}: it is not known");
    }
    let json: Value = serde_json::from_str(&render(&made, "json")).unwrap();
    let own = json["searches"]
        .as_array()
        .unwrap()
        .iter()
        .find(|search| search["parameter"] == "connections")
        .unwrap();
    assert_eq!(own["paths"][0]["undecided"][0]["trials"], 9);
    assert!(own["paths"][1].get("undecided").is_none());
    let table = render(&made, "table");
    assert!(
        table.lines().any(|line| line.split_whitespace().take(2).eq(["direct", "?"])),
        "the load has a mark: {table}"
    );
    // A difference of two loads of which one is doubtful is none.
    let overlay = path(&knee, "overlay").comparison.as_ref().unwrap();
    assert!([Outcome::NotDecided, Outcome::TooFewRounds].contains(&overlay.outcome), "{overlay:?}");
    // Where all was decided nothing is said.
    assert!(!render(&searched(), "table").contains("not decided after"));
}

#[test]
fn that_datagrams_never_left_is_the_reason() {
    let mut run = searched::run();
    run.plan.cells.retain(|cell| cell.point == LOSSLESS && cell.path == 0);
    run.plan.points[LOSSLESS].search.as_mut().unwrap().repeats = 1;
    run.plan.points[LOSSLESS].job.params = json!({"size": "1kB"}).into();
    let at = At { path: 0, point: LOSSLESS, goal: "lossless", parameter: "rate", figure: "loss" };
    let trial = |step, load: f64, unsent: f64| {
        let mut record = searched::trial(&run, at, step, load, "raise", 0.0);
        broken(&mut record, &[(SearchBound::NotSent, unsent)]);
        record
    };
    let mut records =
        vec![trial(1, 25_000.0, 0.031), trial(2, 12_500.0, 0.0), trial(3, 13_217.0, 0.0)];
    let found = SearchOutcome::Found { load: 13_217.0, low: 13_217.0, high: Some(25_000.0) };
    records[2].search.as_mut().unwrap().outcome = Some(found);
    let mut made = Made { run, records };
    let flood = search(&made, "flood", "rate");
    let direct = path(&flood, "direct");
    assert_eq!(direct.trace[0].because, "3.10 % never left the sender");
    assert!(direct.trace[1].because.is_empty());
    assert_eq!(direct.too_high, "25000/s = 200 Mbit/s: lost 0 %, but 3.10 % never left the sender");
    // 1000 bytes each.
    assert_eq!(direct.text, "13217/s = 106 Mbit/s [13217, 25000]");
    assert!(
        flood.asked.contains("between 100/s = 800 kbit/s and 50000/s = 400 Mbit/s"),
        "{}",
        flood.asked
    );
    for format in ["table", "markdown", "html", "csv", "searches", "json"] {
        let page = flat(&render(&made, format));
        assert!(page.contains("3.10 % never left the sender"), "{format}: {page}");
    }
    for format in ["table", "html"] {
        assert!(flat(&render(&made, format)).contains("13217/s = 106 Mbit/s"), "{format}");
    }
    // Of exchanges there are no bits to ask for.
    assert!(!render(&searched(), "table").contains(" = "));
    // An old record does not say which bound was broken.
    made.records[0].search.as_mut().unwrap().broken.clear();
    let flood = search(&made, "flood", "rate");
    let too_high = &path(&flood, "direct").too_high;
    assert_eq!(too_high, "25000/s = 200 Mbit/s: lost 0 %, but another bound was broken");
    assert!(flat(&render(&made, "table")).contains(too_high));
}

#[test]
fn who_kept_the_cpu_busy_is_told() {
    let mut run = searched::run();
    run.plan.cells.retain(|cell| cell.point == CPU && cell.path == 0);
    let at = At { path: 0, point: CPU, goal: "cpu", parameter: "rate", figure: "cpu_share" };
    let mut record = searched::trial(&run, at, 1, 100.0, "raise", 0.97);
    let node = NodeCost {
        name: "b".to_owned(),
        busy_cores: 1.97,
        per_cpu_busy: vec![0.985; 2],
        ..NodeCost::default()
    };
    record.cost.nodes = vec![node];
    record.search.as_mut().unwrap().outcome = Some(SearchOutcome::BelowLowest);
    let mut made = Made { run, records: vec![record] };
    let text = |made: &Made| path(&search(made, "half", "rate"), "direct").text.clone();
    let busy = text(&made);
    assert!(
        busy.starts_with(
            "even 100/s is too high, the lowest that was asked for (CPU 97.0 %; others than this \
             trial kept 1.9"
        ) && busy.ends_with(" of 2 CPUs busy)"),
        "{busy}"
    );
    assert!(flat(&render(&made, "table")).contains("others than this trial kept"));
    // Its own work is no other's.
    made.records[0].cost.client.insert("cores".to_owned(), 1.9);
    assert_eq!(text(&made), "even 100/s is too high, the lowest that was asked for (CPU 97.0 %)");
}

#[test]
fn errors_are_a_reason() {
    let mut made = scripted(&[(0, 1000.0, 1000.0, 1020.0)]);
    made.run.plan.points[0].search.as_mut().unwrap().repeats = 1;
    broken(&mut made.records[1], &[(SearchBound::Unanswered, 0.25), (SearchBound::Failed, 0.5)]);
    made.records[1].search.as_mut().unwrap().value = Some(1e6);
    let slo = search(&made, "web", "rate");
    let reason = &path(&slo, "direct").too_high;
    let both = "25.0 % of what was due had no answer, 50.0 % failed";
    assert_eq!(*reason, format!("1020/s: response p99 1.00 ms, but {both}"));
    assert!(
        flat(&render(&made, "table"))
            .contains("direct: too high at 1020/s: response p99 1.00 ms, but ")
    );
}

#[test]
fn what_searches_found_stands_before_their_tables() {
    let mut made = scripted(&[
        (0, 1000.0, 1000.0, 1020.0),
        (1, 1001.0, 1001.0, 1021.0),
        (2, 800.0, 800.0, 816.0),
    ]);
    made.run.plan.points[0].search.as_mut().unwrap().repeats = 1;
    let html = render(&made, "html");
    let (_, findings) = html.split_once("<section id=\"search-0\">").unwrap();
    let (findings, _) = findings.split_once("<table").unwrap();
    let compared = path(&search(&made, "web", "rate"), "overlay").comparison.clone().unwrap().text;
    for text in [
        "<strong>direct</strong> 1000/s [1000, 1020]",
        "<strong>overlay</strong> 800/s [800, 816]<span",
        &compared,
    ] {
        assert!(findings.contains(text), "{text}: {findings}");
    }
    assert!(findings.contains("href=\"#search-0\"") && html.contains("href=\"#searches\""));
    let table = flat(&render(&made, "table"));
    assert!(
        table.contains(&format!("- overlay: 800/s [800, 816]; against the baseline: {compared}")),
        "{table}"
    );
    // No round was made, and nothing is a median over rounds.
    assert_eq!(summary(&made).run.rounds, 3);
    for format in ["table", "markdown", "html"] {
        let page = render(&made, format);
        assert!(
            !page.contains("3 rounds")
                && !page.contains("over rounds")
                && !page.contains("<dt>rounds"),
            "{format}"
        );
        assert!(
            flat(&page).contains("Each load stands with the loads between which it lies"),
            "{format}"
        );
    }
}
