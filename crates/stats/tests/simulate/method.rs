//! The judgement that docs/method.md works out by hand, worked out by this crate: its numbers stand
//! there.
#![allow(clippy::unwrap_used, reason = "known answers")]

use hopbench_stats::{Comparison, Judgement, Question, Test, judge, paired};

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
    let evidence = paired(&PAIRS).unwrap();
    // Step by step, as it is done by hand.
    let logs: Vec<f64> = PAIRS.iter().map(|(value, baseline)| (value / baseline).ln()).collect();
    let mean = logs.iter().sum::<f64>() / 6.0;
    let deviation = (logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 5.0).sqrt();
    let error = deviation / 6f64.sqrt();
    assert!(close(mean, 0.2759, 4) && close(deviation, 0.0655, 4) && close(error, 0.02674, 5));
    assert!(close(mean / error, 10.32, 2) && close(evidence.ratio, 1.318, 3));
    let question = |evidence, noise_floor| Question {
        evidence,
        minimum_effect: 0.0,
        noise_floor,
        resolution: 0.002,
    };
    let shows = |found: Comparison, low: f64, high: f64| {
        let interval = found.interval.unwrap();
        assert!(close(interval.low, low, 3) && close(interval.high, high, 3), "{found:?}");
    };
    // Alone, and as the first of twelve whose others show nothing.
    let alone = judge(&[question(evidence.clone(), None)])[0];
    assert_eq!((alone.test, alone.judgement), (Test::Student, Judgement::Higher));
    assert!(close(alone.p.unwrap(), 0.000_147, 6));
    shows(alone, 1.228, 1.414);
    let by_hand = [-1.0, 1.0].map(|side| (mean + side * 2.5706 * error).exp());
    assert!((by_hand[0] / 1.002 - alone.interval.unwrap().low).abs() < 1e-4);
    assert!((by_hand[1] * 1.002 - alone.interval.unwrap().high).abs() < 1e-4);
    let flat =
        paired(&[(1.0, 1.01), (1.01, 1.0), (0.99, 1.0), (1.0, 0.99), (1.0, 1.02), (1.02, 1.0)])
            .unwrap();
    let mut all = vec![question(flat, None); 12];
    all[0] = question(evidence.clone(), None);
    let first = judge(&all)[0];
    assert!(
        (first.q.unwrap() - 12.0 * alone.p.unwrap()).abs() < 1e-15
            && first.judgement == Judgement::Higher
    );
    shows(first, 1.151, 1.508);
    all[0].noise_floor = Some(0.2);
    let withheld = judge(&all)[0];
    assert_eq!(withheld.judgement, Judgement::NotDecided { more_rounds: Some(5) });
    shows(withheld, 0.959, 1.810);
}

/// The signed-rank test of eight rounds, counted by hand: of 36 means of two logarithms one is not
/// above 0.
#[test]
fn the_ranks_are_counted_as_the_page_says() {
    let logs = [-0.01, 0.02, 0.03, 0.05, 0.06, 0.08, 0.09, 0.11];
    let pairs: Vec<(f64, f64)> = logs.iter().map(|log: &f64| (log.exp(), 1.0)).collect();
    let means = (0..8).flat_map(|i| (i..8).map(move |j| f64::midpoint(logs[i], logs[j])));
    let mut means: Vec<f64> = means.collect();
    means.sort_unstable_by(f64::total_cmp);
    assert_eq!(means.iter().filter(|mean| **mean <= 0.0).count(), 1);
    let found = judge(&[Question {
        evidence: paired(&pairs).unwrap(),
        minimum_effect: 0.0,
        noise_floor: None,
        resolution: 0.0,
    }])[0];
    // 2 of 256 ways have a statistic of at most 1, each way counted from both sides.
    assert_eq!((found.test, found.p), (Test::Ranks, Some(2.0 * 2.0 / 256.0)));
    assert!((found.ratio.ln() - f64::midpoint(means[17], means[18])).abs() < 1e-12);
    // The table of the test rejects up to 3 of 36 at 5 %: the interval begins at the fourth.
    let interval = found.interval.unwrap();
    assert!((interval.low.ln() - means[3]).abs() < 1e-12);
    assert!((interval.high.ln() - means[32]).abs() < 1e-12);
}
