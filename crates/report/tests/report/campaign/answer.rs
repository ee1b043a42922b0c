//! Tests of the answer on one screen: six screens that a person has looked at, the meaning of its
//! signs, and that it always fits. `UPDATE_GOLDEN=1` writes the screens anew.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use hopbench_analysis::Better;
use hopbench_model::Failure;
use hopbench_report::campaign::{Details, Outcome, Screen, Spread, Summary};
use proptest::prelude::*;

use super::fixture::{self, Made};
use super::{mesh, render, searched, summary, sure};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden-answer"))
}

/// The search for a rate alone: two searches or fewer have all their figures.
fn one_search() -> Made {
    let mut made = searched::searched();
    let web = made.run.plan.points[searched::SLO].workload.clone();
    made.run.plan.points.truncate(1);
    made.run.plan.cells.retain(|cell| cell.point == searched::SLO);
    made.records.retain(|record| record.workload == web);
    made
}

fn screens() -> Vec<(&'static str, String)> {
    vec![
        ("quickstart.txt", render(&fixture::quickstart(3), "screen")),
        ("one_round.txt", render(&fixture::quickstart(1), "screen")),
        ("search.txt", render(&one_search(), "screen")),
        ("searches.txt", render(&searched::searched(), "screen")),
        ("sweep.txt", render(&fixture::connections(), "screen")),
        ("mesh.txt", render(&mesh::mesh(6), "screen")),
    ]
}

#[test]
fn screens_are_as_agreed() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let screens = screens();
    for (name, screen) in &screens {
        let path = folder().join(name);
        if update {
            fs::write(&path, screen).unwrap();
        }
        let agreed = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            agreed == *screen,
            "{name} differs (UPDATE_GOLDEN=1 accepts it):\n{agreed}\n----\n{screen}"
        );
    }
    assert_eq!(fs::read_dir(folder()).unwrap().count(), screens.len(), "files and screens");
}

#[test]
fn the_pauses_between_sessions_are_no_part_of_the_time_of_a_run() {
    let head =
        |made: &Made| render(made, "screen").split("\n\n").next().unwrap().replace('\n', " ");
    let mut made = fixture::quickstart(3);
    assert!(head(&made).contains(", 6 min 41 s, "), "{}", head(&made));
    made.run.session = 2;
    assert!(!head(&made).contains(" min "), "nobody counted it: {}", head(&made));
    made.run.spent_ns = 90_000_000_000;
    assert!(head(&made).contains(", 1 min 30 s, "), "{}", head(&made));
    made.run.ended_at = None;
    assert!(!head(&made).contains(" min "), "it goes on: {}", head(&made));
}

/// The row of a path, its words.
fn row(screen: &str, path: &str) -> Vec<String> {
    let line = screen.lines().find(|line| line.split_whitespace().next() == Some(path));
    let line = line.unwrap_or_else(|| panic!("no {path}:\n{screen}"));
    line.split_whitespace().skip(1).map(str::to_owned).collect()
}

#[test]
fn a_verdict_keeps_its_meaning_in_short() {
    let made = fixture::matrix();
    let mut said = summary(&made);
    said.workloads.truncate(1);
    let names: Vec<String> = said.paths.iter().map(|path| path.name.clone()).collect();
    let outcomes = [
        (Outcome::Better, 1.5, "+50 ±2 %"),
        (Outcome::Worse, 0.5, "-50 ±1 %"),
        (Outcome::NotDecided, 0.98, "?"),
        (Outcome::NoiseFloor, 0.9, "?"),
        (Outcome::MinimumEffect, 0.99, "same"),
        (Outcome::TooFewRounds, 0.5, "?"),
        (Outcome::Generator, 0.5, "late"),
        (Outcome::NoRatio, 0.5, "no ratio"),
    ];
    for (path, (outcome, ratio, _)) in outcomes.iter().enumerate() {
        let cell =
            said.workloads[0].cells.iter_mut().find(|cell| cell.path_index == path + 1).unwrap();
        let found = cell.figures[0].ratio.as_mut().unwrap();
        let spread = found.spread.as_mut().unwrap();
        *spread = Spread { low: Some(ratio * 0.99), high: Some(ratio * 1.01), ..*spread };
        spread.median = *ratio;
        found.verdict.as_mut().unwrap().outcome = *outcome;
        cell.generator_limited = *outcome == Outcome::Generator;
    }
    let alone = names[outcomes.len() + 1].as_str();
    let cell = said.workloads[0].cells.iter_mut().find(|cell| cell.path == alone).unwrap();
    cell.figures[0].ratio = None;
    cell.figures[0].note = "no ratio: 0 in round 5".to_owned();
    let screen = Screen::default().text(&said);
    assert_eq!(row(&screen, alone)[..2], ["no", "ratio"], "{screen}");
    for (path, (outcome, _, text)) in outcomes.iter().enumerate() {
        let marked = row(&screen, &names[path + 1])[0..text.split(' ').count()].join(" ");
        let mark = if *outcome == Outcome::Generator { "!" } else { "" };
        assert_eq!(marked, format!("{text}{mark}"), "{outcome:?}:\n{screen}");
    }
    // In JSON no outcome has the name of a sign that means something else.
    let names = outcomes.map(|(outcome, ..)| serde_json::to_value(outcome).unwrap());
    let agreed = [
        "better",
        "worse",
        "not_decided",
        "noise_floor",
        "minimum_effect",
        "too_few_rounds",
        "generator",
        "no_ratio",
    ];
    assert_eq!(names, agreed);
    for legend in [
        "better: higher throughput",
        "? not decided",
        "late: the load generator was the limit",
        "no ratio: see the notes and details",
        "same: no difference that matters",
        "! doubtful",
    ] {
        assert!(screen.contains(legend), "no `{legend}`:\n{screen}");
    }
}

