//! The answer so far, while a run goes on.

use hopbench_report::campaign::{LiveScreen, Screen};

use super::fixture::{Made, quickstart};
use super::{mesh, searched, summary, sure};

const ROOMY: LiveScreen = LiveScreen { width: 80, height: 40, is_styled: false, is_open: true };

fn lines(made: &Made, screen: LiveScreen) -> Vec<String> {
    screen.lines(&summary(made))
}

/// The first words of lines: of rows, the paths.
fn names(lines: &[String]) -> Vec<&str> {
    lines.iter().filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
fn it_never_takes_more_room_than_it_has() {
    for made in [quickstart(1), quickstart(6), mesh::mesh(6), searched::searched(), sure::shown()] {
        let summary = summary(&made);
        for width in [1, 20, 40, 80, 200] {
            for height in [0, 1, 2, 5, 9, 14, 21, 40] {
                for is_open in [true, false] {
                    let screen = LiveScreen { width, height, is_styled: false, is_open };
                    let lines = screen.lines(&summary);
                    assert!(lines.len() <= height, "{width} x {height}: {lines:#?}");
                    let widest = lines.iter().map(|line| line.chars().count()).max();
                    assert!(widest.unwrap_or(0) <= width, "{width} x {height}: {lines:#?}");
                    assert!(lines.iter().all(|line| !line.contains('\n')), "{lines:#?}");
                }
            }
        }
    }
}

#[test]
fn it_is_the_table_of_the_answer() {
    let summary = summary(&sure::shown());
    let live = LiveScreen { is_open: false, ..ROOMY }.lines(&summary);
    let answer = Screen::default().text(&summary);
    let answer: Vec<&str> = answer.lines().map(str::trim_end).collect();
    let rows = |line: &&String| line.starts_with("host") || line.starts_with("overlay");
    let shown: Vec<&String> = live.iter().filter(rows).collect();
    assert_eq!(shown.len(), 2, "{live:#?}");
    for row in shown {
        assert!(answer.contains(&row.as_str()), "{row}\n{answer:#?}");
    }
}

#[test]
fn what_is_not_decided_yet_is_open_and_dim() {
    let one = summary(&quickstart(1));
    // After its only round a run shows figures, as nothing will be decided.
    let over = LiveScreen { is_open: false, ..ROOMY }.lines(&one);
    assert!(over.iter().all(|line| !line.contains('?')), "{over:#?}");
    let open = ROOMY.lines(&one);
    let row = open.iter().find(|line| line.starts_with("eni")).expect("a row");
    assert!(row.split_whitespace().skip(1).all(|cell| ["?", "?!"].contains(&cell)), "{row}");
    assert!(open.iter().any(|line| line.contains("? not decided")), "{open:#?}");
    let host = open.iter().find(|line| line.starts_with("host")).expect("a row");
    assert!(!host.contains('?') && host.contains(" us"), "{host}");
    let styled = LiveScreen { is_styled: true, ..ROOMY }.lines(&one);
    let row = styled.iter().find(|line| line.starts_with("eni")).expect("a row");
    assert!(row.contains("\u{1b}[2m?\u{1b}[0m"), "{row:?}");
    assert!(styled.iter().zip(&open).all(|(styled, plain)| styled.len() >= plain.len()));
}

#[test]
fn before_all_is_measured_what_is_to_come_is_open() {
    let mut made = quickstart(6);
    // The first block: throughput on three paths.
    made.records.retain(|record| record.round == 1 && record.workload == "throughput");
    made.records.truncate(3);
    made.run.failures.clear();
    let shown = lines(&made, ROOMY);
    assert!(shown.len() > 5, "{shown:#?}");
    let paths = ["host", "bridge", "overlay", "eni", "node-port"];
    let rows: Vec<&str> = names(&shown).into_iter().filter(|name| paths.contains(name)).collect();
    assert_eq!(rows, paths, "{shown:#?}");
    assert!(names(&shown).len() > 5 && shown.iter().any(|line| line.contains('?')));
    // Of nothing there is no table, or one without a figure.
    made.records.clear();
    assert!(lines(&made, ROOMY).iter().all(|line| !line.contains(" us")));
}

#[test]
fn of_too_many_rows_the_first_keep_their_places_and_the_rest_is_counted() {
    let made = quickstart(6);
    let all = lines(&made, ROOMY);
    let few = lines(&made, LiveScreen { height: 7, ..ROOMY });
    let paths = ["host", "bridge", "overlay", "eni", "node-port"];
    let rows =
        |lines: &[String]| names(lines).into_iter().filter(|name| paths.contains(name)).count();
    assert!(rows(&all) >= 5 && (1..5).contains(&rows(&few)), "{few:#?}");
    assert_eq!(few[..few.len() - 1], all[..few.len() - 1], "the same from above");
    let last = few.last().expect("lines");
    assert!(last.starts_with("... ") && last.contains("more path"), "{few:#?}");
}
