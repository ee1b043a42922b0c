//! Pages compared with files that a person has looked at. `UPDATE_GOLDEN=1` writes them anew.
//!
//! They are parts of runs, with a few rows of every kind. `rows` has the values of whole runs.

use std::fs;
use std::path::PathBuf;

use hopbench_model::EQUAL_LOAD;
use hopbench_report::WIDTH;

use super::fixture::{self, Made};
use super::{export, mesh, render, searched, sure};

/// The widest line of a golden of JSON.
const JSON_WIDTH: usize = 140;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden-campaign"))
}

/// A point, and the paths that are measured at it.
type Row = (&'static str, &'static [&'static str]);

/// A cell of every kind: plain, with warnings, cut short, without proof, lost, limited by the
/// generator, and skipped (`sandbox`).
const QUICKSTART: &[Row] = &[
    ("throughput", &["host", "overlay", "sandbox"]),
    ("packets", &["host", "node-port"]),
    ("echo", &["host", "bridge"]),
    ("web rate=500", &["host", "overlay", "eni", "sandbox"]),
];

const ONE_ROUND: &[Row] = &[("throughput", &["host", "overlay"]), ("echo", &["host", "bridge"])];

const ONE_WORKLOAD: &[Row] = &[("echo", &["host", "overlay", "sandbox"])];

/// Long names, and more paths that differ than a headline names.
const MATRIX: &[Row] = &[(
    "throughput",
    &[
        "host-host-same-zone",
        "host-eni-same-zone",
        "host-host-cross-zone",
        "host-ptp-cross-zone",
        "ptp-host-cross-zone",
        "ptp-ptp-cross-zone",
    ],
)];

const CONNECTIONS: &[Row] = &[
    ("knee connections=8", &["direct", "cluster-ip", "overlay"]),
    ("knee connections=256", &["direct", "overlay"]),
];

/// Every kind of hop at one rate, and what a proxy spends over the rate.
const RATES: &[Row] = &[
    (
        "web rate=100",
        &["none", "server", "client", "both", "both-stats", "gateway", "gateway-server"],
    ),
    ("web rate=1000", &["both"]),
    ("web rate=4000", &["both"]),
    ("echo", &["none", "both"]),
];

/// A step of proxies, and a stop rule, as markdown has them.
const STEP: &[Row] = &[("pool connections=128", &["none", "both"])];
const STOPPED: &[Row] = &[("throughput", &["host", "host again", "eni"])];

const ISTIO: &[Row] = &[
    (
        "web rate=1000",
        &["none", "server", "client", "both", "both-stats", "gateway", "gateway-server"],
    ),
    ("pool connections=8", &["both"]),
];

const SEARCHES: &[Row] = &[
    ("web", &["direct", "overlay", "relay"]),
    ("pool", &["direct", "overlay"]),
    ("half size=1KiB", &["direct", "relay"]),
    ("flood", &["direct", "overlay"]),
];

/// Searches for the formats with a row for each trial.
const TRIALS: &[Row] = &[
    ("web", &["direct", "overlay", "relay"]),
    ("pool", &["relay"]),
    ("half size=1KiB", &["relay"]),
];

/// Where the parts of a page of markdown begin that show all its forms. `quickstart.txt` has the
/// other parts, too.
const FORMS: &[&str] = &[
    "# quickstart",
    "## Answer",
    "## How",
    "## throughput",
    "## web",
    "### Latency",
    "## Evidence",
    "### Not",
    "### Warnings",
    "### Paths",
    "### Environment",
];

/// Where the parts of their page of markdown begin that no other page has.
const FOUND: &[&str] =
    &["## Answer", "## Searches", "### web", "### pool (knee over connections)", "### half"];

/// A cell that ended early, one whose time was too short, the baseline's twin, and an outlier.
const SURE: &[Row] = &[
    ("throughput", &["host", "host again", "eni", "bridge"]),
    ("latency size=4KiB", &["host", "overlay"]),
];

/// The part of a run in these cells, all of which it has.
fn only(made: Made, rows: &[Row]) -> Made {
    let part = made
        .part(|path, point| rows.iter().any(|(own, paths)| *own == point && paths.contains(&path)));
    assert_eq!(
        part.run.plan.cells.len(),
        rows.iter().map(|(_, paths)| paths.len()).sum::<usize>(),
        "{rows:?}"
    );
    part
}

/// Searches without most of their trials for a rate: with the first, those that confirm, and all at
/// equal load.
fn brief(mut made: Made) -> Made {
    made.records.retain(|record| {
        let step = record.search.as_ref().unwrap();
        let is_end = step.found.is_some() || step.outcome.is_some() || step.why == "confirm";
        step.goal == EQUAL_LOAD || step.parameter != "rate" || step.step <= 3 || is_end
    });
    made
}

/// Every page with the name of its file.
fn pages() -> Vec<(&'static str, String)> {
    let quickstart = fixture::quickstart(3);
    let workload = only(quickstart.clone(), ONE_WORKLOAD);
    let quickstart = only(quickstart, QUICKSTART);
    let sidecars = mesh::mesh(6);
    let step = only(sidecars.clone(), STEP);
    let rates = only(sidecars, RATES);
    let searches = searched::searched();
    let trials = brief(only(searches.clone(), TRIALS));
    let searches = only(searches, SEARCHES);
    let stopped = only(sure::shown(), STOPPED);
    let sure = only(sure::shown(), SURE);
    let hostile = fixture::hostile().part(|_, point| point != "other" && !point.ends_with("=b"));
    let few = export::one(&[812_000, 950_000, 950_000, 1_200_000, 20_000_000], |_| {});
    vec![
        ("quickstart.txt", render(&quickstart, "table")),
        ("quickstart.md", parts(&render(&quickstart, "markdown"), FORMS)),
        ("quickstart.csv", render(&quickstart, "csv")),
        ("matrix.txt", render(&only(fixture::matrix(), MATRIX), "table")),
        ("connections.txt", render(&only(fixture::connections(), CONNECTIONS), "table")),
        ("quickstart.json", folded(&render(&workload, "json"))),
        ("one_round.txt", render(&only(fixture::quickstart(1), ONE_ROUND), "table")),
        ("mesh.txt", render(&rates, "table")),
        ("mesh.md", parts(&render(&step, "markdown"), &["## Answer", "what each hop adds,"])),
        ("istio.csv", export::text(&only(mesh::mesh(1), ISTIO), "istio-csv")),
        ("fortio.json", export::text(&few, "fortio")),
        ("searches.txt", render(&searches, "table")),
        ("searches.md", parts(&render(&trials, "markdown"), FOUND)),
        ("searches.csv", render(&trials, "searches")),
        ("found.csv", render(&trials, "csv")),
        ("sure.txt", render(&sure, "table")),
        ("sure.md", parts(&render(&stopped, "markdown"), &["# as sure", "## How"])),
        ("hostile.txt", render(&hostile, "table")),
        ("hostile.md", render(&hostile, "markdown")),
    ]
}

/// The parts of a page of markdown that begin so, each to the next heading.
fn parts(page: &str, begins: &[&str]) -> String {
    let mut is_in = false;
    let kept = page.lines().filter(|line| {
        let begins_here = begins.iter().any(|begin| line.starts_with(begin));
        is_in = begins_here || (is_in && !line.starts_with('#'));
        is_in
    });
    let text: String = kept.flat_map(|line| [line, "\n"]).collect();
    text.trim_end().to_owned() + "\n"
}

/// JSON with line breaks in few lines: a block that fits into one stands in one, and short members
/// share lines.
fn folded(pretty: &str) -> String {
    let (mut lines, mut open): (Vec<String>, Vec<usize>) = Default::default();
    for line in pretty.lines() {
        if line.ends_with(['{', '[']) {
            open.push(lines.len());
        }
        lines.push(line.to_owned());
        if line.trim_start().starts_with(['}', ']']) {
            let block = lines.split_off(open.pop().expect("a block that was opened"));
            lines.extend(fold(&block));
        }
    }
    lines.join("\n") + "\n"
}

/// A block from bracket to bracket. Those within it are folded already.
fn fold(block: &[String]) -> Vec<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let texts: Vec<&str> = block.iter().map(|line| line.trim_start()).collect();
    let whole = " ".repeat(indent(&block[0])) + &texts.join(" ");
    if whole.len() <= JSON_WIDTH {
        return vec![whole];
    }
    let inside = indent(&block[1]);
    let is_member = |line: &str| {
        indent(line) == inside
            && !line.ends_with(['{', '['])
            && !line.trim_start().starts_with(['}', ']'])
    };
    let mut lines = vec![block[0].clone()];
    for (line, text) in block.iter().zip(texts).skip(1) {
        let last = lines.last_mut().expect("the first");
        if is_member(last) && is_member(line) && last.len() + 1 + text.len() <= JSON_WIDTH {
            last.push(' ');
            last.push_str(text);
        } else {
            lines.push(line.clone());
        }
    }
    lines
}

#[test]
fn json_is_folded_without_loss() {
    for made in [fixture::connections(), mesh::mesh(2), fixture::hostile()] {
        let pretty = render(&made, "json");
        assert!(pretty.starts_with("{\n \"schema\": \"hopbench.summary/1\",\n"), "{pretty}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let folded = folded(&pretty);
        assert_eq!(words(&folded), words(&pretty));
        assert!(folded.lines().count() < pretty.lines().count(), "{folded}");
    }
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
            differences.push(format!(
                "{name} line {}:\n- {}\n+ {}",
                at + 1,
                line(&agreed),
                line(page)
            ));
        }
    }
    assert!(
        differences.is_empty(),
        "pages differ (UPDATE_GOLDEN=1 accepts them):\n{}",
        differences.join("\n")
    );
    let mut files: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
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
            assert!(line.chars().all(|c| matches!(c, ' '..='~' | 'µ' | '×' | '±')), "{line}");
        }
    }
}

#[test]
fn csv_has_as_many_values_in_every_row() {
    let all = [fixture::quickstart(3), mesh::mesh(2), sure::shown(), fixture::hostile()]
        .map(|made| render(&made, "csv"));
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
