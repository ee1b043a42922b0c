//! Bounds: what breaks them, and what they would not have seen.

use hopbench_report::comparison::{CaseState, Comparison};

use super::{attempt, bounded, compared, made};

/// The states of a bound by cell.
fn states(found: &Comparison, bound: usize) -> Vec<(String, CaseState)> {
    found.bounds[bound].cases.iter().map(|case| (case.cell.clone(), case.state)).collect()
}

#[test]
fn a_slowdown_breaks_the_bounds_that_it_exceeds() {
    let slower = |path: &str| if path == "bridge" { 0.9 } else { 1.0 };
    let (a, b) = (made(10, 1, |_| 1.0), made(10, 2, slower));
    let asked = bounded(&["throughput>5%", "throughput>15%", "p99_service>5%", "received_bits_per_s>0%"]);
    let found = compared(&a, &b, &asked);
    let named = |metric: &str| found.bounds[0].cases.iter().filter(|case| case.metric == metric).count();
    assert_eq!((named("received_bits_per_s"), named("requests_per_s")), (2, 2), "each workload has its own throughput");
    let of = |bound: usize, cell: &str| states(&found, bound).into_iter().find(|(name, _)| name == cell).unwrap().1;
    assert_eq!(of(0, "bridge bulk"), CaseState::Broken);
    assert_eq!(of(0, "host bulk"), CaseState::Kept);
    assert_eq!(of(1, "bridge bulk"), CaseState::Kept, "10 % is not above 15 %");
    assert_eq!(of(2, "bridge ask size=64B"), CaseState::Broken);
    assert_eq!(of(3, "bridge bulk"), CaseState::Broken, "any worsening");
    assert_eq!(of(3, "host bulk"), CaseState::Kept);
    assert!(found.broken().all(|(_, case)| case.text.starts_with("slower by")));
    // The other way round it is better, and nothing is broken.
    assert_eq!(compared(&b, &a, &asked).broken().count(), 0);
    assert_eq!(compared(&a, &made(10, 3, |_| 1.0), &asked).broken().count(), 0);
}

#[test]
fn what_reports_do_not_show_can_have_a_bound() {
    let (a, b) = (made(10, 1, |_| 1.0), made(10, 2, |_| 0.8));
    let found = compared(&a, &b, &bounded(&["p99.9_service>5%", "sent_bits_per_s>5%"]));
    assert_eq!(found.bounds[0].cases[0].metric, "service_p999_ns");
    assert_eq!(found.bounds[0].cases_of(CaseState::Broken).count(), 2);
    assert_eq!(found.bounds[1].cases_of(CaseState::Broken).count(), 2);
    // They are judged with the others, and only where somebody asks for them.
    let without = compared(&a, &b, &bounded(&[]));
    assert_eq!(found.comparisons.len(), without.comparisons.len() + 4);
}

#[test]
fn a_bound_that_rounds_could_not_see_is_told() {
    let (a, b) = (made(4, 1, |_| 1.0), made(4, 2, |_| 1.0));
    let found = compared(&a, &b, &bounded(&["throughput>0.1%"]));
    assert!(found.bounds[0].cases.iter().all(|case| case.state == CaseState::Unseen), "{:?}", found.bounds);
    let warnings = found.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let expected = "throughput>0.1%: a worsening of 0.1 % would not have been seen in 4 cells: host bulk, ";
    assert!(warnings[0].starts_with(expected), "{warnings:?}");
    let few = compared(&made(2, 1, |_| 1.0), &b, &bounded(&["throughput>5%"]));
    assert!(few.bounds[0].cases.iter().all(|case| case.state == CaseState::Unjudged));
    assert!(
        few.warnings()[0].contains("nothing can be said of 4 cells") && few.warnings()[0].contains("too few rounds")
    );
}

#[test]
fn a_bound_on_what_nobody_has_is_refused_with_what_there_is() {
    let (a, b) = (made(4, 1, |_| 1.0), made(4, 2, |_| 1.0));
    for unknown in ["p99_respnse>5%", "p99_response>5%", "bananas>1%"] {
        let refused = attempt(&a, &b, &bounded(&["throughput>5%", unknown])).unwrap_err();
        let metric = unknown.split('>').next().unwrap();
        for named in [metric, "throughput", "service_p99_ns", "cpu_per_kib_ns", "sent_bits_per_s"] {
            assert!(refused.text.contains(named), "{named}: {}", refused.text);
        }
    }
}
