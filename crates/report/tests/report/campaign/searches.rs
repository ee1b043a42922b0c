//! Results of searches in reports, with known answers.

use hopbench_model::{Record, SearchGoal, SearchOutcome, fixture};
use hopbench_report::campaign::{Outcome, SearchSummary, SearchedPath};
use serde_json::Value;

use super::fixture::Made;
use super::searched::{self, At, RATES, SLO, searched};
use super::{render, summary};

pub(super) fn search(made: &Made, workload: &str, parameter: &str) -> SearchSummary {
    let all = summary(made).searches;
    all.into_iter()
        .find(|search| search.workload == workload && search.parameter == parameter)
        .unwrap()
}

pub(super) fn path<'a>(search: &'a SearchSummary, name: &str) -> &'a SearchedPath {
    search.paths.iter().find(|path| path.path == name).unwrap()
}

/// A run of the SLO search, three times, whose trials end as said: path, load, low, high.
pub(super) fn scripted(ends: &[(usize, f64, f64, f64)]) -> Made {
    let mut run = searched::run();
    run.plan.points.truncate(1);
    run.plan.cells.retain(|cell| cell.point == SLO);
    let mut records = Vec::new();
    for (path, load, low, high) in ends.iter().copied() {
        let at = At { path, point: SLO, goal: "slo", parameter: "rate", figure: "response_ns p99" };
        // The results of three searches, half of a percent around this load.
        let trial = |step, load: f64, value, found| {
            let mut made = searched::trial(&run, at, step, load, "confirm", value);
            made.search.as_mut().unwrap().found = Some(found);
            made
        };
        let mut last = trial(3, load, 4.2e6, load);
        last.search.as_mut().unwrap().outcome =
            Some(SearchOutcome::Found { load, low, high: Some(high) });
        records.extend([
            trial(1, load, 4e6, load * 0.995),
            trial(2, high, 7e6, load * 1.005),
            last,
        ]);
    }
    Made { run, records }
}

#[test]
fn a_rate_within_a_limit_is_found_on_every_path() {
    let made = searched();
    let slo = search(&made, "web", "rate");
    assert_eq!((slo.goal, slo.figure.as_str(), slo.limit), ("slo", "response_ns p99", Some(5e6)));
    assert_eq!(
        slo.asked,
        "the highest rate with a response time p99 of at most 5.00 ms, between 100/s and 50000/s, \
         to 2 %, the median of 3 searches; at most 1 % errors"
    );
    // p99 is 5 ms at 80 % of what a path can do.
    for (name, most) in [("direct", 20_000.0), ("again", 20_100.0), ("overlay", 14_000.0)] {
        let found = path(&slo, name);
        let Some(SearchOutcome::Found { load, low, high: Some(high) }) = found.outcome else {
            panic!("{found:?}")
        };
        assert_eq!(
            (low, high, found.results.as_slice()),
            (load, load, [load; 3].as_slice()),
            "without noise: {found:?}"
        );
        assert!(load <= 0.8 * most && 0.8 * most <= found.high.unwrap(), "{name}: {found:?}");
        assert!(
            found.low == Some(load) && found.high.unwrap() <= 1.0201 * load,
            "{name}: {found:?}"
        );
        // The figures are those of the trials at that load.
        let rate = found.figure("requests_per_s").unwrap().spread;
        let there = found.trace.iter().filter(|step| step.load == load).count();
        assert_eq!((rate.median, rate.rounds, found.value.unwrap().rounds), (load, there, there));
        assert_eq!(found.value.unwrap().median, searched::p99_ns(most, load));
        // Windows of 2 s after 0.5 s of warm-up.
        assert_eq!((found.trials, found.trials_s), (found.trace.len(), 2.5 * found.trials as f64));
    }
    let relay = path(&slo, "relay");
    assert_eq!(relay.outcome, Some(SearchOutcome::BelowLowest));
    assert_eq!(
        relay.text,
        "even 100/s is too high, the lowest that was asked for (response p99 11.0 ms)"
    );
    assert!(relay.figures.is_empty() && relay.found().is_none());
}

