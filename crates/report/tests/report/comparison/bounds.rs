//! Bounds: what breaks them, and what they would not have seen.

use hopbench_report::comparison::{CaseState, Comparison, comparison_format};

use super::{attempt, bounded, compared, made};

/// The states of a bound by cell.
fn states(found: &Comparison, bound: usize) -> Vec<(String, CaseState)> {
    found.bounds[bound].cases.iter().map(|case| (case.cell.clone(), case.state)).collect()
}

#[test]
fn a_slowdown_breaks_the_bounds_that_it_exceeds() {
    let slower = |path: &str| if path == "bridge" { 0.9 } else { 1.0 };
    let (a, b) = (made(10, 1, |_| 1.0), made(10, 2, slower));
    let asked =
        bounded(&["throughput>5%", "throughput>15%", "p99_service>5%", "received_bits_per_s>0%"]);
    let found = compared(&a, &b, &asked);
    let named =
        |metric: &str| found.bounds[0].cases.iter().filter(|case| case.metric == metric).count();
    assert_eq!(
        (named("received_bits_per_s"), named("requests_per_s")),
        (2, 2),
        "each workload has its own throughput"
    );
    let of = |bound: usize, cell: &str| {
        states(&found, bound).into_iter().find(|(name, _)| name == cell).unwrap().1
    };
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
    let (mut a, mut b) = (made(10, 1, |_| 1.0), made(10, 2, |_| 0.8));
    for record in a.records.iter_mut().chain(&mut b.records) {
        // Enough for a p99.9 of every round.
        record.latency.values_mut().for_each(|latency| latency.count = 20_000);
    }
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
    assert!(
        found.bounds[0].cases.iter().all(|case| case.state == CaseState::Unseen),
        "{:?}",
        found.bounds
    );
    let warnings = found.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let expected =
        "throughput>0.1%: a worsening of 0.1 % would not have been seen in 4 cells: host bulk, ";
    assert!(warnings[0].starts_with(expected), "{warnings:?}");
    let few = compared(&made(2, 1, |_| 1.0), &b, &bounded(&["throughput>5%"]));
    assert!(few.bounds[0].cases.iter().all(|case| case.state == CaseState::Unjudged));
    assert!(
        few.warnings()[0].contains("nothing can be said of 4 cells")
            && few.warnings()[0].contains("too few rounds")
    );
}

#[test]
fn a_gate_that_saw_nothing_does_not_look_kept() {
    let headline = |a, b, bounds: &[&str]| compared(&a, &b, &bounded(bounds)).headline();
    let (four, ten) = (|salt| made(4, salt, |_| 1.0), |salt| made(10, salt, |_| 1.0));
    assert_eq!(headline(ten(1), ten(2), &[]), None);
    assert_eq!(
        headline(ten(1), ten(2), &["throughput>50%"]).as_deref(),
        Some("No bound is broken")
    );
    let blind = "Nothing could be judged: a worsening as large as the bound would not have been \
                 seen in 4 cells";
    assert_eq!(headline(four(1), four(2), &["throughput>0.1%"]).as_deref(), Some(blind));
    assert_eq!(
        headline(made(2, 1, |_| 1.0), four(2), &["throughput>5%"]).as_deref(),
        Some("Nothing could be judged: nothing can be said of 4 cells")
    );
    let some = headline(ten(1), ten(2), &["throughput>50%", "throughput>0.1%"]);
    assert_eq!(
        some.as_deref(),
        Some("No bound is broken in the 4 of 8 cases that could be judged")
    );
    let slower = |salt| made(10, salt, |path| if path == "bridge" { 0.9 } else { 1.0 });
    assert_eq!(
        headline(ten(1), slower(2), &["throughput>5%"]).as_deref(),
        Some("Bounds are broken in 2 of 4 cells")
    );

    // Every page says it, and a test case that saw nothing has not passed.
    let found = compared(&four(1), &four(2), &bounded(&["throughput>0.1%"]));
    assert_eq!((found.blind().count(), found.broken().count()), (1, 0));
    for format in ["table", "markdown"] {
        let page = (comparison_format(format).unwrap().render)(&found, false);
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(blind) && !page.contains("No bound is broken"), "{format}: {page}");
        assert!(page.contains("kept in 0 of 4 cells, 4 could not be judged"), "{format}: {page}");
    }
    let junit = (comparison_format("junit").unwrap().render)(&found, false);
    let document = roxmltree::Document::parse(&junit).unwrap();
    assert_eq!(document.root_element().attribute("skipped"), Some("4"), "{junit}");
    let skipped: Vec<_> =
        document.descendants().filter(|node| node.has_tag_name("skipped")).collect();
    let said = skipped[0].attribute("message").unwrap();
    assert_eq!(skipped.len(), 4);
    assert!(
        said.starts_with("a worsening of 0.1 % would not have been seen: not decided: -"),
        "{said}"
    );
    assert!(!junit.contains("system-out"), "{junit}");
}

