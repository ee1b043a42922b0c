//! Comparisons of paths in reports: what is left out and why, and that every page says so.

use hopbench_model::{Failure, Record, Warning, WarningKind, point_label};
use hopbench_report::campaign::{Outcome, Summary};

use super::figures::{figure, made};
use super::{fixture, render, summary};

const RATE: &str = "received_bits_per_s";

fn set(record: &mut Record, name: &str, value: f64) {
    record.metrics.insert(name.to_owned(), value);
}

/// The main figure of the cell that is compared.
fn compared(summary: &Summary) -> &hopbench_report::campaign::Estimate {
    figure(summary, "other", RATE)
}

#[test]
fn rounds_of_different_sessions_are_not_paired() {
    // The machine became half as fast between the sessions; the paths are alike in each.
    let mut made = made(&[(8e9, 8e9), (8e9, 4e9), (4e9, 4e9)]);
    // Records of a round: the baseline's, the other's. In round 2 the run was interrupted between
    // them.
    made.records[3].session = 2;
    made.records[4].session = 2;
    made.records[5].session = 2;
    let summary = summary(&made);
    let rate = compared(&summary);
    let spread = rate.ratio.as_ref().unwrap().spread.unwrap();
    assert_eq!(
        (spread.median, spread.low, spread.high, spread.rounds),
        (1.0, Some(1.0), Some(1.0), 2)
    );
    assert_eq!(rate.spread.rounds, 3, "the figure itself has all rounds");
    assert_eq!(rate.note, "1 round not compared: the baseline is of another session");
    assert_eq!(
        summary.workloads[0].cells.iter().map(|cell| cell.unpaired_rounds).collect::<Vec<_>>(),
        [0, 1]
    );
    for format in ["table", "markdown", "html", "json"] {
        let page = render(&made, format).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            page.contains("the run was resumed: 1 round in 1 cell cannot be compared"),
            "{format}: {page}"
        );
        assert!(page.contains("1 round not compared"), "{format}: {page}");
    }
}

/// A testbed that changed inside a trial, twice measured again and still: neither figures nor
/// comparisons have that round, whichever side it is of.
#[test]
fn rounds_in_which_the_testbed_changed_are_left_out() {
    let mut made = made(&[(8e9, 8e9), (8e9, 1e9), (1e9, 8e9), (8e9, 8e9)]);
    for record in [3, 4] {
        made.records[record].testbed_changed = Some("pod server-2 of node n1 restarted".to_owned());
    }
    let found = summary(&made);
    let rate = compared(&found).clone();
    let spread = rate.ratio.as_ref().unwrap().spread.unwrap();
    assert_eq!(
        (spread.median, spread.low, spread.high, spread.rounds),
        (1.0, Some(1.0), Some(1.0), 2)
    );
    assert_eq!(
        (rate.spread.rounds, rate.note.as_str()),
        (3, "2 rounds not compared: the testbed changed meanwhile")
    );
    assert_eq!(
        (rate.spread.low, rate.spread.high),
        (Some(8e9), Some(8e9)),
        "what was seen then is not in the median"
    );
    assert_eq!((found.run.used_trials, found.run.disturbed_trials), (6, 2));
    for format in ["table", "markdown", "html", "json"] {
        let page = render(&made, format).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains("2 rounds not compared"), "{format}");
        assert!(
            page.contains(
                "2 rounds in 2 cells left out of figures and comparisons: the testbed changed"
            ),
            "{format}"
        );
    }
    let page = render(&made, "html");
    assert!(page.contains(
        "2 of 8 trials are in no figure.</strong> In the time of 2 trials the testbed changed."
    ));
    // Where it changed in every round, that is all there is.
    for record in &mut made.records {
        record.testbed_changed = Some("a pod restarted".to_owned());
    }
    let all = summary(&made);
    assert_eq!((compared(&all).spread.rounds, compared(&all).ratio.is_none()), (4, true));
    assert_eq!((all.run.used_trials, all.run.disturbed_trials), (8, 0));
}

