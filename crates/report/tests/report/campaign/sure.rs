//! Intervals and differences in reports, with known answers.

use hopbench_model::{
    Cell, NodeCost, Record, Schedule, SearchStep, StopRule, StopWhy, Stopped, Via, point_label,
};
use hopbench_report::campaign::{Estimate, Outcome, RunData, Summary};
use hopbench_stats::Stop;
use serde_json::json;

use super::fixture::{self, Costs, Made, Noise};
use super::{campaign, figures, render, summary};

const RATE: &str = "received_bits_per_s";

/// Rounds are faster and slower for all alike.
const WEATHER: [f64; 6] = [1.0, 1.02, 0.98, 1.01, 0.99, 1.0];

/// A baseline and other paths with their factors to it in each round; `twin` is one of those.
fn made(paths: &[(&str, &[f64])], twin: Option<&str>) -> Made {
    let named = |name: &str| fixture::path(name, ("host", "a"), ("host", "b"), Via::Direct);
    let all = std::iter::once(named("base")).chain(paths.iter().map(|(name, _)| named(name)));
    let points =
        vec![fixture::point("bulk", &[], fixture::job("stream", json!({}), Schedule::Closed, 1))];
    let rounds = paths[0].1.len();
    let mut run = fixture::run("sure", all.collect(), points, rounds as u32, Some("base"));
    run.plan.twin = twin.map(str::to_owned);
    let costs = Costs { speed: 1.0, latency: 1.0, cpu: 1.0 };
    let mut records = Vec::new();
    for round in 0..rounds {
        for Cell { path, point } in &run.plan.cells {
            let cell = Cell { path: *path, point: *point };
            let factor = if *path == 0 { 1.0 } else { paths[*path - 1].1[round] };
            let mut record =
                fixture::record(&run, cell, round as u32 + 1, costs, &mut Noise::default());
            record.metrics.insert(RATE.to_owned(), 8e9 * WEATHER[round % 6] * factor);
            // Without CPU time the rate is the only figure that is compared.
            record.cost.client.clear();
            record.cost.server.clear();
            records.push(record);
        }
    }
    Made { run, records }
}

/// Factors that scatter by some tenths of a percent around this one, with it as their median.
fn about(factor: f64) -> [f64; 6] {
    [1.003, 0.996, 1.0, 1.0, 1.002, 0.998].map(|wiggle| factor * wiggle)
}

fn rate<'a>(summary: &'a Summary, path: &str) -> &'a Estimate {
    figures::figure(summary, path, RATE)
}

fn verdict(summary: &Summary, path: &str) -> (Outcome, String) {
    let verdict = rate(summary, path).ratio.as_ref().unwrap().verdict.as_ref().unwrap();
    (verdict.outcome, verdict.text.clone())
}