#[test]
fn what_is_hardly_known_has_no_digits() {
    // Rounds between 1 and 100 times of each other.
    let wild = |salt: u32| {
        let mut one = made(3, salt, |_| 1.0);
        for record in &mut one.records {
            let factor = [1.0, 30.0, 900.0][record.round as usize - 1];
            record.metrics.values_mut().for_each(|value| *value *= factor);
        }
        one
    };
    let found = compared(&wild(1), &wild(2), &bounded(&["throughput>5%"]));
    let case = &found.bounds[0].cases[0];
    assert_eq!(
        (case.state, case.text.as_str()),
        (CaseState::Unseen, "not decided: -100 % to > +999 %")
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
    // What these runs have is named, and what was probably meant; no latency that nobody can have a
    // bound on.
    let (mut a, b) = (a, b);
    for record in &mut a.records {
        let of_sends = record.latency.values().next().cloned();
        record.latency.extend(of_sends.map(|latency| ("lateness_ns".to_owned(), latency)));
    }
    let text = |bound: &str| attempt(&a, &b, &bounded(&[bound])).unwrap_err().text;
    assert!(
        text("p99_rtt>3%").contains("found `p99_rtt`, which no cell"),
        "{}",
        text("p99_rtt>3%")
    );
    let of = "p50, p90, p99, p999, p9999 of service (like p99_service)";
    assert!(
        text("p99_rtt>3%").contains(of) && !text("p99_rtt>3%").contains("did you mean"),
        "{}",
        text("p99_rtt>3%")
    );
    assert!(
        text("p99_servce>3%").contains("(did you mean `p99_service`?)"),
        "{}",
        text("p99_servce>3%")
    );
    assert!(text("recieved_bits_per_s>3%").contains("(did you mean `received_bits_per_s`?)"));
    assert!(!text("bananas>1%").contains("did you mean") && !text("bananas>1%").contains("found_"));
}

#[test]
fn a_cell_that_fails_in_the_candidate_breaks_every_bound_that_it_has() {
    let (a, mut b) = (made(6, 1, |_| 1.0), made(6, 2, |_| 1.0));
    let failed =
        |record: &&mut hopbench_model::Record| record.path == "bridge" && record.workload == "ask";
    b.records
        .iter_mut()
        .filter(failed)
        .for_each(|record| record.error = Some("connection refused".to_owned()));
    let asked = bounded(&["throughput>50%", "p99_service>50%", "received_bits_per_s>50%"]);
    let found = compared(&a, &b, &asked);
    let broken: Vec<_> =
        found.broken().map(|(bound, case)| (&*bound.bound, &*case.cell, &*case.text)).collect();
    let said = ("bridge ask size=64B", "no usable trial in B: connection refused");
    assert_eq!(broken, [("throughput>50%", said.0, said.1), ("p99_service>50%", said.0, said.1)]);
    let junit = (comparison_format("junit").unwrap().render)(&found, false);
    let document = roxmltree::Document::parse(&junit).unwrap();
    assert_eq!(document.root_element().attribute("failures"), Some("2"), "{junit}");
    let messages: Vec<_> =
        document.descendants().filter(|node| node.has_tag_name("failure")).collect();
    assert!(messages.iter().all(|node| node.attribute("message") == Some(said.1)), "{junit}");
    // What is better in the candidate is not broken, and without bounds nothing is.
    assert_eq!(compared(&b, &a, &asked).broken().count(), 0);
    // Where nothing is left at all, every cell has broken its bounds.
    b.records.clear();
    assert_eq!(attempt(&a, &b, &asked).unwrap().broken().count(), 8);
    assert!(attempt(&a, &b, &bounded(&[])).is_err());
}

#[test]
fn a_cell_that_the_candidate_does_not_plan_is_a_warning() {
    let (a, mut b) = (made(6, 1, |_| 1.0), made(6, 2, |_| 1.0));
    b.run.plan.cells.retain(|cell| *cell != hopbench_model::Cell { path: 1, point: 0 });
    b.records.retain(|record| record.path != "bridge" || record.workload != "bulk");
    let found = compared(&a, &b, &bounded(&["throughput>50%"]));
    assert_eq!(found.broken().count(), 0);
    assert_eq!(
        found.warnings(),
        ["no bound says anything of 1 cell: bridge bulk (only the baseline has it)"]
    );
    assert!(
        compared(&b, &a, &bounded(&["throughput>50%"])).warnings().is_empty(),
        "a new cell has no bound to keep"
    );
}

#[test]
fn nothing_everywhere_keeps_a_bound() {
    let found =
        compared(&made(6, 1, |_| 1.0), &made(6, 2, |_| 1.0), &bounded(&["retransmitted_ratio>5%"]));
    assert!(!found.bounds[0].cases.is_empty());
    assert!(
        found.bounds[0].cases.iter().all(|case| case.state == CaseState::Kept),
        "{:?}",
        found.bounds
    );
    assert!(found.warnings().is_empty(), "{:?}", found.warnings());
}