#[test]
fn cells_without_a_common_session_have_no_ratio() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9)]);
    made.records
        .iter_mut()
        .filter(|record| record.path == "other")
        .for_each(|record| record.session = 2);
    let summary = summary(&made);
    assert!(compared(&summary).ratio.is_none());
    assert_eq!(
        compared(&summary).note,
        "2 rounds not compared: the baseline is of another session"
    );
    assert!(!render(&made, "html").contains("slower by"));
}

#[test]
fn a_round_with_nothing_is_the_furthest_and_every_page_says_so() {
    // In one round nothing came through the path, in another nothing on either.
    let mut rates = vec![(8e9, 4e9); 13];
    (rates[1].1, rates[6]) = (0.0, (0.0, 0.0));
    let found = made(&rates);
    let estimate = compared(&summary(&found)).clone();
    let ratio = estimate.ratio.unwrap();
    let verdict = ratio.verdict.unwrap();
    assert_eq!(
        (verdict.outcome, verdict.text.as_str()),
        (Outcome::Worse, "slower by 50 % [50, 50]")
    );
    assert_eq!((ratio.spread.unwrap().rounds, ratio.test), (12, Some("ranks")));
    let note = "0 in 2 of 13 trials, the baseline in 1 of 13; 1 round not compared: all are 0";
    assert_eq!(estimate.note, note);
    for format in ["screen", "table", "markdown", "csv", "html", "json"] {
        let page = render(&found, format).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains("0 in 2 of 13 trials"), "{format}: {page}");
    }
    assert!(render(&found, "screen").contains("-50 ±0 %"));
}

#[test]
fn a_difference_that_all_rounds_together_oppose_is_called_and_every_page_says_so() {
    // In most rounds 2 % more, and in so many of 40 this rate.
    let with = |rounds: usize, rate: f64| {
        let mut rates = [(8e9, 8.16e9); 40];
        (0..rounds).for_each(|i| rates[10 * i + 1].1 = rate);
        made(&rates)
    };
    let found = with(4, 1.632e9);
    let estimate = compared(&summary(&found)).clone();
    let verdict = estimate.ratio.unwrap().verdict.unwrap();
    assert_eq!(
        (verdict.outcome, verdict.text.as_str()),
        (Outcome::Better, "faster by 2.0 % [2.0, 2.0]")
    );
    assert_eq!(estimate.note, "over all rounds -6.2 %");
    for format in ["screen", "table", "markdown", "csv", "html", "json"] {
        let page = render(&found, format).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains("over all rounds -6.2 %"), "{format}: {page}");
    }
    // With one such round they hardly differ.
    assert_eq!(compared(&summary(&with(1, 1.632e9))).note, "");
    let both = "0 in 4 of 40 trials, the baseline in 0 of 40; over all rounds -8.2 %";
    assert_eq!(compared(&summary(&with(4, 0.0))).note, both);
}

#[test]
fn rounds_with_nothing_leave_a_cell_open_until_it_is_clear() {
    let is_settled =
        |rates: &[(f64, f64)]| !super::campaign(&made(rates)).comparison_state().settled.is_empty();
    let about = |ratio: f64, rounds: u32| -> Vec<(f64, f64)> {
        (0..rounds).map(|round| (8e9, ratio * 8e9 * (1.0 + 0.01 * f64::from(round % 3)))).collect()
    };
    let mut same = about(1.0, 13);
    assert!(is_settled(&same));
    (same[4].1, same[9].1) = (0.0, 0.0);
    assert!(!is_settled(&same), "the interval has no lower end");
    let mut clear = about(0.1, 30);
    clear[4].0 = 0.0;
    assert!(is_settled(&clear), "a tenth of the rate, and once the baseline stood still");
}

