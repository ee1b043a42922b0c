//! Figures, comparisons and what is left out of them, with known answers.

use hopbench_model::{RunStatus, Schedule, Via};
use hopbench_report::campaign::{Campaign, Outcome, Summary, main_latency};
use serde_json::json;

use super::fixture::{self, Costs, Made, Noise};
use super::{render, summary};

/// Two paths, one stream workload, with the given rates in bits/s a round.
pub(crate) fn made(rates: &[(f64, f64)]) -> Made {
    let paths = vec![
        fixture::path("base", ("host", "a"), ("host", "b"), Via::Direct),
        fixture::path("other", ("bridge", "a"), ("bridge", "b"), Via::Direct),
    ];
    let points = vec![fixture::point("bulk", &[], fixture::job("stream", json!({}), Schedule::Closed, 1))];
    let run = fixture::run("figures", paths, points, rates.len() as u32, Some("base"));
    let costs = Costs { speed: 1.0, latency: 1.0, cpu: 1.0 };
    let mut records = Vec::new();
    for (index, (base, other)) in rates.iter().enumerate() {
        for (cell, rate) in run.plan.cells.iter().zip([base, other]) {
            let mut record = fixture::record(&run, *cell, index as u32 + 1, costs, &mut Noise::default());
            record.metrics.insert("received_bits_per_s".to_owned(), *rate);
            record.metrics.insert("retransmitted_bytes".to_owned(), 1e6);
            for end in [&mut record.cost.client, &mut record.cost.server] {
                end.insert("user_s".to_owned(), 0.25);
                end.insert("system_s".to_owned(), 0.75);
                // Half a core: the readings were 2 s apart, as long as the window.
                end.insert("cores".to_owned(), 0.5);
            }
            records.push(record);
        }
    }
    Made { run, records }
}

pub(crate) fn figure<'a>(summary: &'a Summary, path: &str, name: &str) -> &'a hopbench_report::campaign::Estimate {
    let cell = summary.workloads[0].cells.iter().find(|cell| cell.path == path).unwrap();
    cell.figure(name).unwrap_or_else(|| panic!("{path} has no {name}"))
}

#[test]
fn figures_are_medians_and_ratios_are_paired() {
    // Every round is 10 % slower on the other path, whatever the round is like.
    let summary = summary(&made(&[(8e9, 7.2e9), (4e9, 3.6e9), (2e9, 1.8e9)]));
    let rate = figure(&summary, "other", "received_bits_per_s");
    assert_eq!((rate.median, rate.low, rate.high, rate.rounds), (3.6e9, Some(1.8e9), Some(7.2e9), 3));
    let ratio = rate.ratio.as_ref().unwrap();
    assert!((ratio.median - 0.9).abs() < 1e-12 && ratio.rounds == 3);
    let verdict = ratio.verdict.as_ref().unwrap();
    assert_eq!((verdict.outcome, verdict.text.as_str()), (Outcome::Worse, "slower by 10 % [10, 10]"));
    assert!(figure(&summary, "base", "received_bits_per_s").ratio.is_none(), "the baseline has no ratio to itself");
    // 8 Gbit/s over 2 s are 1 953 125 KiB; 1 s of CPU for each end.
    let summary = self::summary(&made(&[(8e9, 8e9)]));
    assert_eq!(figure(&summary, "base", "client_cpu_per_kib_ns").median, 512.0);
    assert_eq!(figure(&summary, "base", "server_cpu_per_kib_ns").median, 512.0);
    assert_eq!(figure(&summary, "base", "retransmitted_ratio").median, 0.0005);
    assert_eq!(figure(&summary, "base", "link_share_ratio").median, 0.8, "of a link of 10 Gbit/s");
}

#[test]
fn noise_is_no_difference_and_one_round_no_verdict() {
    let same = summary(&made(&[(8e9, 7.9e9), (7.8e9, 8e9), (8.1e9, 8.05e9)]));
    let ratio = figure(&same, "other", "received_bits_per_s").ratio.clone().unwrap();
    assert_eq!(ratio.verdict.unwrap().outcome, Outcome::Same);
    let once = summary(&made(&[(8e9, 1e9)]));
    let figure = figure(&once, "other", "received_bits_per_s");
    assert_eq!((figure.low, figure.ratio.as_ref().unwrap().verdict.is_none()), (None, true));
    assert!(once.workloads[0].headline.contains("One round shows no verdict"), "{}", once.workloads[0].headline);
    assert!(!render(&made(&[(8e9, 1e9)]), "html").contains("slower by"));
}

#[test]
fn bad_records_are_listed_and_not_used() {
    type Spoil = fn(&mut hopbench_model::Record);
    let spoils: [(&str, Spoil); 7] = [
        ("no evidence", |record| record.proof.clear()),
        ("cut short: ^C", |record| record.incomplete = Some("^C".to_owned())),
        ("a reason", |record| record.error = Some("a reason".to_owned())),
        ("did not take the path", |record| record.proof[0].ok = false),
        ("do not add up", |record| record.invariants[0].ok = false),
        ("another run", |record| record.run_id = "earlier".to_owned()),
        ("no such cell", |record| record.workload = "unknown".to_owned()),
    ];
    for (reason, spoil) in spoils {
        let mut made = made(&[(8e9, 4e9), (8e9, 4e9), (8e9, 1e6)]);
        spoil(made.records.last_mut().unwrap());
        let summary = summary(&made);
        let rate = figure(&summary, "other", "received_bits_per_s");
        assert_eq!((rate.low, rate.rounds), (Some(4e9), 2), "{reason}");
        assert_eq!(summary.run.used_trials, 5);
        assert_eq!(summary.failures.len(), 1);
        assert!(summary.failures[0].reason.contains(reason), "{:?}", summary.failures);
        for format in ["table", "markdown", "html", "json"] {
            assert!(render(&made, format).contains(reason), "{format} does not say `{reason}`");
        }
    }
}