#[test]
fn what_failed_and_what_was_not_proved_is_told_apart() {
    let mut made = fixture::matrix();
    let names: Vec<String> = made.run.plan.paths.iter().map(|path| path.name.clone()).collect();
    for record in &mut made.records {
        if record.path == names[1] && record.workload == "throughput" {
            record.proof[1].ok = false;
            record.error = record.contradiction();
        }
    }
    let failed =
        |record: &hopbench_model::Record| record.path == names[2] && record.workload == "packets";
    for record in made.records.iter().filter(|record| failed(record)) {
        made.run.failures.push(Failure {
            path: record.path.clone(),
            workload: record.workload.clone(),
            point: String::new(),
            round: record.round,
            reason: "the agent ended".to_owned(),
        });
    }
    made.records.retain(|record| !failed(record));
    let screen = render(&made, "screen");
    assert_eq!(row(&screen, &names[1])[0], "unproved", "{screen}");
    assert!(row(&screen, &names[2]).contains(&"error".to_owned()), "{screen}");
    let words = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("3 NOT PROVED, 3 FAILED"), "{screen}");
    assert!(words.contains("unproved: the traffic did not take the path"), "{screen}");
    // Whatever the reason says: the record has the proof.
    let unproved =
        |made: &Made| summary(made).failures.iter().filter(|failure| failure.is_unproved).count();
    assert_eq!(unproved(&made), 3);
    made.records.iter_mut().for_each(|record| record.error = Some("other words".to_owned()));
    assert_eq!(unproved(&made), 3);
}

#[test]
fn a_number_has_its_sign_and_a_word_says_what_is_better() {
    let page = render(&fixture::quickstart(3), "html");
    for cell in ["worse\">-29 ±2 %</span><small>worse</small>", "worse\">+15 ±"] {
        assert!(page.contains(cell), "no {cell}");
    }
}

#[test]
fn a_figure_says_which_direction_is_better() {
    let mut said = summary(&fixture::quickstart(3));
    let legend = |said: &Summary| Screen::default().text(said);
    assert!(legend(&said).contains("better: higher throughput, packets"));
    said.workloads[0].figures[0].better = Better::Cheaper;
    let screen = legend(&said);
    assert!(
        screen.contains("better: higher packets") && screen.contains("better: lower throughput"),
        "{screen}"
    );
    said.workloads[0].figures[0].better = Better::Neither;
    assert!(
        !legend(&said).contains("higher throughput") && !legend(&said).contains("lower throughput")
    );
}

#[test]
fn the_sign_of_a_load_is_that_of_its_outcome_and_not_of_its_words() {
    let mut said = summary(&one_search());
    for (outcome, sign) in [
        (Outcome::MinimumEffect, "same"),
        (Outcome::NotDecided, "?"),
        (Outcome::Generator, "late"),
        (Outcome::OtherSession, "no ratio"),
        (Outcome::Less, "lower"),
    ] {
        let overlay =
            said.searches[0].paths.iter_mut().find(|path| path.path == "overlay").unwrap();
        let comparison = overlay.comparison.as_mut().unwrap();
        (comparison.outcome, comparison.ratio) = (outcome, None);
        comparison.text = "words".to_owned();
        let screen = Screen::default().text(&said);
        let told = row(&screen, "overlay")[1..].join(" ");
        assert!(told.starts_with(sign), "{told}, not {sign}:\n{screen}");
    }
}