#[test]
fn a_cell_is_settled_by_rounds_that_can_be_compared() {
    let standing = |made: &fixture::Made| {
        let found = super::campaign(made).comparison_state();
        [found.settled.into_iter().collect::<Vec<_>>(), found.open.into_iter().collect()]
    };
    let half = |round: u32| (8e9, 4e9 * (1.0 + 0.01 * f64::from(round % 3)));
    let whole = made(&(0..12).map(half).collect::<Vec<_>>());
    let other = vec![(1_usize, 0_usize)];
    let (settled, open) = ([other.clone(), Vec::new()], [Vec::new(), other]);
    assert_eq!(standing(&whole), settled);
    // Another session made up for its rounds.
    let mut later = whole.clone();
    later.records.iter_mut().filter(|r| r.path == "other").for_each(|r| r.session = 2);
    assert_eq!(standing(&later), open);
    // Two rounds of that session leave it open, three do not.
    for (rounds, expected) in [(2, &open), (3, &settled)] {
        let mut more = later.clone();
        more.records.iter_mut().filter(|r| r.round <= rounds).for_each(|r| r.session = 2);
        assert_eq!(standing(&more), *expected, "{rounds} rounds");
    }
    // Nothing is known where one of the two has no records.
    for path in ["base", "other"] {
        let mut without = whole.clone();
        without.records.retain(|record| record.path != path);
        assert!(standing(&without).iter().all(Vec::is_empty), "without {path}");
    }
}

#[test]
fn with_few_rounds_one_with_nothing_leaves_no_verdict() {
    let few = summary(&made(&[(8e9, 4e9), (8e9, 0.0), (8e9, 4e9)]));
    let estimate = compared(&few).clone();
    let ratio = estimate.ratio.unwrap();
    assert_eq!(ratio.verdict.unwrap().text, "too few rounds (8 needed)");
    let spread = ratio.spread.unwrap();
    assert!((spread.median - 1.0 / 3.0).abs() < 1e-9, "the sums: {spread:?}");
    assert_eq!((spread.low, spread.rounds, ratio.p), (None, 3, None));
    assert_eq!(estimate.note, "0 in 1 of 3 trials, the baseline in 0 of 3");
    let base = summary(&made(&[(8e9, 4e9), (8e9, 4e9), (0.0, 4e9)]));
    assert_eq!(compared(&base).note, "0 in 0 of 3 trials, the baseline in 1 of 3");
    let nothing = summary(&made(&[(0.0, 0.0); 3]));
    assert_eq!(compared(&nothing).note, "no ratio: 0 in round 1");
    assert!(compared(&nothing).ratio.is_none());
    let good = summary(&made(&[(8e9, 4e9)]));
    assert!(
        good.workloads[0]
            .cells
            .iter()
            .flat_map(|cell| &cell.figures)
            .all(|figure| figure.note.is_empty())
    );
}

#[test]
fn notes_of_the_run_stand_at_the_head_of_every_page() {
    let mut made = made(&[(8e9, 4e9)]);
    made.run.notes.push(
        "the baseline `base` cannot be measured here, so nothing is compared with it: runsc is \
         not installed"
            .to_owned(),
    );
    for (format, before) in [
        ("table", "bulk (stream)"),
        ("markdown", "## bulk"),
        ("html", "<section id=\"workload-0\""),
    ] {
        let page = render(&made, format);
        let page =
            page.split(before).next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            page.contains(
                "cannot be measured here, so nothing is compared with it: runsc is not installed"
            ),
            "{format}"
        );
    }
}

#[test]
fn pages_count_the_comparisons_that_they_show() {
    let made = fixture::quickstart(3);
    let summary = summary(&made);
    let main = summary.workloads.iter().flat_map(|workload| {
        let name = workload.figures[0].name;
        workload
            .cells
            .iter()
            .filter_map(move |cell| cell.figure(name)?.ratio.as_ref()?.verdict.as_ref())
    });
    let shown = main
        .filter(|verdict| !["no verdict", "too few"].iter().any(|no| verdict.text.starts_with(no)))
        .count();
    assert!(shown >= 20, "{shown}");
    let all = summary.workloads.iter().flat_map(|w| &w.cells).flat_map(|cell| &cell.figures);
    let all =
        all.filter(|figure| figure.ratio.as_ref().is_some_and(|ratio| ratio.q.is_some())).count();
    assert!(all > 2 * shown, "further figures have verdicts that no page shows: {all}");
    assert_eq!(summary.run.comparisons, shown as u64, "one number, whoever reads it");
    assert_eq!(summary.run.judged, all as u64);
    for format in ["table", "markdown", "html"] {
        let page = render(&made, format).split_whitespace().collect::<Vec<_>>().join(" ");
        let chance = format!(
            "{shown} comparisons, judged together with {} of further figures: of the differences \
             named at most 5 % are false",
            all - shown
        );
        assert!(page.contains(&chance), "{format}: {chance}");
    }
}

