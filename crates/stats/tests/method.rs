//! The verdict that docs/method.md works out by hand, worked out by this crate: its numbers stand
//! there.
#![allow(clippy::unwrap_used, reason = "known answers")]

use hopbench_stats::{Question, Test, Verdict, judge, paired, sign_flip};

/// Service p50 of six rounds, ns: a path through an overlay, and the nodes' own network.
const PAIRS: [(f64, f64); 6] = [
    (55391.0, 45919.0),
    (62175.0, 46623.0),
    (68031.0, 46911.0),
    (59167.0, 46879.0),
    (65471.0, 50751.0),
    (60415.0, 43839.0),
];

fn close(found: f64, shown: f64, digits: i32) -> bool {
    (found - shown).abs() <= 0.5 * 10f64.powi(-digits)
}

#[test]
fn the_worked_example_is_what_the_code_says() {
    let evidence = paired(&PAIRS, 7).unwrap();
    let interval = evidence.interval.unwrap();
    assert!(
        close(evidence.ratio, 1.312, 3)
            && close(interval.low, 1.226, 3)
            && close(interval.high, 1.424, 3)
    );
    // Step by step, as it is done by hand.
    let mut logs: Vec<f64> =
        PAIRS.iter().map(|(value, baseline)| (value / baseline).ln()).collect();
    let mean = logs.iter().sum::<f64>() / 6.0;
    let deviation = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 5.0).sqrt();
    let error = deviation / 6f64.sqrt();
    assert!(close(mean, 0.2759, 4) && close(deviation, 0.0655, 4) && close(mean / error, 10.32, 2));
    assert!(close(evidence.student_p.unwrap(), 0.000_147, 6));
    let flipped = sign_flip(&logs, 10_000, 7).unwrap();
    assert_eq!(flipped.p, 2.0 / 64.0);
    logs.sort_unstable_by(f64::total_cmp);
    let share = 5.0 * 0.1 / (1.0 + 4.0 * 0.1);
    let ends = [logs[0] + share * (logs[1] - logs[0]), logs[5] - share * (logs[5] - logs[4])]
        .map(f64::exp);
    assert!(
        (ends[0] - interval.low).abs() < 1e-12 && (ends[1] - interval.high).abs() < 1e-12,
        "{ends:?}"
    );
    // Alone, and as the first of twelve whose others show nothing.
    let question = |evidence, noise_floor| Question {
        evidence,
        minimum_effect: 0.0,
        noise_floor,
        resolution: 0.002,
    };
    let alone = judge(&[question(evidence.clone(), None)])[0];
    assert_eq!(
        (alone.test, alone.verdict, alone.p),
        (Test::Student, Verdict::Higher, evidence.student_p)
    );
    let flat =
        paired(&[(1.0, 1.01), (1.01, 1.0), (0.99, 1.0), (1.0, 0.99), (1.0, 1.02), (1.02, 1.0)], 1)
            .unwrap();
    let mut all = vec![question(flat, None); 12];
    all[0] = question(evidence.clone(), Some(0.02));
    let first = judge(&all)[0];
    assert!(
        (first.q.unwrap() - 12.0 * alone.p.unwrap()).abs() < 1e-15
            && first.verdict == Verdict::Higher
    );
    all[0].noise_floor = Some(0.35);
    assert_eq!(judge(&all)[0].verdict, Verdict::BelowFloor { floor: 0.35 });
    // The same noise around no difference: what would have been seen.
    let level: Vec<(f64, f64)> =
        PAIRS.iter().map(|(value, baseline)| (value / evidence.ratio, *baseline)).collect();
    let half = (interval.high / interval.low).ln() / 2.0;
    let by_hand = ((2.5706 + 0.9195) * f64::max(error, half / 2.5706)).exp_m1();
    match judge(&[question(paired(&level, 7).unwrap(), None)])[0].verdict {
        Verdict::NoDifference { could_have_seen: Some(seen) } => {
            assert!(close(seen, 0.107, 3) && (seen - by_hand).abs() < 1e-4, "{seen} {by_hand}");
        }
        other => panic!("{other:?}"),
    }
}