#[test]
fn without_a_baseline_every_path_has_its_figures() {
    let mut made = fixture::matrix();
    made.run.plan.baseline = None;
    let screen = render(&made, "screen");
    assert!(!screen.contains('?') && screen.matches("Gbit/s").count() >= 10, "{screen}");
}

#[test]
fn of_too_many_paths_the_worst_are_shown() {
    let mut said = summary(&fixture::matrix());
    multiply(&mut said, 4);
    let screen = Screen::default().text(&said);
    assert!(screen.lines().count() <= 40, "{screen}");
    assert!(screen.contains("more rows, no worse than these: see the details"), "{screen}");
    assert!(screen.contains("host-host-same-zone "), "the baseline stays:\n{screen}");
    let all = Screen { height: 200, ..Screen::default() }.text(&said);
    assert!(
        !all.contains("more rows") && all.lines().count() > 72,
        "a tall terminal has room for all:\n{all}"
    );
}

#[test]
fn a_terminal_has_styles_and_a_wide_one_wide_tables() {
    let said = summary(&fixture::quickstart(3));
    let plain = Screen::default().text(&said);
    let styled = Screen { is_styled: true, ..Screen::default() }.text(&said);
    assert!(styled.contains("\u{1b}[1m") && !plain.contains('\u{1b}'));
    let bare = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m"]
        .iter()
        .fold(styled, |text, style| text.replace(style, ""));
    assert_eq!(bare, plain);
    let wide = Screen { width: 160, ..Screen::default() }.text(&said);
    assert!(wide.lines().count() < plain.lines().count(), "{wide}");
    let tables = |width| Details { width, workload: None }.text(&said).unwrap();
    assert_eq!(tables(80), render(&fixture::quickstart(3), "table"));
    assert!(tables(160).lines().count() < tables(80).lines().count());
    assert!(tables(160).lines().all(|line| line.chars().count() <= 160));
}

#[test]
fn the_tables_of_one_workload_are_those_of_all_without_the_others() {
    let said = summary(&fixture::quickstart(3));
    let one = Details { width: 80, workload: Some("web") }.text(&said).unwrap();
    assert!(one.contains("\nweb (http)") && !one.contains("latency (rr)"), "{one}");
    let all = Details { width: 80, workload: None }.text(&said).unwrap();
    let (_, web) = all.split_once("\nweb (http)").unwrap();
    let table = web.split("\n\n").nth(1).unwrap();
    assert!(one.contains(table), "{table}");
    assert_eq!(Details { width: 80, workload: Some("none") }.text(&said), None);
    assert_eq!(Details::workloads(&said), ["throughput", "latency", "packets", "echo", "web"]);
    assert_eq!(
        Details::workloads(&summary(&searched::searched())),
        ["web", "pool", "half", "flood"]
    );
}

#[test]
fn the_other_pages_begin_with_the_same_answer() {
    let made = fixture::quickstart(3);
    let markdown = render(&made, "markdown");
    let (answer, details) = markdown.split_once("\n## How to read it\n").unwrap();
    assert!(
        answer.contains("| host | 9.") && details.contains("## throughput (stream)"),
        "{answer}"
    );
    let html = render(&made, "html");
    let at = |part: &str| html.find(part).unwrap_or_else(|| panic!("no {part}"));
    let order = [
        "id=\"answer\"",
        "id=\"overview\"",
        "id=\"workload-0\"",
        "id=\"evidence\"",
        "id=\"environment\"",
    ];
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{:?}", order.map(at));
    assert!(at("id=\"workload-0-cells\"") > at("<canvas"), "plots come before tables");
}

/// So many of each path, with their cells.
fn multiply(said: &mut Summary, times: usize) {
    let count = said.paths.len();
    for copy in 1..times {
        for path in 0..count {
            let mut more = said.paths[path].clone();
            more.name.push_str(&format!(" {copy}"));
            said.paths.push(more);
        }
        for workload in &mut said.workloads {
            let own: Vec<_> =
                workload.cells.iter().filter(|cell| cell.path_index < count).cloned().collect();
            workload.cells.extend(own.into_iter().map(|mut cell| {
                cell.path_index += copy * count;
                cell.path.push_str(&format!(" {copy}"));
                cell
            }));
            // Cells are sorted by point.
            let order =
                workload.points().iter().map(|point| (*point).to_owned()).collect::<Vec<_>>();
            let place = |label: &str| order.iter().position(|point| point == label);
            workload.cells.sort_by_key(|cell| place(&cell.point_label));
        }
    }
}