/// A page with every gap between words one space.
fn page(made: &Made, format: &str) -> String {
    render(made, format).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A run that has all of it: a twin, a stop rule, cells that ended early and one that could not, an
/// outlier.
pub(crate) fn shown() -> Made {
    let named = |name: &str, network: &str| {
        fixture::path(name, (network, "a"), (network, "b"), Via::Direct)
    };
    let paths = vec![
        named("host", "host"),
        named("host again", "host"),
        named("eni", "eni"),
        named("bridge", "bridge"),
        named("overlay", "overlay"),
    ];
    let mut points = vec![fixture::point(
        "throughput",
        &[],
        fixture::job("stream", json!({"size": "128KiB"}), Schedule::Closed, 4),
    )];
    points.extend(["1B", "4KiB"].map(|size| {
        let job = fixture::job("rr", json!({"size": size}), Schedule::Closed, 1);
        fixture::point("latency", &[("size", json!(size))], job)
    }));
    let mut run = fixture::run("as sure as needed (made up)", paths, points, 9, Some("host"));
    run.plan.twin = Some("host again".to_owned());
    run.plan.minimum_effect = 0.01;
    run.plan.stop = Some(StopRule {
        half_width_share: 0.015,
        metric: "throughput".to_owned(),
        min_rounds: 3,
        budget_ns: Some(120_000_000_000),
    });
    let mut made = fixture::measured(run, |path| fixture::costs_of(&path.from.network));
    let figure = |workload: &str| if workload == "throughput" { RATE } else { "requests_per_s" };
    let early = [
        ("eni", "throughput", "", 5, StopWhy::Narrow),
        ("overlay", "latency", "size=4KiB", 7, StopWhy::Budget),
    ];
    for (path, workload, point, rounds, why) in early {
        let of_it = |record: &Record| {
            record.path == path
                && record.workload == workload
                && point_label(&record.point) == point
        };
        made.records.retain(|record| !of_it(record) || record.round <= rounds);
        let share = if why == StopWhy::Narrow { 0.0141 } else { 0.0226 };
        made.run.stopped.push(ended(
            [path, workload, point],
            figure(workload),
            rounds,
            (why, Some(share)),
        ));
    }
    let far = |record: &&mut Record| {
        record.path == "bridge" && record.workload == "throughput" && record.round == 4
    };
    made.records.iter_mut().find(far).unwrap().metrics.insert(RATE.to_owned(), 4e9);
    // The others had all rounds.
    let stop = Stop { half_width_share: 0.015, min_rounds: 3, max_rounds: 9 };
    for cell in &made.run.plan.cells {
        let (path, at) = made.run.plan.at(*cell);
        let (label, looked_at) = (point_label(&at.point), figure(&at.workload));
        let names = [path.name.as_str(), &at.workload, &label];
        if made
            .run
            .stopped
            .iter()
            .any(|known| [&*known.path, &*known.workload, &*known.point] == names)
        {
            continue;
        }
        let own = made
            .records
            .iter()
            .filter(|record| record.path == path.name && record.workload == at.workload);
        let own = own.filter(|record| record.point == at.point);
        let look = stop.look(&own.map(|record| record.metrics[looked_at]).collect::<Vec<_>>());
        let why = if look.narrow_enough { StopWhy::Narrow } else { StopWhy::Rounds };
        made.run.stopped.push(ended(names, looked_at, 9, (why, look.half_width_share)));
    }
    made
}

/// What a run writes of a cell whose rounds have ended, and that was looked at as the rule asks.
fn ended(
    cell: [&str; 3],
    figure: &str,
    rounds: u32,
    (why, half_width_share): (StopWhy, Option<f64>),
) -> Stopped {
    let [path, workload, point, figure] = [cell[0], cell[1], cell[2], figure].map(str::to_owned);
    Stopped { path, workload, point, rounds, why, half_width_share, figure, instead: false }
}

#[test]
fn ratios_are_to_the_mean_of_the_baseline_and_its_twin() {
    let again = [1.0404; 6];
    let mut found = made(&[("again", &again), ("other", &about(0.918))], Some("again"));
    let ratio = |made: &Made, path: &str| {
        rate(&summary(made), path).ratio.as_ref().unwrap().spread.unwrap().median
    };
    // The geometric mean of 1 and 1.0404 is 1.02. The mean of the factors' logarithms is not quite
    // 0.
    assert!((ratio(&found, "other") - 0.9).abs() < 2e-4);
    assert!((ratio(&found, "again") - 1.0404).abs() < 1e-9, "to the baseline alone");
    // Without the twin's rounds it is the ratio to the baseline.
    found.records.retain(|record| record.path != "again");
    assert!((ratio(&found, "other") - 0.918).abs() < 2e-4);
}

#[test]
fn a_true_difference_is_called_and_the_same_thing_twice_is_not() {
    let again = [1.004, 0.998, 1.002, 0.997, 1.001, 1.001];
    let made = made(&[("again", &again), ("other", &about(0.9))], Some("again"));
    let found = summary(&made);
    let (outcome, text) = verdict(&found, "other");
    assert_eq!(outcome, Outcome::Worse);
    assert!(text.starts_with("slower by 10 % [9."), "{text}");
    let ratio = rate(&found, "other").ratio.as_ref().unwrap();
    assert_eq!(ratio.test, Some("student"), "ranks of 6 rounds cannot say enough");
    assert!(
        ratio.p.is_some_and(|p| p < 1e-6) && ratio.p == ratio.q,
        "one comparison needs no correction: {ratio:?}"
    );
    // The mean of the six logarithms.
    let twin = rate(&found, "again").ratio.as_ref().unwrap();
    assert!(twin.verdict.is_none() && twin.p.is_none());
    assert!(
        (0.0002..0.0008).contains(&twin.noise_floor.unwrap())
            && twin.noise_floor == ratio.noise_floor
    );
    assert_eq!((found.run.comparisons, found.run.judged), (1, 1));
    assert!(found.workloads[0].findings.iter().all(|finding| finding.paths != "again"));
    let note =
        "noise floor: base and the same once more (again) differ by 0.05 %; that may be chance";
    assert_eq!(found.run.notes, [note]);
    for format in ["table", "markdown", "html"] {
        let page = page(&made, format);
        assert!(
            page.contains("A/A: noise floor 0.05 %") && page.contains("slower by 10 % "),
            "{format}: {page}"
        );
        assert!(page.contains(note), "{format}");
    }
    let csv = render(&made, "csv");
    let row = |path: &str| {
        let of_rate = |line: &&str| line.starts_with(&format!("{path},")) && line.contains(RATE);
        csv.lines().find(of_rate).unwrap().to_owned()
    };
    assert!(
        row("again").contains(",,nic,0,A/A: noise floor 0.05 %,none,,,,,0.000"),
        "{}",
        row("again")
    );
    assert!(
        row("other").contains("slower by 10 % ") && row("other").contains(",student,"),
        "{}",
        row("other")
    );
    assert!(render(&made, "json").contains("\"test\": \"student\""));
}

#[test]
fn what_the_same_thing_twice_surely_differs_by_widens_all_intervals() {
    let paths = |floor: f64| {
        let (again, other) = (about(floor), about(0.98));
        made(&[("again", &again), ("other", &other), ("far", &about(0.8))], Some("again"))
    };
    let noisy = paths(1.05);
    let found = summary(&noisy);
    let (outcome, text) = verdict(&found, "other");
    assert_eq!(outcome, Outcome::NotDecided, "{text}");
    // 0.98 to the mean of 1 and 1.05 is 0.956, and 5 % around that hold 1.
    assert!(text.starts_with("not decided: -9.") && text.contains(" % to +0."), "{text}");
    let ratio = rate(&found, "other").ratio.as_ref().unwrap().spread.unwrap();
    assert!(!ratio.leaves_out(1.0), "the interval is as wide as the verdict says: {ratio:?}");
    assert_eq!(verdict(&found, "far").0, Outcome::Worse, "more than the floor is more");
    assert!(
        found.run.notes[0].ends_with(
            "differ by 5.0 %; at 1 point that is no chance, and intervals there are wider by it"
        ),
        "{:?}",
        found.run.notes
    );
    for format in ["table", "markdown", "html", "csv", "json"] {
        assert!(page(&noisy, format).contains("not decided: -9."), "{format}");
    }
    assert_eq!(
        verdict(&summary(&paths(1.01)), "other").0,
        Outcome::Worse,
        "with a floor of 1 % it stands"
    );
}

#[test]
fn what_is_of_no_interest_is_said_to_be() {
    let mut made = made(&[("other", &about(0.97)), ("far", &about(0.9))], None);
    made.run.plan.minimum_effect = 0.05;
    let found = summary(&made);
    let (outcome, text) = verdict(&found, "other");
    assert!(outcome == Outcome::Same && text.starts_with("same within 3."), "{text}");
    assert_eq!(verdict(&found, "far").0, Outcome::Worse);
    assert!(page(&made, "table").contains("Differences below 5.0 % are of no interest here."));
}

#[test]
fn one_small_p_among_many_is_not_called() {
    // Mean 0.02, standard error 0.0068: t = 2.94 with 5 degrees of freedom, p = 0.032.
    let doubtful = [0.002f64, 0.006, 0.013, 0.021, 0.032, 0.046].map(f64::exp);
    let nothing = [0.010f64, -0.011, 0.008, -0.010, 0.012, -0.009].map(f64::exp);
    let alone = summary(&made(&[("other", &doubtful)], None));
    assert_eq!(verdict(&alone, "other").0, Outcome::Better);
    let names: Vec<String> = (1..20).map(|n| format!("equal-{n}")).collect();
    let mut paths: Vec<(&str, &[f64])> = vec![("other", &doubtful)];
    paths.extend(names.iter().map(|name| (name.as_str(), nothing.as_slice())));
    let among = summary(&made(&paths, None));
    let (outcome, text) = verdict(&among, "other");
    assert_eq!(outcome, Outcome::NotDecided, "{text}");
    assert!(text.starts_with("not decided: -"), "{text}");
    let ratio = rate(&among, "other").ratio.as_ref().unwrap();
    assert!((0.03..0.034).contains(&ratio.p.unwrap()), "{ratio:?}");
    assert!((ratio.q.unwrap() - 20.0 * ratio.p.unwrap()).abs() < 1e-9, "{ratio:?}");
    assert_eq!((among.run.comparisons, among.run.judged), (20, 20));
    let width = |summary: &Summary| {
        let of = rate(summary, "equal-1").ratio.as_ref().unwrap().spread.unwrap();
        of.high.unwrap() - of.low.unwrap()
    };
    let two = summary(&made(&[("other", &doubtful), ("equal-1", &nothing)], None));
    assert!(width(&among) > 1.3 * width(&two), "of many comparisons each has a wider interval");
}

#[test]
fn two_rounds_are_too_few() {
    let found = summary(&made(&[("other", &[0.5, 0.5])], None));
    assert_eq!(
        verdict(&found, "other"),
        (Outcome::TooFewRounds, "too few rounds (3 needed)".to_owned())
    );
    assert!(
        found.workloads[0].headline.ends_with("other: too few rounds (3 needed)."),
        "{}",
        found.workloads[0].headline
    );
    assert_eq!(found.run.comparisons, 0);
}

/// Six rounds of at most 20, of which the cells end as `why` says.
fn stopped(why: StopWhy, share: f64) -> Made {
    let mut made = made(&[("other", &about(0.9))], None);
    made.run.plan.rounds = 20;
    made.run.plan.stop = Some(StopRule {
        half_width_share: 0.02,
        metric: "throughput".to_owned(),
        min_rounds: 3,
        budget_ns: Some(600_000_000_000),
    });
    for path in ["base", "other"] {
        let end = if path == "base" { (StopWhy::Narrow, Some(0.0199)) } else { (why, Some(share)) };
        made.run.stopped.push(ended([path, "bulk", ""], RATE, 6, end));
    }
    made
}

#[test]
fn rounds_that_were_not_needed_are_not_missing() {
    let made = stopped(StopWhy::Narrow, 0.004);
    let found = summary(&made);
    assert_eq!(
        (found.run.planned_trials, found.run.used_trials, found.run.spared_trials),
        (12, 12, 28)
    );
    assert!(found.run.notes.is_empty(), "{:?}", found.run.notes);
    assert!(!render(&made, "html").contains("are in no figure"));
    for format in ["table", "markdown", "html"] {
        let page = page(&made, format);
        assert!(
            page.contains("until throughput is within +-2.0 %: 3 to 20, in at most 10m"),
            "{format}: {page}"
        );
    }
    let stop = found.workloads[0].cells[0].stop.as_ref().unwrap();
    assert_eq!((stop.why, stop.rounds, stop.half_width_share), (StopWhy::Narrow, 6, Some(0.0199)));
    // The interval is that of a look that could have been the last many times over.
    let look = Stop { half_width_share: 0.02, min_rounds: 3, max_rounds: 20 };
    let interval = look.look(&WEATHER.map(|weather| 8e9 * weather)).interval.unwrap();
    let spread = rate(&found, "base").spread;
    assert_eq!((spread.low, spread.high), (Some(interval.low), Some(interval.high)));
    let mut fixed = made.clone();
    fixed.run.plan.stop = None;
    let plain = rate(&summary(&fixed), "base").spread;
    assert!(plain.low > spread.low && plain.high < spread.high, "without the rule it is narrower");
    // An old run does not say which figure it looked at.
    let mut old = made;
    old.run.stopped.iter_mut().for_each(|stopped| stopped.figure.clear());
    let found = summary(&old);
    assert_eq!((rate(&found, "base").spread, found.run.spared_trials), (plain, 28));
    assert_eq!(found.workloads[0].cells[0].stop.as_ref().unwrap().why, StopWhy::Narrow);
}

#[test]
fn cells_that_are_not_sure_enough_say_how_sure_they_are() {
    let made = stopped(StopWhy::Budget, 0.031);
    let found = summary(&made);
    assert_eq!(found.run.planned_trials, 12);
    let note = "the time of 10m ended before 1 of 2 cells had throughput within +-2.0 %: other \
                bulk (+-3.1 %). In that time";
    assert!(found.run.notes.iter().any(|said| said.starts_with(note)), "{:?}", found.run.notes);
    for format in ["html", "csv"] {
        assert!(
            page(&made, format).contains("after 6 rounds, when the time ended: +-3.1 %"),
            "{format}"
        );
    }
    assert!(!page(&made, "csv").contains('\''), "a note begins like a formula");
    // All rounds, and still not narrow enough.
    let mut all = made;
    all.run.plan.rounds = 6;
    let wide = all.run.stopped.iter_mut();
    wide.for_each(|stopped| {
        (stopped.why, stopped.half_width_share) = (StopWhy::Rounds, Some(0.012));
    });
    all.run.plan.stop.as_mut().unwrap().half_width_share = 0.005;
    let found = summary(&all);
    let ends: Vec<_> =
        found.workloads[0].cells.iter().map(|cell| cell.stop.as_ref().unwrap().why).collect();
    assert_eq!(ends, [StopWhy::Rounds; 2]);
    assert!(
        found.run.notes[0].starts_with(
            "after all 6 rounds 2 of 2 cells do not have throughput within +-0.50 %: "
        )
    );
}

#[test]
fn a_width_that_reads_as_what_was_asked_for_has_more_digits() {
    let found = summary(&stopped(StopWhy::Budget, 0.02004));
    let note = "had throughput within +-2.0 %: other bulk (+-2.004 %). In that time";
    assert!(found.run.notes.iter().any(|said| said.contains(note)), "{:?}", found.run.notes);
}

#[test]
fn the_figure_that_was_looked_at_is_named() {
    let mut made = stopped(StopWhy::Budget, 0.031);
    made.run.plan.stop.as_mut().unwrap().metric = "p99".to_owned();
    made.run.stopped.iter_mut().for_each(|stopped| stopped.instead = true);
    let found = summary(&made);
    let note = "before 1 of 2 cells had received within +-2.0 %: other bulk (+-3.1 %)";
    assert!(
        found.run.notes.iter().any(|said| said.contains(note)),
        "a stream has no p99: {:?}",
        found.run.notes
    );
}

#[test]
fn an_outlier_is_marked_and_still_in_the_median() {
    let mut values = vec![1.0, 1.001, 0.999, 1.002, 0.998, 1.0005, 0.5];
    let mut made = made(&[("other", &values.clone())], None);
    // The weather is nothing that this is about.
    for (at, record) in made.records.iter_mut().enumerate() {
        let factor = if record.path == "base" { 1.0 + 0.0001 * at as f64 } else { values[at / 2] };
        record.metrics.insert(RATE.to_owned(), 8e9 * factor);
    }
    let found = summary(&made);
    let other = rate(&found, "other");
    values.sort_by(f64::total_cmp);
    assert_eq!((other.spread.rounds, other.spread.median), (7, 8e9 * values[3]));
    assert_eq!(other.outliers, [7]);
    assert!(rate(&found, "base").outliers.is_empty());
    let note = "1 trial is far from the other rounds of the same cell (round 7 of other bulk): \
                marked *, and it is in the figures";
    assert!(found.run.notes.contains(&note.to_owned()), "{:?}", found.run.notes);
    for (format, mark) in [
        ("table", "]* "),
        ("markdown", "]\\* "),
        ("html", "round 7\">*</span>"),
        ("csv", ",7,,,,,,,,\n"),
    ] {
        let page = render(&made, format);
        assert!(page.contains(mark), "{format}: {page}");
    }
    assert!(
        render(&made, "table")
            .contains("* A round is far from the others of the cell; it is in the figure.")
    );
}

fn with_rates(rounds: usize, rate: impl Fn(usize) -> f64) -> Made {
    let mut made = made(&[("other", &vec![0.9; rounds])], None);
    for (at, record) in made.records.iter_mut().enumerate() {
        let factor = if record.path == "base" { 1.0 } else { 0.9 };
        record.metrics.insert(RATE.to_owned(), 8e9 * factor * rate(at / 2));
    }
    made
}

#[test]
fn what_moves_over_the_rounds_in_all_cells_is_told() {
    let slower = with_rates(9, |round| 1.0 - 0.01 * round as f64);
    let notes = summary(&slower).run.notes;
    assert!(
        notes[0]
            .starts_with("from the first round to the last all cells together got slower by 8."),
        "{notes:?}"
    );
    assert!(notes[0].contains("(p < 0.001)"), "{notes:?}");
    assert!(page(&slower, "table").contains("got slower by 8."));
    // Four times as slow, round by round, is slower by three quarters.
    let fourth = with_rates(9, |round| 0.25f64.powf(round as f64 / 8.0));
    assert!(
        page(&fourth, "table").contains("got slower by 75 %"),
        "{:?}",
        summary(&fourth).run.notes
    );
    let steady =
        with_rates(9, |round| [1.0, 1.01, 0.99, 1.005, 0.995, 1.01, 0.99, 1.0, 1.002][round]);
    assert!(summary(&steady).run.notes.is_empty(), "{:?}", summary(&steady).run.notes);
    // A neighbour that came and went: no trend, but rounds like the ones before.
    let neighbour = with_rates(16, |round| 0.9 + 0.1 * ((round as f64 - 7.5) / 7.5).powi(2));
    let notes = summary(&neighbour).run.notes;
    assert!(
        notes
            .iter()
            .any(|note| note.starts_with("rounds resemble the round before (rank correlation 0.")),
        "{notes:?}"
    );
}

#[test]
fn time_that_other_machines_took_is_told() {
    let of = |steal: f64| {
        let mut made = made(&[("other", &about(0.9))], None);
        for record in &mut made.records {
            let stolen = if record.round == 2 { 3.0 * steal } else { steal };
            let node = |name: &str, steal_cores: f64| NodeCost {
                name: name.to_owned(),
                busy_cores: 1.0,
                steal_cores,
                per_cpu_busy: vec![0.5; 2],
                ..NodeCost::default()
            };
            record.cost.one_machine = false;
            record.cost.nodes = vec![node("a", stolen), node("b", 0.0)];
        }
        summary(&made).run.notes
    };
    assert!(of(0.006).is_empty(), "0.9 % of two CPUs in the worst round: {:?}", of(0.006));
    // 1.5 % of the time in most rounds, 4.5 % in one of six: 2 % on average.
    let notes = of(0.03);
    assert!(
        notes[0]
            .starts_with("other machines took CPU time of the nodes: a 2.0 % (4.5 % in round 2). "),
        "{notes:?}"
    );
}

#[test]
fn percentiles_of_all_rounds_stand_below_the_plots() {
    let made = fixture::connections();
    let found = summary(&made);
    let first = &found.workloads[0].distributions[0];
    assert_eq!(
        first.pooled.iter().map(|one| one.percentile).collect::<Vec<_>>(),
        ["mean", "p50", "p90", "p99", "p999"]
    );
    for one in &first.pooled {
        let value = one.value_ns as f64;
        assert!(one.low_ns < value && value < one.high_ns && one.rounds == 7, "{one:?}");
    }
    // The medians of the rounds' medians are much the same.
    let cell = &found.workloads[0].cells[0];
    let p50 = cell.figure("service_p50_ns").unwrap().spread.median;
    assert!(
        (first.pooled[1].value_ns as f64 / p50 - 1.0).abs() < 0.03,
        "{p50} {:?}",
        first.pooled[1]
    );
    let title = "Latency: mean and percentiles of all rounds together";
    assert!(render(&made, "html").contains(&format!("<summary>{title}</summary>")));
    assert!(render(&made, "table").lines().any(|line| line == title));
    assert!(!render(&fixture::quickstart(1), "html").contains(title));
    assert!(render(&made, "json").contains("\"percentile\": \"p999\""));
}

fn search(record: &Record, step: u32) -> Record {
    let step = SearchStep {
        goal: "slo".to_owned(),
        step,
        parameter: "rate".to_owned(),
        load: 100.0,
        why: "raise".to_owned(),
        figure: "response_ns p99".to_owned(),
        value: Some(1.0),
        within: true,
        broken: Vec::new(),
        found: None,
        outcome: None,
    };
    let mut out = record.clone();
    out.point.insert("rate".to_owned(), json!(100.0));
    out.search = Some(step);
    out
}

#[test]
fn trials_of_searches_are_in_no_cell() {
    let mut made = made(&[("other", &about(0.9))], None);
    let plain = summary(&made);
    for step in 1..=3 {
        let trial = search(&made.records[0], step);
        made.records.push(trial);
    }
    made.records.last_mut().unwrap().error = Some("the server went away".to_owned());
    let all: RunData = campaign(&made);
    assert_eq!(all.searches().len(), 3);
    let found = all.into_summary();
    assert_eq!(
        (found.run.used_trials, found.run.planned_trials),
        (plain.run.used_trials, plain.run.planned_trials)
    );
    assert_eq!(rate(&found, "base").spread, rate(&plain, "base").spread);
    assert_eq!(found.failures.len(), 1, "one that failed is listed: {:?}", found.failures);
}
