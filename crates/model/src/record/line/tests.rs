use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::fixture::record;
use crate::{Cost, Environment, Invariant, Latency, NodeCost, Proof, ProxyCost};

/// A record as a lab makes it; what varies from trial to trial comes from `round` and `value`.
fn trial(round: u32, value: f64) -> Record {
    let text = |what: &str| format!("{what} {}", "x".repeat(SHORTEST));
    let proof = |evidence: String| Proof { hop: "server".to_owned(), evidence, ok: true };
    let figures = || BTreeMap::from([("cores".to_owned(), value), ("zero".to_owned(), 0.0)]);
    let node = NodeCost {
        name: "a".to_owned(),
        per_cpu_busy: vec![0.5, 1.0],
        meters: [("snmp".to_owned(), figures())].into(),
        ..NodeCost::default()
    };
    let proxy =
        ProxyCost { name: "gateway".to_owned(), figures: figures(), ..ProxyCost::default() };
    Record {
        round,
        point: [("rate".to_owned(), json!(500.0))].into(),
        latency: [("service_ns".to_owned(), Latency { mean: value, ..Latency::default() })].into(),
        intervals: vec![figures()],
        cost: Cost {
            client: figures(),
            nodes: vec![node],
            proxies: vec![proxy],
            ..Cost::default()
        },
        proof: vec![
            proof(text("steady")),
            proof(text(&format!("round {round}"))),
            proof(String::new()),
        ],
        invariants: vec![Invariant { name: text("holds"), ok: true, detail: String::new() }],
        settings: [
            ("hops".to_owned(), text("a, b")),
            ("start_skew_ns".to_owned(), round.to_string()),
        ]
        .into(),
        job: json!({
            "workload": "rr", "schedule": {"rate": 500.0}, "seed": u64::MAX, "engine": "epoll",
        }),
        environment: Environment {
            version: "hopbench 1".to_owned(),
            client: [("kernel".to_owned(), text("Linux"))].into(),
            ..Environment::default()
        },
        ..record(&[("requests_per_s", value), ("zero", 0.0)])
    }
}

/// The lines of these records, and what they share.
fn lines(records: &[Record]) -> (Vec<String>, SharedParts) {
    let mut writer = RecordLines::default();
    let lines = records.iter().map(|record| writer.line(record).unwrap()).collect();
    (lines, writer.parts().clone())
}

#[test]
fn what_comes_again_stands_once() {
    let records = [1, 2, 3].map(|round| trial(round, 0.5));
    let (lines, parts) = lines(&records);
    assert_eq!(parts.0.len(), 6, "environment, job, invariants, settings, two proofs: {parts:?}");
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let (first, second) = (read(&lines[0]), read(&lines[1]));
    assert!(first["environment"].is_object() && first["settings"].is_object());
    for field in ["environment", "job", "invariants"] {
        assert!(parts.0.contains_key(second[field].as_str().unwrap()), "{field}: {second}");
    }
    assert!(second["proof"][0].is_string() && second["proof"][1].is_object());
    assert_eq!(second["settings"][1], json!({"start_skew_ns": "2"}));
    assert!(4 * lines[1].len() < 3 * lines[0].len(), "{} {}", lines[0], lines[1]);
    assert!(lines[1].starts_with("{\"schema\":\"hopbench.record/2\",\"run_id\""), "{}", lines[1]);
    assert!(lines[1].contains("\"requests_per_s\":0.5,\"zero\":0}"), "{}", lines[1]);
    assert!(lines[1].contains("\"point\":{\"rate\":500.0}"), "a point keeps its spelling");
    // A session that goes on with these parts uses them at once.
    let mut later = RecordLines::new(parts.clone());
    let line = later.line(&trial(4, 0.5)).unwrap();
    assert!(read(&line)["job"].is_string());
    assert_eq!(later.parts(), &parts);
}

#[test]
fn a_key_that_is_not_there_is_named() {
    let (lines, parts) = lines(&[1, 2].map(|round| trial(round, 0.5)));
    let missing = record_of_line(lines[1].as_bytes(), &SharedParts::default()).unwrap_err();
    let LineError::Missing { field, key } = &missing else { panic!("{missing}") };
    assert_eq!((field.as_str(), parts.0.contains_key(key)), ("proof", true));
    let mut damaged = parts.clone();
    damaged.0.values_mut().for_each(|part| *part = json!(7));
    let found = record_of_line(lines[1].as_bytes(), &damaged);
    assert!(matches!(found, Err(LineError::Json(_))), "{found:?}");
}

#[test]
fn a_part_is_not_repeated_without_end() {
    let (lines, mut parts) = lines(&[1, 2].map(|round| trial(round, 0.5)));
    let mut line: Value = serde_json::from_str(&lines[1]).unwrap();
    let key = line["proof"][0].as_str().unwrap().to_owned();
    line["proof"] = vec![json!(key); 100].into();
    parts.0.insert(key, json!("x".repeat(1 << 20)));
    let found = record_of_line(line.to_string().as_bytes(), &parts);
    assert!(matches!(found, Err(LineError::TooLong)), "{found:?}");
}

#[test]
fn two_parts_with_one_key_are_told_apart() {
    let records = [1, 2].map(|round| trial(round, 0.5));
    let (_, mut parts) = lines(&records);
    parts.0.values_mut().for_each(|part| *part = json!("another part of the same hash"));
    let mut writer = RecordLines::new(parts.clone());
    let line = writer.line(&records[1]).unwrap();
    assert_eq!(record_of_line(line.as_bytes(), &SharedParts::default()).unwrap(), records[1]);
    assert_eq!(writer.parts(), &parts);
}

#[test]
fn what_is_shared_has_a_bound() {
    let mut writer = RecordLines::default();
    for size in 0..200 {
        let mut record = trial(1, 0.5);
        record.job = json!({"pad": "x".repeat(10_000 + size)});
        let line = |writer: &mut RecordLines| writer.line(&record).unwrap();
        line(&mut writer);
        let again = line(&mut writer);
        assert_eq!(record_of_line(again.as_bytes(), writer.parts()).unwrap(), record);
    }
    assert!((MOST_BYTES - 20_000..=MOST_BYTES).contains(&writer.bytes), "{}", writer.bytes);
}

proptest! {
    #[test]
    fn a_record_comes_back_as_it_was_written(
        values in prop::collection::vec(
            any::<f64>().prop_filter("no figure", |v| v.is_finite()),
            1..5,
        ),
        name in "[^ -~]{0,4}\\PC{0,20}",
    ) {
        let mut records: Vec<Record> = Vec::new();
        for (value, round) in values.iter().zip(1..) {
            let mut record = trial(round, *value);
            record.path.clone_from(&name);
            record.settings.insert(name.clone(), name.clone());
            record.errors.insert(name.clone(), u64::MAX);
            record.concise();
            records.push(record);
        }
        let (lines, parts) = lines(&records);
        // As `run.json` has them.
        let parts = serde_json::to_string(&parts).unwrap();
        let parts: SharedParts = serde_json::from_str(&parts).unwrap();
        for (line, record) in lines.iter().zip(&records) {
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert_eq!(&record_of_line(line.as_bytes(), &parts).unwrap(), record);
        }
    }
}