#[test]
fn a_generator_at_its_limit_gives_no_verdict() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9), (8e9, 4e9)]);
    made.records[5].limited_by = "generator".to_owned();
    let verdict = figure(&summary(&made), "other", "received_bits_per_s").ratio.clone().unwrap().verdict.unwrap();
    assert_eq!(verdict.outcome, Outcome::Generator);
    // Only one round of three says so: the limit that most of them have stands first.
    made.records[5].limited_by = "target_rate".to_owned();
    made.records[5].warnings.push(hopbench_model::Warning::new(
        hopbench_model::WarningKind::GeneratorLimited,
        "1 % of the sends were late",
        "take --pacing spin",
    ));
    for format in ["table", "markdown", "html"] {
        let page = render(&made, format);
        assert!(page.contains("! target_rate") || page.contains("! nic"), "{format}: {page}");
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains("The load generator was late in a trial"), "{format}");
    }
    assert!(!render(&made, "csv").contains("! "), "programs read limits as records name them");
}

#[test]
fn settings_say_what_holds_for_all_points() {
    let setting = |kind: &str, values: &[(&str, serde_json::Value)]| {
        let mut made = made(&[(8e9, 4e9)]);
        made.run.plan.points = vec![fixture::point("w", values, fixture::job(kind, json!({}), Schedule::Closed, 2))];
        Campaign::new(&made.run).summary().workloads[0].setting.clone()
    };
    assert!(setting("rr", &[]).starts_with("closed loop, 2 connections, engine epoll, "), "{}", setting("rr", &[]));
    assert!(setting("push", &[]).starts_with("2 connections, engine epoll, "), "{}", setting("push", &[]));
    let swept = setting("rr", &[("engine", json!("epoll"))]);
    assert!(!swept.contains("engine"), "{swept}");
}

#[test]
fn a_trial_that_was_repeated_counts_once() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9)]);
    let mut again = made.records[3].clone();
    again.metrics.insert("received_bits_per_s".to_owned(), 5e9);
    made.records.push(again);
    let rate = figure(&summary(&made), "other", "received_bits_per_s").clone();
    assert_eq!((rate.rounds, rate.high), (2, Some(5e9)), "the later record is the valid one");
}

#[test]
fn a_trial_that_failed_and_was_repeated_is_no_failure() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9)]);
    let good = made.records[3].clone();
    made.records[3].error = Some("a reason".to_owned());
    assert_eq!(summary(&made).failures.len(), 1);
    made.records.push(good);
    let summary = summary(&made);
    assert_eq!((summary.failures.len(), summary.run.used_trials), (0, 4));
}

#[test]
fn a_run_without_records_has_a_page_in_every_format() {
    let mut empty = made(&[(1.0, 1.0)]);
    empty.run.status = RunStatus::Running;
    let campaign = Campaign::new(&empty.run);
    for format in hopbench_report::campaign::SUMMARY_FORMATS {
        let text = campaign.render(format.name()).unwrap();
        assert!(text.ends_with('\n') && !text.contains("NaN"), "{}: {text}", format.name());
    }
    assert!(campaign.render("paper").is_none());
}

#[test]
fn no_baseline_no_ratio() {
    let mut made = made(&[(8e9, 4e9), (8e9, 4e9)]);
    made.run.plan.baseline = None;
    let summary = summary(&made);
    assert!(figure(&summary, "other", "received_bits_per_s").ratio.is_none());
    assert!(summary.workloads[0].headline.starts_with("Received from 4.000 Gbit/s (other) to 8.000 Gbit/s (base)"));
    // Of one cell there are no two ends.
    made.records.retain(|record| record.path == "other");
    let headline = self::summary(&made).workloads[0].headline.clone();
    assert!(headline.starts_with("Received 4.000 Gbit/s."), "{headline}");
}

#[test]
fn a_trials_main_latency_is_that_of_its_table() {
    let made = fixture::quickstart(1);
    let main = |workload: &str| {
        let record = made.records.iter().find(|record| record.workload == workload).unwrap();
        let of = |name: &str| record.latency.get(name).map_or(0.0, |latency| latency.p50 as f64);
        (main_latency(record), of("service_ns"), of("response_ns"))
    };
    let (latency, rtt, _) = main("echo");
    assert_eq!(latency, Some(("RTT p50", rtt)), "a ping has a schedule, and its table the RTT");
    let (latency, _, response) = main("web");
    assert_eq!(latency, Some(("response p50", response)), "at a rate");
    assert_eq!(main("throughput").0, None);
    let mut ping = made.records.iter().find(|record| record.workload == "echo").unwrap().clone();
    let later = hopbench_model::Latency { p50: 9_000_000, ..ping.latency["service_ns"].clone() };
    ping.latency.insert("response_ns".to_owned(), later);
    assert_eq!(main_latency(&ping).unwrap().1, ping.latency["service_ns"].p50 as f64);
}
