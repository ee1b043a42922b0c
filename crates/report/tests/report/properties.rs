//! Property tests of the formats: each of them prints whatever a record holds.

use hopbench_model::{Latency, Record, Warning, WarningKind};
use hopbench_report::{Context, FORMATS, WIDTH, sweep_table, wakeup_costs};
use proptest::prelude::*;
use serde_json::json;

use crate::records;

/// Numbers of all sorts: not a number, infinite, negative, huge, tiny.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        Just(f64::NAN),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(f64::MAX),
        Just(-0.0),
        -1e6..1e6f64,
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("line\nfeed \x1b[2J".to_owned()),
        Just("long".repeat(60)),
        proptest::collection::vec(any::<char>(), 0..40).prop_map(String::from_iter),
    ]
}

fn latency() -> impl Strategy<Value = Latency> {
    (value(), value(), any::<[u64; 8]>(), text()).prop_map(|(mean, stddev, n, hdr)| Latency {
        count: n[0],
        mean,
        stddev,
        min: n[1],
        p50: n[2],
        p90: n[3],
        p99: n[4],
        p999: n[5],
        p9999: n[6],
        max: n[7],
        hdr,
    })
}

/// A realistic record in which everything that is a number or a text may be anything.
fn record() -> impl Strategy<Value = Record> {
    let known = vec![
        records::stream(),
        records::stream_both(),
        records::push(),
        records::rr(),
        records::crr(),
        records::udp(),
        records::ping(),
        records::http(),
    ];
    (
        proptest::sample::select(known),
        proptest::collection::vec(value(), 48),
        proptest::collection::vec(text(), 12),
        latency(),
    )
        .prop_map(|(mut record, values, texts, latency)| {
            let mut values = values.into_iter().cycle();
            let mut next = || values.next().unwrap_or(0.0);
            record.metrics.values_mut().for_each(|value| *value = next());
            record.metrics.insert(texts[0].clone(), next());
            record.window_s = next();
            record.latency.values_mut().for_each(|l| *l = latency.clone());
            record.latency.insert(texts[1].clone(), latency);
            record.cost.client.values_mut().for_each(|value| *value = next());
            for node in &mut record.cost.nodes {
                (node.busy_cores, node.softirq_cores, node.steal_cores) = (next(), next(), next());
                node.context_switches_per_s = next();
                node.per_cpu_busy.iter_mut().for_each(|share| *share = next());
                node.per_cpu_softirq.iter_mut().for_each(|share| *share = next());
                node.meters
                    .values_mut()
                    .flat_map(|m| m.values_mut())
                    .for_each(|value| *value = next());
                node.name.clone_from(&texts[2]);
            }
            record
                .intervals
                .iter_mut()
                .flat_map(|i| i.values_mut())
                .for_each(|value| *value = next());
            record.path.clone_from(&texts[3]);
            record.limited_because.clone_from(&texts[4]);
            record.errors.insert(texts[5].clone(), u64::MAX);
            record.settings.insert(texts[6].clone(), texts[7].clone());
            record.incomplete = Some(texts[8].clone());
            record.proof.push(records::proof(&texts[9], &texts[10], false));
            record.invariants.push(records::invariant(&texts[11], Some(&texts[0])));
            record.warnings.push(Warning::new(
                WarningKind::Limited,
                texts[1].clone(),
                texts[2].clone(),
            ));
            record.point.insert(texts[3].clone(), json!(texts[4]));
            record
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn everything_renders_within_the_page(
        records in proptest::collection::vec(record(), 1..3),
        terminal: bool,
    ) {
        let context = Context { terminal };
        for format in FORMATS {
            let out = (format.render)(&records, &context);
            prop_assert!(out.ends_with('\n'));
            if format.name == "json" {
                prop_assert_eq!(out.lines().count(), records.len());
            } else if !terminal {
                for line in out.lines() {
                    prop_assert!(line.chars().count() <= WIDTH, "{}", line);
                    prop_assert!(line.chars().all(|c| !c.is_control()), "{:?}", line);
                }
            }
        }
        for line in sweep_table(&records).iter().flat_map(|table| table.lines()) {
            prop_assert!(line.chars().count() <= WIDTH, "{}", line);
        }
        wakeup_costs(&records);
    }

    #[test]
    fn no_metric_is_lost(values in proptest::collection::vec(value(), 1..6)) {
        for mut record in [
            records::stream(), records::push(), records::udp(), records::ping(), records::http(),
        ] {
            for (i, value) in values.iter().enumerate() {
                record.metrics.insert(format!("novel{i}_ratio"), *value);
            }
            let out = (FORMATS[0].render)(&[record], &Context::default());
            for i in 0..values.len() {
                prop_assert!(out.contains(&format!("novel{i}_ratio")), "{}", out);
            }
        }
    }
}

#[test]
fn nothing_is_said_of_nothing() {
    for format in FORMATS {
        assert_eq!((format.render)(&[], &Context::default()), "", "{}", format.name);
    }
    assert_eq!(sweep_table(&[records::rr()]), None);
}
