//! The scalability law through the trials of a knee.

use super::searched::{self, searched};
use super::searches::{path, search};

#[test]
fn a_knee_has_a_law_where_it_follows_one() {
    let made = searched();
    let knee = search(&made, "pool", "connections");
    let direct = path(&knee, "direct");
    assert!(matches!(direct.found(), Some(32.0 | 64.0)), "{direct:?}");
    let law = direct.law.as_ref().unwrap();
    let holds = |known: hopbench_report::campaign::Known, truth: f64| {
        known.low.is_some_and(|low| low <= truth) && known.high.is_some_and(|high| truth <= high)
    };
    assert!(law.fits && holds(law.sigma, 0.02) && holds(law.kappa, 1e-4), "{law:?}");
    assert!((law.lambda.value.unwrap() / 400.0 - 1.0).abs() < 0.01, "{law:?}");
    assert!((80.0..=120.0).contains(&law.peak.value.unwrap()), "{law:?}");
    assert!(
        law.residual_share.unwrap() < 0.02 && law.off_share.unwrap() < 0.02 && law.scatter_share.unwrap() < 0.02,
        "{law:?}"
    );
    assert!(law.text.starts_with("Universal Scalability Law: ") && law.text.contains("highest at "), "{}", law.text);
    // A hard limit is no such law.
    let hard = path(&knee, "relay");
    assert_eq!(hard.found(), Some(32.0));
    let law = hard.law.as_ref().unwrap();
    assert!(!law.fits && law.off_share.unwrap() > 0.03, "{law:?}");
    assert!(law.text.starts_with("the Universal Scalability Law does not fit: medians of loads lie "), "{}", law.text);
    let threads = search(&made, "pool", "threads");
    assert_eq!(path(&threads, "direct").found(), Some(1.0));
    assert!(path(&threads, "direct").law.is_none(), "two levels");
    assert!(threads.asked.contains("the threads beyond which throughput grows by less than 5 %: 1, 2"));
}

#[test]
fn points_on_the_law_give_its_parameters() {
    let mut made = searched();
    made.records.retain(|record| record.workload == "pool" && record.path == "direct");
    for step in made.records.iter_mut().filter_map(|record| record.search.as_mut()) {
        step.value = Some(searched::scaled(20_000.0, step.load));
    }
    let law = path(&search(&made, "pool", "connections"), "direct").law.clone().unwrap();
    let near = |known: hopbench_report::campaign::Known, truth: f64| (known.value.unwrap() / truth - 1.0).abs() < 1e-6;
    assert!(near(law.sigma, 0.02) && near(law.kappa, 1e-4) && near(law.lambda, 400.0), "{law:?}");
    assert!(near(law.peak, 9800f64.sqrt()) && law.fits, "{law:?}");
    assert!(
        law.text.contains("400.0/s at 1 connection, contention 2.000 % [2.000, 2.000], coherence 0.010"),
        "{}",
        law.text
    );
}

/// The knee of `direct`, with each of its trials' values changed.
fn changed(change: impl Fn(usize, f64, f64) -> f64) -> hopbench_report::campaign::SearchSummary {
    let mut made = searched();
    made.records.retain(|record| record.workload == "pool" && record.path == "direct");
    let steps = made.records.iter_mut().filter_map(|record| record.search.as_mut());
    for (at, step) in steps.filter(|step| step.parameter == "connections").enumerate() {
        step.value = step.value.map(|value| change(at, step.load, value));
    }
    search(&made, "pool", "connections")
}

#[test]
fn a_stalled_trial_does_not_make_the_law_and_an_empty_one_is_told() {
    let plain = changed(|_, _, value| value);
    let of = |knee: &hopbench_report::campaign::SearchSummary| path(knee, "direct").law.clone().unwrap();
    for (stalled, told) in [(0.004, false), (0.0, true)] {
        let law = of(&changed(|at, _, value| if at == 0 { value * stalled } else { value }));
        let (lambda, before) = (law.lambda.value.unwrap(), of(&plain).lambda.value.unwrap());
        assert!((lambda / before - 1.0).abs() < 0.05 && law.fits, "{law:?}");
        assert_eq!(law.without_throughput, usize::from(told));
        assert_eq!(law.text.ends_with("; without 1 trial that had no throughput"), told, "{}", law.text);
    }
    let none = of(&changed(|_, load, value| if load > 16.0 { 0.0 } else { value }));
    assert!(!none.fits && none.lambda.value.is_none() && none.residual_share.is_none(), "{none:?}");
    assert!(none.text.starts_with("no Universal Scalability Law: without "), "{}", none.text);
    assert!(none.text.ends_with(" trials that had no throughput there are too few loads or trials"), "{}", none.text);
}

#[test]
fn trials_that_scatter_too_much_say_nothing_of_the_law() {
    let law = of_scattered();
    assert!(!law.fits && law.scatter_share.unwrap() > 0.2, "{law:?}");
    let text = "the trials scatter too much to say whether the Universal Scalability Law fits: those of one load by ";
    assert!(law.text.starts_with(text), "{}", law.text);
}

fn of_scattered() -> hopbench_report::campaign::LawSummary {
    let knee = changed(|at, _, value| value * [1.0, 0.4, 2.2, 0.7, 1.6][at % 5]);
    path(&knee, "direct").law.clone().unwrap()
}