/// Runs of all sorts.
fn bases() -> &'static [Summary] {
    static BASES: OnceLock<Vec<Summary>> = OnceLock::new();
    BASES.get_or_init(|| {
        let made = [
            fixture::quickstart(3),
            fixture::quickstart(1),
            fixture::matrix(),
            fixture::connections(),
            mesh::mesh(3),
            searched::searched(),
            one_search(),
            sure::shown(),
            fixture::hostile(),
        ];
        made.iter().map(summary).collect()
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("line\nfeed \x1b[2J 5 s".to_owned()),
        Just("long".repeat(60)),
        Just("w i d e \u{4e16}\u{754c} \u{202e}\u{301}".repeat(5)),
        "[a-z]{1,12}",
        proptest::collection::vec(any::<char>(), 0..40).prop_map(String::from_iter),
    ]
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>(), Just(f64::NAN), Just(f64::INFINITY), Just(0.0), -1e6..1e12f64]
}

/// Names of paths and of workloads are changed everywhere alike.
fn renamed(said: &mut Summary, names: &[String]) {
    let new = |old: &str, place: usize| {
        if place < names.len() { names[place].clone() } else { old.to_owned() }
    };
    for (place, path) in said.paths.iter_mut().enumerate() {
        let (old, name) = (path.name.clone(), new(&path.name, place));
        if said.run.baseline.as_ref() == Some(&old) {
            said.run.baseline = Some(name.clone());
        }
        let found = said.searches.iter_mut().flat_map(|search| &mut search.paths);
        found.filter(|own| own.path == old).for_each(|own| own.path.clone_from(&name));
        let cells = said.workloads.iter_mut().flat_map(|workload| &mut workload.cells);
        cells.filter(|cell| cell.path_index == place).for_each(|cell| cell.path.clone_from(&name));
        said.failures
            .iter_mut()
            .filter(|own| own.path == old)
            .for_each(|own| own.path.clone_from(&name));
        path.name = name;
    }
    for (place, workload) in said.workloads.iter_mut().enumerate() {
        workload.name = new(&workload.name, names.len().saturating_sub(place + 1));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Whatever a run is called, however many paths it has, and whatever is missing: the answer
    /// fits its screen.
    #[test]
    fn the_answer_fits_the_screen(
        base in 0usize..9,
        times in 1usize..7,
        names in proptest::collection::vec(text(), 0..30),
        gaps in any::<[u64; 4]>(),
        odd in value(),
        notes in proptest::collection::vec(text(), 0..9),
        (width, height) in (80usize..180, 40usize..70),
    ) {
        let mut said = bases()[base].clone();
        multiply(&mut said, times);
        renamed(&mut said, &names);
        said.run.name = names.first().cloned().unwrap_or_default();
        said.run.notes = notes;
        let mut place = 0usize;
        for cell in said.workloads.iter_mut().flat_map(|workload| &mut workload.cells) {
            place += 1;
            match gaps[place % 4] >> (place % 61) & 7 {
                0 => cell.figures.clear(),
                1 => cell.figures.iter_mut().for_each(|figure| figure.spread.median = odd),
                2 => cell.figures.iter_mut().for_each(|figure| figure.ratio = None),
                3 => {
                    let ratios = cell.figures.iter_mut().flat_map(|figure| &mut figure.ratio);
                    ratios.for_each(|one| one.spread.as_mut().unwrap().median = odd);
                }
                _ => {}
            }
        }
        for screen in [Screen::default(), Screen { width, height, ..Screen::default() }] {
            let text = screen.text(&said);
            prop_assert!(
                text.lines().count() <= screen.height,
                "{} lines:\n{text}",
                text.lines().count(),
            );
            for line in text.lines() {
                prop_assert!(
                    line.chars().count() <= screen.width,
                    "{} columns: {line}",
                    line.chars().count(),
                );
                prop_assert!(
                    line.chars().all(|c| matches!(c, ' '..='~' | 'µ' | '×' | '±')),
                    "{line}"
                );
                prop_assert_eq!(line.trim_end(), line);
            }
        }
    }
}

#[test]
fn a_workload_is_taken_by_the_kind_that_its_jobs_carry() {
    let mut made = fixture::quickstart(2);
    for point in made.run.plan.points.iter_mut().filter(|point| point.workload == "web") {
        point.job.kind = Some(point.job.kind());
        point.job.workload = "rr".to_owned();
    }
    let screen = render(&made, "screen");
    assert!(screen.contains("\nCPU per request  web at "), "{screen}");
}