#[test]
fn a_share_of_the_link_is_that_of_the_busier_direction() {
    let mut made = made(&[(8e9, 8e9)]);
    for (name, value) in [
        (RATE, 13e9),
        ("to_server_received_bits_per_s", 9e9),
        ("from_server_received_bits_per_s", 4e9),
        ("to_server_retransmitted_bytes", 2e6),
        ("from_server_retransmitted_bytes", 1.25e6),
    ] {
        set(&mut made.records[0], name, value);
    }
    made.records[0].metrics.remove("retransmitted_bytes");
    let summary = summary(&made);
    assert_eq!(
        figure(&summary, "base", "link_share_ratio").spread.median,
        0.9,
        "of a link of 10 Gbit/s in each direction"
    );
    let sent_again = figure(&summary, "base", "retransmitted_ratio").spread.median;
    assert!((sent_again - 0.001).abs() < 1e-12, "3.25 MB of the 3.25 GB of both: {sent_again}");
}

#[test]
fn cpu_for_a_unit_of_work_is_of_the_time_between_the_readings() {
    let mut made = made(&[(8e9, 8e9)]);
    // 1 s of CPU in 2.5 s between the readings, with a window of 2 s.
    made.records[0].cost.client.insert("cores".to_owned(), 0.4);
    let cost = figure(&summary(&made), "base", "client_cpu_per_kib_ns").spread.median;
    assert!((cost - 0.4 * 1024.0).abs() < 1e-9, "0.4 cores for 1e9 bytes/s: {cost}");
}

#[test]
fn the_link_is_what_the_testbed_said_of_it() {
    let mut made = made(&[(8e9, 8e9)]);
    // The plan's nodes have links of 10 Gbit/s.
    made.records[0].settings.clear();
    for (name, value) in
        [("link_bits_per_s", "16000000000"), ("link_mtu_bytes", "1450"), ("tunnel_bytes", "50")]
    {
        made.records[1].settings.insert(name.to_owned(), value.to_owned());
    }
    let summary = summary(&made);
    assert_eq!(figure(&summary, "other", "link_share_ratio").spread.median, 0.5);
    assert!(summary.workloads[0].cells[0].figure("link_share_ratio").is_none(), "no link is known");
    let links: Vec<_> = summary
        .paths
        .iter()
        .map(|p| (p.link_bits_per_s, p.link_mtu_bytes, p.tunnel_bytes))
        .collect();
    assert_eq!(links, [(None, None, None), (Some(16_000_000_000), Some(1450), Some(50))]);
    assert!(
        render(&made, "html")
            .contains("slowest link 16.00 Gbit/s, MTU 1450, 50 B of tunnel a packet")
    );
}

#[test]
fn a_trial_that_failed_is_listed_once() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9)]);
    let bad = &mut made.records[3];
    bad.incomplete = Some("the agent is gone".to_owned());
    made.run.failures.push(Failure {
        path: bad.path.clone(),
        workload: bad.workload.clone(),
        point: point_label(&bad.point),
        round: bad.round,
        reason: "the agent ended with signal 9".to_owned(),
    });
    let failures = summary(&made).failures;
    assert_eq!(failures.len(), 1, "{failures:?}");
    assert_eq!(failures[0].reason, "the agent ended with signal 9");
}

#[test]
fn few_comparisons_can_be_wrong_too() {
    let rounds = [(8e9, 4e9), (8e9, 4e9), (8e9, 4e9)];
    assert!(
        render(&made(&rounds), "table")
            .contains("1 comparison, judged together with 3 of further figures: of the")
    );
    assert!(
        !render(&made(&rounds[..2]), "table").contains("are false"),
        "two rounds decide nothing"
    );
}

