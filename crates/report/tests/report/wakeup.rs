//! The sentence about the wake-up says what the two runs allow.

use hopbench_model::{Warning, WarningKind};
use hopbench_report::{wakeup_cost, wakeup_costs};
use serde_json::json;

use crate::records::{latency, spin_and_threads};

#[test]
fn the_cost_is_the_difference_of_the_medians() {
    let [mut spin, mut threads] = spin_and_threads();
    spin.latency.get_mut("service_ns").unwrap().p50 = 8_100;
    threads.latency.get_mut("service_ns").unwrap().p50 = 74_200;
    assert_eq!(
        wakeup_cost(&spin, &threads).unwrap(),
        "busy-polled p50 8.10 us, blocking 74.2 us: the wake-up costs 66.1 us (89.1 % of the \
         blocking p50)"
    );
    let slower = wakeup_cost(&threads, &spin).unwrap();
    assert!(slower.contains("no wake-up cost seen, busy polling was 66.1 us slower"), "{slower}");
    let same = wakeup_cost(&spin, &spin).unwrap();
    assert!(same.contains("no wake-up cost that the histograms could resolve"), "{same}");
}

#[test]
fn doubts_are_said() {
    let [mut spin, mut threads] = spin_and_threads();
    spin.warnings = vec![Warning::new(WarningKind::SharedCpu, "both on CPU 0", "")];
    threads.metrics.insert("errors".to_owned(), 12.0);
    let text = wakeup_cost(&spin, &threads).unwrap();
    assert!(text.contains("careful: both ends shared a CPU in the busy-polled run"), "{text}");
    assert!(
        text.contains("12 exchanges failed and are in no latency in the blocking run"),
        "{text}"
    );
    threads.incomplete = Some("interrupted".to_owned());
    let text = wakeup_cost(&spin, &threads).unwrap();
    assert!(text.contains("it was cut short (interrupted) in the blocking run"), "{text}");
}

#[test]
fn what_does_not_compare_has_no_cost() {
    let [spin, threads] = spin_and_threads();
    let mut other = threads.clone();
    other.point.insert("size".to_owned(), json!("64B"));
    assert_eq!(wakeup_cost(&spin, &other), None);
    other = threads.clone();
    other.latency.insert("service_ns".to_owned(), latency(0, 1));
    assert_eq!(wakeup_cost(&spin, &other), None);
    other = threads.clone();
    other.workload = "crr".to_owned();
    assert_eq!(wakeup_cost(&spin, &other), None);
    // The engine itself is what differs.
    other = threads;
    other.point.insert("engine".to_owned(), json!("threads"));
    assert!(wakeup_cost(&spin, &other).is_some());
}

#[test]
fn every_point_of_a_sweep_has_its_pair() {
    let records: Vec<_> = ["1B", "64B"]
        .iter()
        .flat_map(|size| {
            spin_and_threads().map(|mut record| {
                record.point.insert("size".to_owned(), json!(size));
                record
            })
        })
        .collect();
    let costs = wakeup_costs(&records);
    assert_eq!(costs.len(), 2);
    assert!(
        costs[0].starts_with("size 1B: busy-polled") && costs[1].starts_with("size 64B: "),
        "{costs:?}"
    );
}