#[test]
fn a_knee_is_found_in_connections_then_in_threads() {
    let made = searched();
    let knee = search(&made, "pool", "connections");
    assert!(matches!(path(&knee, "direct").found(), Some(32.0 | 64.0)), "{knee:?}");
    assert_eq!(path(&knee, "relay").found(), Some(32.0), "a hard limit");
    let threads = search(&made, "pool", "threads");
    assert_eq!(path(&threads, "direct").found(), Some(1.0));
    assert!(
        threads.asked.contains("the threads beyond which throughput grows by less than 5 %: 1, 2")
    );
}

#[test]
fn searches_are_in_no_cell() {
    let made = searched();
    let found = summary(&made);
    assert_eq!((found.run.planned_trials, found.run.used_trials, found.failures.len()), (0, 0, 0));
    assert_eq!(found.searches.len(), 5, "connections and threads are two");
    assert_eq!(found.searches.iter().map(|search| search.paths.len()).collect::<Vec<_>>(), [4; 5]);
    let trials: usize =
        found.searches.iter().flat_map(|search| &search.paths).map(|path| path.trials).sum();
    let equal = made
        .records
        .iter()
        .filter(|record| record.search.as_ref().unwrap().goal == "equal-load")
        .count();
    assert_eq!((trials + equal, equal), (made.records.len(), 36));
}

#[test]
fn rates_differ_where_their_searches_do() {
    let text = |ends: &[(usize, f64, f64, f64)]| {
        let made = scripted(ends);
        let found = path(&search(&made, "web", "rate"), "overlay").comparison.clone().unwrap();
        // A logarithm and back is not quite what it was.
        (found.outcome, found.text, found.ratio.map(|ratio| (ratio * 1e9).round() / 1e9))
    };
    let base = (0, 1000.0, 1000.0, 1020.0);
    let said = |outcome, text: &str, ratio| (outcome, text.to_owned(), Some(ratio));
    assert_eq!(
        text(&[base, (2, 800.0, 800.0, 816.0)]),
        said(Outcome::Less, "lower by 20 % [18, 22]", 0.8)
    );
    assert_eq!(
        text(&[base, (2, 1250.0, 1250.0, 1275.0)]),
        said(Outcome::More, "higher by 25 % [23, 27]", 1.25)
    );
    assert_eq!(
        text(&[base, (2, 1010.0, 1010.0, 1030.0)]),
        said(Outcome::Same, "same within 3.0 %", 1.01)
    );
    assert_eq!(
        text(&[base, (2, 1020.0, 1020.0, 1040.0)]),
        said(Outcome::Same, "same within 4.0 %", 1.02)
    );
    let made = scripted(&[base, (2, 800.0, 800.0, 816.0)]);
    let slo = search(&made, "web", "rate");
    assert!(path(&slo, "direct").comparison.is_none());
    let tested = path(&slo, "overlay").comparison.as_ref().unwrap();
    assert!(
        tested.p.is_some_and(|p| p < 0.01) && tested.q == tested.p,
        "one comparison: {tested:?}"
    );
    // The same loads, each searched once: how far the next search would come to lie from it nobody
    // knows.
    let mut once = made.clone();
    once.records.iter_mut().for_each(|record| record.search.as_mut().unwrap().found = None);
    let slo = search(&once, "web", "rate");
    let untested = path(&slo, "overlay").comparison.as_ref().unwrap();
    assert_eq!(
        (untested.outcome, untested.text.as_str()),
        (Outcome::TooFewRounds, "too few searches (3 needed)")
    );
    assert_eq!((untested.ratio, untested.low, untested.p), (Some(0.8), None, None));
    // Results that lie as far apart on each path as the two do from each other.
    let mut noisy = made;
    for (record, by) in noisy.records.iter_mut().zip([1.0, 1.3, 0.8, 1.3, 0.8, 1.1]) {
        let found = &mut record.search.as_mut().unwrap().found;
        *found = found.map(|found| found * by);
    }
    let slo = search(&noisy, "web", "rate");
    assert_eq!(path(&slo, "overlay").comparison.as_ref().unwrap().outcome, Outcome::NotDecided);
}

