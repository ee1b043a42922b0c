//! Pages compared with files that a person has looked at. `UPDATE_GOLDEN=1` writes them anew.

use std::fs;
use std::path::PathBuf;

use hopbench_report::WIDTH;

use super::{export, fixture, mesh, render, searched, sure};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden-campaign"))
}

/// Every page with the name of its file.
fn pages() -> Vec<(&'static str, String)> {
    let quickstart = fixture::quickstart(3);
    let connections = fixture::connections();
    let sidecars = mesh::mesh(6);
    let searches = searched::searched();
    let few = export::one(&[812_000, 950_000, 950_000, 1_200_000, 20_000_000], |_| {});
    vec![
        ("quickstart.txt", render(&quickstart, "table")),
        ("quickstart.md", render(&quickstart, "markdown")),
        ("quickstart.csv", render(&quickstart, "csv")),
        ("matrix.txt", render(&fixture::matrix(), "table")),
        ("connections.txt", render(&connections, "table")),
        ("connections.json", render(&connections, "json")),
        ("one_round.txt", render(&fixture::quickstart(1), "table")),
        ("mesh.txt", render(&sidecars, "table")),
        ("mesh.md", render(&sidecars, "markdown")),
        ("mesh.csv", render(&sidecars, "csv")),
        ("istio.csv", export::text(&mesh::mesh(2), "istio-csv")),
        ("fortio.json", export::text(&few, "fortio")),
        ("searches.txt", render(&searches, "table")),
        ("searches.md", render(&searches, "markdown")),
        ("searches.csv", render(&searches, "searches")),
        ("found.csv", render(&searches, "csv")),
        ("sure.txt", render(&sure::shown(), "table")),
        ("sure.md", render(&sure::shown(), "markdown")),
        ("sure.csv", render(&sure::shown(), "csv")),
        ("hostile.txt", render(&fixture::hostile(), "table")),
        ("hostile.md", render(&fixture::hostile(), "markdown")),
    ]
}

#[test]
fn pages_are_as_agreed() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut differences = Vec::new();
    let pages = pages();
    for (name, page) in &pages {
        let path = folder().join(name);
        if update {
            fs::write(&path, page).unwrap();
        }
        let agreed = fs::read_to_string(&path).unwrap_or_default();
        if agreed != *page {
            let at = agreed
                .lines()
                .zip(page.lines())
                .position(|(a, b)| a != b)
                .unwrap_or_else(|| agreed.lines().count().min(page.lines().count()));
            let line = |text: &str| text.lines().nth(at).unwrap_or("(nothing)").to_owned();
            differences.push(format!("{name} line {}:\n- {}\n+ {}", at + 1, line(&agreed), line(page)));
        }
    }
    assert!(differences.is_empty(), "pages differ (UPDATE_GOLDEN=1 accepts them):\n{}", differences.join("\n"));
    let mut files: Vec<_> =
        fs::read_dir(folder()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let mut names: Vec<_> = pages.iter().map(|(name, _)| (*name).to_owned()).collect();
    names.sort();
    assert_eq!(files, names, "files and pages");
}

#[test]
fn tables_fit_the_page_and_steer_no_terminal() {
    let several = [
        fixture::quickstart(3),
        fixture::matrix(),
        fixture::connections(),
        mesh::mesh(6),
        sure::shown(),
        fixture::hostile(),
    ];
    for made in several.into_iter().chain([searched::searched()]) {
        for line in render(&made, "table").lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
            assert_eq!(line.trim_end(), line);
            assert!(line.chars().all(|c| matches!(c, ' '..='~' | 'µ' | '×')), "{line}");
        }
    }
}

#[test]
fn csv_has_as_many_values_in_every_row() {
    let all =
        [fixture::quickstart(3), mesh::mesh(2), sure::shown(), fixture::hostile()].map(|made| render(&made, "csv"));
    let searched = searched::searched();
    for text in all.into_iter().chain(["csv", "searches"].map(|format| render(&searched, format))) {
        let rows = rows(&text);
        assert!(rows.len() > 3);
        for row in &rows {
            assert_eq!(row.len(), rows[0].len(), "{row:?}");
        }
    }
}

/// Reads CSV as RFC 4180 says.
pub(super) fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut value, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => value.extend(chars.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut value)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut value));
                rows.push(std::mem::take(&mut row));
            }
            other => value.push(other),
        }
    }
    rows
}