#[test]
fn several_clients_are_told_wherever_their_load_is() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9)]);
    let alone = summary(&made);
    assert!(
        alone.workloads[0].setting.starts_with("1 connection, engine"),
        "{}",
        alone.workloads[0].setting
    );
    assert!(alone.run.notes.is_empty(), "{:?}", alone.run.notes);
    made.run.plan.paths[1].clients = 3;
    made.run.plan.points[0].job.schedule = hopbench_model::Schedule::Rate(25_000.0);
    let several = summary(&made);
    let setting = &several.workloads[0].setting;
    assert!(
        setting.starts_with(
            "open loop at 25000/s per client, 1 connection per client, x 1 to 3 clients, "
        ),
        "{setting}"
    );
    assert!(
        several.run.notes[0].contains("ratios of other (3) to base (1 client) compare"),
        "{:?}",
        several.run.notes
    );
    made.run.plan.paths[0].clients = 3;
    let alike = summary(&made);
    assert!(
        alike.workloads[0].setting.contains(", x 3 clients, "),
        "{}",
        alike.workloads[0].setting
    );
    assert!(alike.run.notes.is_empty(), "{:?}", alike.run.notes);
}

#[test]
fn the_head_says_whose_cpus_received() {
    let mut made = made(&[(8e9, 4e9)]);
    let head = |made: &fixture::Made, before: &str, format: &str| {
        let page = render(made, format);
        page.split(before).next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (fact, said) in [
        ("steered to the node's CPUs", "steered"),
        (
            "not steered to the node's CPUs: rps_cpus needs root (Permission denied)",
            "not steered (needs root)",
        ),
        ("not steered: no node has CPUs of its own", "not steered (no node has CPUs of its own)"),
    ] {
        made.run.testbed.insert("receive".to_owned(), fact.to_owned());
        assert!(
            head(&made, "bulk (stream)", "table").contains(&format!("; receive: {said}; ")),
            "{said}"
        );
        assert!(head(&made, "## bulk", "markdown").contains(&format!("receive: {said}")), "{said}");
        let html = head(&made, "<main>", "html");
        assert!(html.contains(&format!("<dt>receive</dt><dd>{said}</dd>")), "{said}: {html}");
        // What root would change is among the notes of the answer.
        let screen = render(&made, "screen");
        assert_eq!(screen.contains("receive not steered"), said.contains("root"), "{screen}");
    }
    made.run.testbed.clear();
    assert!(!head(&made, "bulk (stream)", "table").contains("receive: "));
}

#[test]
fn what_the_kernel_miscounts_is_said_once() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9)]);
    for record in &mut made.records[1..] {
        let text = "the kernel's ticks saw 0.10 busy cores, our processes alone used 0.30";
        record.warnings.push(Warning::new(
            WarningKind::CpuUndercounted,
            text,
            "take the processes' CPU",
        ));
    }
    let summary = summary(&made);
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    assert!(
        summary.workloads[0].cells.iter().all(|cell| cell.warnings == 0),
        "it buries what is the cell's own"
    );
    assert_eq!(summary.run.notes.len(), 1);
    assert!(
        summary.run.notes[0].starts_with("in 3 of 4 trials the kernel's ticks missed"),
        "{:?}",
        summary.run.notes
    );
}

#[test]
fn a_cpu_quota_of_a_lab_is_a_note() {
    let noted = |quota: &str| {
        let mut made = made(&[(8e9, 4e9), (8e9, 4e9)]);
        made.run.environment.insert("cgroup_cpu_limit_cores".to_owned(), quota.to_owned());
        summary(&made).run.notes
    };
    assert_eq!(noted("8"), Vec::<String>::new(), "as many as there are CPUs");
    let notes = noted("1.3");
    assert!(notes[0].starts_with("a CPU quota gave the run 1.3 of 8 CPUs. "), "{notes:?}");
}

#[test]
fn what_trials_say_of_their_figures_stands_in_the_details() {
    let mut made = fixture::quickstart(2);
    for record in made.records.iter_mut().filter(|record| record.workload == "throughput") {
        let bytes = if record.path == "host" { 5 } else { 7 };
        record.explanation = vec![format!("{bytes} bytes more were written than received.")];
    }
    for format in ["table", "markdown", "html"] {
        let page = render(&made, format).split_whitespace().collect::<Vec<_>>().join(" ");
        let host = "5 bytes more were written than received (throughput on host)";
        assert!(page.contains(host), "{format}");
        let others = "7 bytes more were written than received (throughput on bridge";
        assert_eq!(page.matches(others).count(), 1, "{format}");
    }
    assert!(!render(&fixture::quickstart(2), "table").contains("What the figures hold"));
}