#[test]
fn a_spreadsheet_has_what_was_found_and_the_figures_there() {
    let page = render(&searched(), "csv");
    let mut rows = super::golden::rows(&page);
    let heads = rows.remove(0);
    let at = |name: &str| heads.iter().position(|head| head == name).unwrap();
    let row = |path: &str, figure: &str| {
        let mut all = rows.iter().filter(|row| {
            row[0] == path && row[at("figure")] == figure && row[at("goal")] == "slo"
        });
        let found = all.next().unwrap_or_else(|| panic!("no {figure} of {path}: {page}"));
        assert!(all.next().is_none(), "{figure} of {path} once");
        ["median", "load", "limit", "goal_met", "ended"].map(|name| found[at(name)].to_owned())
    };
    let found = search(&searched(), "web", "rate");
    let direct = path(&found, "direct");
    let load = direct.found().unwrap().to_string();
    let text = |median: String| {
        [median, load.clone(), "5000000".to_owned(), "true".to_owned(), "found".to_owned()]
    };
    assert_eq!(row("direct", "found_rate_per_s"), text(load.clone()));
    assert_eq!(
        row("direct", "at_found_rate_response_p99_ns"),
        text(direct.value.unwrap().median.to_string())
    );
    let cpu = direct.figure("cpu_per_request_ns").unwrap().spread.median;
    assert_eq!(row("direct", "at_found_rate_cpu_per_request_ns"), text(cpu.to_string()));
    let none = ["", "", "5000000", "false", "below_lowest"].map(str::to_owned);
    assert_eq!(row("relay", "found_rate_per_s"), none);
    // What cells have stands in no row of a search.
    assert!(rows.iter().all(|row| row[at("figure")].contains("found_")), "{page}");
    // A knee that was not reached is not met, a rate that is not too high is.
    let is = |goal: &str, ended: &str| {
        let own = rows.iter().find(|row| row[at("goal")] == goal && row[at("ended")] == ended);
        own.map(|row| (row[at("goal_met")].to_owned(), row[at("load")].to_owned()))
    };
    assert_eq!(is("cpu", "above_highest"), Some(("true".to_owned(), "50000".to_owned())));
}

#[test]
fn no_page_has_a_number_that_is_none() {
    // From nothing on everything is without end: a path found nothing, another may be anywhere.
    let mut made = scripted(&[
        (0, 1000.0, 0.0, 1020.0),
        (1, 0.0, 0.0, 100.0),
        (2, 800.0, 800.0, 816.0),
        (3, 5.0, 0.0, 9.0),
    ]);
    made.records.last_mut().unwrap().search.as_mut().unwrap().outcome =
        Some(SearchOutcome::GaveUp { low: None, high: None });
    let whole = |page: &str| {
        let mut words = page.split(|c: char| !c.is_alphanumeric());
        let odd =
            words.find(|word| ["inf", "nan", "infinity"].contains(&word.to_lowercase().as_str()));
        assert_eq!(odd, None, "{page}");
    };
    for format in ["table", "markdown", "csv", "searches", "json"] {
        whole(&render(&made, format));
    }
    let html = render(&made, "html");
    let (_, section) = html.split_once("<section id=\"searches\">").unwrap();
    whole(section.split("</section>").next().unwrap());
    let slo = search(&made, "web", "rate");
    // There is no ratio to nothing, or of nothing.
    let nothing = path(&slo, "again").comparison.as_ref().unwrap();
    assert_eq!(
        (nothing.ratio, nothing.high, nothing.outcome),
        (Some(0.0), None, Outcome::TooFewRounds)
    );
}

#[test]
fn what_has_not_ended_and_what_gave_up_is_told() {
    let mut made = scripted(&[(0, 1000.0, 1000.0, 1020.0), (2, 800.0, 800.0, 816.0)]);
    let last = made.records.last_mut().unwrap().search.as_mut().unwrap();
    last.outcome = Some(SearchOutcome::GaveUp { low: Some(800.0), high: None });
    let text = |made: &Made, name: &str| path(&search(made, "web", "rate"), name).text.clone();
    assert_eq!(
        text(&made, "overlay"),
        "given up after 3 trials: between 800/s and nothing that was too high"
    );
    assert_eq!(text(&made, "relay"), "not ended, after 0 trials");
    assert!(render(&made, "table").contains("- relay: not ended, after 0 trials"));
    // Between 800 and whatever: it may be as high as the baseline's.
    let comparison = path(&search(&made, "web", "rate"), "overlay").comparison.clone().unwrap();
    assert_eq!((comparison.outcome, comparison.ratio), (Outcome::NotDecided, None));
    made.records.truncate(4);
    assert_eq!(text(&made, "overlay"), "not ended, after 1 trial");
}

#[test]
fn a_trial_that_cannot_be_used_is_in_the_trace_and_in_no_figure() {
    let mut made = scripted(&[(0, 1000.0, 1000.0, 1020.0)]);
    made.records[0].proof[1].ok = false;
    made.records[0].error = made.records[0].contradiction();
    let found = search(&made, "web", "rate");
    let direct = path(&found, "direct");
    assert_eq!(
        (direct.trials, direct.value.unwrap().rounds, direct.value.unwrap().median),
        (3, 1, 4.2e6)
    );
    assert!(
        direct.trace[0].unusable.starts_with("the traffic did not take the path"),
        "{:?}",
        direct.trace[0]
    );
    assert!(render(&made, "markdown").contains("(in no figure: the traffic did not take the path"));
    // One in whose time the testbed changed counts where there is no other.
    let mut disturbed = made.clone();
    disturbed.records[2].testbed_changed = Some("a pod moved".to_owned());
    assert_eq!(path(&search(&disturbed, "web", "rate"), "direct").value.unwrap().median, 4.2e6);
    disturbed.records[0].error = None;
    assert_eq!(path(&search(&disturbed, "web", "rate"), "direct").value.unwrap().median, 4e6);
    // It was repeated: the later record is the valid one.
    let mut again = made.records[0].clone();
    again.error = None;
    again.search.as_mut().unwrap().value = Some(4.4e6);
    made.records.push(again);
    let found = search(&made, "web", "rate");
    let direct = path(&found, "direct");
    assert_eq!((direct.trials, direct.value.unwrap().median), (3, 4.3e6));
    assert_eq!(direct.trace.iter().map(|step| step.step).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(direct.found().is_some());
}

#[test]
fn trials_of_a_scan_are_in_the_trace_and_in_no_figure() {
    let plain = scripted(&[(0, 10_000.0, 9950.0, 10_200.0)]);
    let mut scanned = plain.clone();
    let at = At { path: 0, point: SLO, goal: "slo", parameter: "rate", figure: "response_ns p99" };
    // At the load that was found, below its ends, and the highest of all.
    for (step, load) in [(11, 10_000.0), (12, 100.0), (13, 40_000.0)] {
        scanned.records.insert(0, searched::trial(&plain.run, at, step, load, "scan", 90e6));
    }
    let of = |made: &Made| path(&search(made, "web", "rate"), "direct").clone();
    let (plain, scanned) = (of(&plain), of(&scanned));
    assert_eq!((plain.trials, scanned.trials, scanned.trace.len()), (3, 6, 6));
    assert_eq!(format!("{:?}", plain.figures), format!("{:?}", scanned.figures));
    assert_eq!(plain.value, scanned.value);
    assert_eq!((plain.low, plain.high), (scanned.low, scanned.high));
    assert_eq!(plain.too_high, scanned.too_high);
    assert_eq!(plain.generator_limited, scanned.generator_limited);
}

#[test]
fn a_slow_generator_or_another_session_leaves_no_verdict() {
    let ends = [(0, 1000.0, 1000.0, 1020.0), (2, 800.0, 800.0, 816.0)];
    let standing =
        |made: &Made| path(&search(made, "web", "rate"), "overlay").comparison.clone().unwrap();
    let mut made = scripted(&ends);
    // At the load above, which broke the limit.
    made.records[4].limited_by = "generator".to_owned();
    assert_eq!(standing(&made).text, "no verdict: the load generator was the limit");
    assert!(render(&made, "table").contains("! the load generator was the limit there"));
    // One of three trials at the load that was found is not most of them; two are.
    let mut made = scripted(&ends);
    let mut more = made.records[3].clone();
    (more.search.as_mut().unwrap().step, more.search.as_mut().unwrap().found) = (4, None);
    made.records.push(more);
    made.records[3].limited_by = "generator".to_owned();
    assert_eq!(standing(&made).outcome, Outcome::Less);
    made.records[5].limited_by = "generator".to_owned();
    assert_eq!(standing(&made).text, "no verdict: the load generator was the limit");
    let mut made = scripted(&ends);
    made.records[3..].iter_mut().for_each(|record| record.session = 2);
    assert_eq!(standing(&made).text, "no verdict: the baseline was measured in another session");
    made.records[5].session = 1;
    assert_eq!(standing(&made).outcome, Outcome::Less);
}

#[test]
fn a_ceiling_is_held_and_a_loss_is_kept_out() {
    let made = searched();
    let cpu = search(&made, "half", "rate");
    let direct = path(&cpu, "direct");
    assert!((0.57..=0.6).contains(&direct.value.unwrap().median), "{direct:?}");
    assert_eq!((cpu.goal, cpu.limit, cpu.point["size"].as_str()), ("cpu", Some(0.6), Some("1KiB")));
    assert_eq!(
        path(&cpu, "relay").text,
        "even 50000/s is not too high, the highest that was asked for"
    );
    // The figures are those of the highest.
    assert_eq!(
        (path(&cpu, "relay").at, path(&cpu, "relay").value.unwrap().median),
        (Some(50_000.0), 0.05)
    );
    assert!(
        render(&made, "table").lines().any(|line| line.contains("  >= 50000  ")),
        "{}",
        render(&made, "table")
    );
    let relay = path(&cpu, "relay").comparison.as_ref().unwrap();
    assert_eq!((relay.outcome, relay.text.as_str()), (Outcome::More, "higher"));
    let flood = search(&made, "flood", "rate");
    for (name, most) in [("direct", 20_000.0), ("overlay", 14_000.0)] {
        let found = path(&flood, name).found().unwrap();
        assert!((0.98 * most..=1.002 * most).contains(&found), "{name}: {found}");
    }
    assert_eq!(path(&flood, "overlay").comparison.as_ref().unwrap().outcome, Outcome::Less);
    assert!(flood.asked.ends_with("the median of 3 searches"));
}

#[test]
fn programs_get_every_trial() {
    let made = searched();
    let json: Value = serde_json::from_str(&render(&made, "json")).unwrap();
    let trials: usize = json["searches"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|search| search["paths"].as_array().unwrap())
        .map(|path| path["trace"].as_array().unwrap().len())
        .sum();
    assert_eq!(trials + 36, made.records.len());
    let rows = |format: &str| {
        let text = render(&made, format);
        text.lines()
            .map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let trace = rows("searches");
    assert_eq!(trace.len() - 1, trials);
    assert_eq!(trace[0][..6], ["path", "workload", "goal", "size", "parameter", "step"]);
    let column = |name: &str| trace[0].iter().position(|head| head == name).unwrap();
    let found: Vec<_> = trace[1..]
        .iter()
        .filter(|row| row[column("goal")] == "slo" && !row[column("found")].is_empty())
        .collect();
    assert_eq!(found.len(), 3, "once a path");
    let slo = search(&made, "web", "rate");
    assert_eq!(found[2][column("found")], path(&slo, "overlay").found().unwrap().to_string());
    let cells = rows("csv");
    let at = |name: &str| cells[0].iter().position(|head| head == name).unwrap();
    let row = cells
        .iter()
        .find(|row| row[at("figure")] == "found_rate_per_s" && row[0] == "overlay")
        .unwrap();
    assert_eq!(row[at("median")], path(&slo, "overlay").found().unwrap().to_string());
    assert!(row[at("verdict")].starts_with("\"lower by 30 %"), "{row:?}");
    assert_eq!(cells.iter().filter(|row| row[at("figure")] == "found_threads").count(), 4);
}

#[test]
fn hostile_texts_stay_texts() {
    let bad = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>|`*[x]\u{202e}\u{1b}[2J";
    let mut made = searched();
    made.run.plan.paths[2].name = bad.to_owned();
    for record in made.records.iter_mut() {
        if record.path == "overlay" {
            record.path = bad.to_owned();
        }
        let step = record.search.as_mut().unwrap();
        step.figure = format!("{bad} p99");
        if step.goal == "equal-load" && step.why != "overlay" {
            continue;
        }
        step.why = bad.to_owned();
    }
    let page = render(&made, "html");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    for wrong in ["<script>alert", "<img", "\u{202e}", "\u{1b}"] {
        assert!(!page.contains(wrong), "`{}` is in the page", wrong.escape_debug());
    }
    for line in render(&made, "table").lines() {
        assert!(line.chars().all(|c| matches!(c, ' '..='~' | 'µ' | '×' | '±')), "{line}");
    }
    assert!(!render(&made, "markdown").contains("<script>"));
}

#[test]
fn searches_at_other_points_are_apart() {
    // Two sizes of one workload, each with its own search.
    let mut made = scripted(&[(0, 1000.0, 1000.0, 1020.0)]);
    let size =
        |record: &mut Record, size: &str| _ = record.point.insert("size".to_owned(), size.into());
    let mut twice = made.run.plan.points[0].clone();
    made.run.plan.points[0].point.insert("size".to_owned(), "1KiB".into());
    twice.point.insert("size".to_owned(), "1MiB".into());
    let goal =
        SearchGoal::Slo { percentile: 50.0, limit_ns: 1_000_000, rates: RATES, precision: 0.02 };
    twice.search = Some(fixture::search(goal));
    made.run.plan.points.push(twice);
    let mut other = made.records.clone();
    made.records.iter_mut().for_each(|record| size(record, "1KiB"));
    for record in &mut other {
        size(record, "1MiB");
        record.search.as_mut().unwrap().load /= 10.0;
        if let Some(SearchOutcome::Found { load, low, high }) =
            &mut record.search.as_mut().unwrap().outcome
        {
            (*load, *low, *high) = (100.0, 100.0, Some(102.0));
        }
    }
    made.records.extend(other);
    let found = summary(&made).searches;
    let loads: Vec<_> = found
        .iter()
        .map(|search| (search.point["size"].clone(), search.paths[0].found()))
        .collect();
    assert_eq!(loads, [("1KiB".into(), Some(1000.0)), ("1MiB".into(), Some(100.0))]);
    assert!(render(&made, "table").contains("\nweb size=1MiB (slo over rate)\n"));
}

#[test]
fn a_cpu_is_known_as_well_as_it_was_seen() {
    // Seen 58, 59 and 60 % at 1000/s, and 29 % at 500/s: 6 points of 100 for each 100/s.
    let mut made = scripted(&[]);
    let goal = SearchGoal::Cpu { of: hopbench_model::CpuOf::Client, ceiling: 0.6, rates: RATES };
    made.run.plan.points[0].search = Some(fixture::search(goal));
    let at = At { path: 0, point: SLO, goal: "cpu", parameter: "rate", figure: "cpu_share" };
    let seen = [(500.0, 0.29), (1000.0, 0.58), (1000.0, 0.59), (1000.0, 0.6)];
    let trials = seen
        .iter()
        .zip(1..)
        .map(|((load, value), step)| searched::trial(&made.run, at, step, *load, "raise", *value));
    made.records = trials.collect();
    let found = SearchOutcome::Found { load: 1000.0, low: 500.0, high: Some(1000.0) };
    made.records[3].search.as_mut().unwrap().outcome = Some(found);
    let cpu = search(&made, "web", "rate");
    let (low, high) = (path(&cpu, "direct").low.unwrap(), path(&cpu, "direct").high.unwrap());
    // Student's t with 2 degrees: 4.3 x 1 % / sqrt(3) around 59 % is 56.6 to 61.5 %, as logarithms
    // a little else.
    assert!((970.0..980.0).contains(&low) && (1055.0..1062.0).contains(&high), "{low} {high}");
    assert!(path(&cpu, "direct").text.starts_with("1000/s [97"), "{}", path(&cpu, "direct").text);
}
