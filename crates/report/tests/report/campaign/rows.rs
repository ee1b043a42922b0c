//! Whole runs in every format: each figure, each cell and each trial stands where it belongs. The
//! goldens show how a page looks, with a few rows of each kind.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use hopbench_report::campaign::{
    CellSummary, Details, Estimate, RatioSummary, Summary, WorkloadSummary,
};
use serde_json::Value;

use super::fixture::{self, Made};
use super::golden::rows;
use super::{mesh, render, searched, summary, sure};

static RUNS: LazyLock<Vec<(Made, Summary)>> = LazyLock::new(|| {
    let runs = [
        fixture::quickstart(3),
        fixture::matrix(),
        fixture::connections(),
        mesh::mesh(6),
        sure::shown(),
    ];
    runs.into_iter().map(|made| (made.clone(), summary(&made))).collect()
});

/// Every figure of every cell, in order.
fn figures(found: &Summary) -> impl Iterator<Item = (&WorkloadSummary, &CellSummary, &Estimate)> {
    let cells = found
        .workloads
        .iter()
        .flat_map(|workload| workload.cells.iter().map(move |cell| (workload, cell)));
    cells.flat_map(|(workload, cell)| {
        cell.figures.iter().map(move |figure| (workload, cell, figure))
    })
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// What a spreadsheet must have of a figure, by column.
fn expected(
    found: &Summary,
    workload: &WorkloadSummary,
    cell: &CellSummary,
    figure: &Estimate,
) -> Vec<(String, String)> {
    let path = &found.paths[cell.path_index];
    let spread = figure.spread;
    let ratio = figure.ratio.as_ref();
    let of_ratio = |value: fn(&RatioSummary) -> Option<f64>| number(ratio.and_then(value));
    let verdict =
        ratio.and_then(|ratio| ratio.verdict.as_ref()).map(|verdict| verdict.text.clone());
    let outliers: Vec<String> = figure.outliers.iter().map(u32::to_string).collect();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let fixed = [
        ("path", path.name.clone()),
        ("from", path.from.clone()),
        ("to", path.to.clone()),
        ("via", path.via.clone()),
        ("workload", workload.name.clone()),
        ("kind", workload.kind.clone()),
        ("figure", figure.name.to_owned()),
        ("median", number(Some(spread.median))),
        ("low", number(spread.low)),
        ("high", number(spread.high)),
        ("rounds", spread.rounds.to_string()),
        ("ratio", of_ratio(|ratio| Some(ratio.spread?.median))),
        ("ratio_low", of_ratio(|ratio| ratio.spread?.low)),
        ("ratio_high", of_ratio(|ratio| ratio.spread?.high)),
        ("verdict", verdict.unwrap_or_default()),
        ("warnings", cell.warnings.to_string()),
        ("mesh", path.mesh.to_string()),
        ("variant", path.variant.clone().unwrap_or_default()),
        ("p", of_ratio(|ratio| ratio.p)),
        ("q", of_ratio(|ratio| ratio.q)),
        ("test", ratio.and_then(|ratio| ratio.test).unwrap_or_default().to_owned()),
        ("noise_floor", of_ratio(|ratio| ratio.noise_floor)),
        ("outliers", outliers.join(" ")),
        ("saturated_per_s", number(cell.saturated_per_s)),
    ];
    let swept = cell.point.iter().map(|(name, value)| (name.clone(), text(value)));
    fixed.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(swept).collect()
}

#[test]
fn a_spreadsheet_has_a_row_of_every_figure() {
    for (made, found) in RUNS.iter() {
        let text = render(made, "csv");
        let mut rows = rows(&text).into_iter();
        let heads = rows.next().unwrap();
        let of_figure = heads.iter().position(|head| *head == "figure").unwrap();
        let known: BTreeSet<&str> = figures(found).map(|(.., figure)| figure.name).collect();
        // Those of components and of single nodes have a test of their own.
        let mut rows = rows.filter(|row| known.contains(row[of_figure].as_str()));
        for (workload, cell, figure) in figures(found) {
            let row = rows.next().unwrap_or_else(|| panic!("no {} of {}", figure.name, cell.path));
            for (name, value) in expected(found, workload, cell, figure) {
                let column = heads.iter().position(|head| *head == name);
                let column = column.unwrap_or_else(|| panic!("no column {name}: {heads:?}"));
                assert_eq!(row[column], value, "{name}: {row:?}");
            }
        }
        assert_eq!(rows.next(), None, "no row beyond the figures");
    }
}

#[test]
fn programs_get_every_figure() {
    for (made, found) in RUNS.iter() {
        let json: Value = serde_json::from_str(&render(made, "json")).unwrap();
        let list = |value: &Value| value.as_array().unwrap().clone();
        let cells =
            list(&json["workloads"]).into_iter().flat_map(|workload| list(&workload["cells"]));
        let mut values = cells.flat_map(|cell| list(&cell["figures"]));
        for (_, cell, figure) in figures(found) {
            let value = values.next().unwrap();
            let same = |value: &Value, number: Option<f64>| match (value.as_f64(), number) {
                (Some(read), Some(number)) => (read - number).abs() <= 1e-12 * number.abs(),
                (read, number) => read.is_none() && number.is_none(),
            };
            assert_eq!(value["name"], figure.name, "{}", cell.path);
            assert_eq!(value["rounds"], figure.spread.rounds, "{value}");
            assert!(same(&value["median"], Some(figure.spread.median)), "{value}");
            assert!(
                same(&value["low"], figure.spread.low) && same(&value["high"], figure.spread.high),
                "{value}"
            );
            let outliers = value.get("outliers").map_or_else(Vec::new, list);
            assert_eq!(outliers, figure.outliers, "{value}");
            let ratio = figure.ratio.as_ref();
            for (name, number) in [
                ("median", ratio.and_then(|ratio| Some(ratio.spread?.median))),
                ("low", ratio.and_then(|ratio| ratio.spread?.low)),
                ("high", ratio.and_then(|ratio| ratio.spread?.high)),
                ("p", ratio.and_then(|ratio| ratio.p)),
                ("q", ratio.and_then(|ratio| ratio.q)),
                ("noise_floor", ratio.and_then(|ratio| ratio.noise_floor)),
            ] {
                assert!(same(&value["ratio"][name], number), "{name}: {value}");
            }
            assert_eq!(
                value["ratio"]["test"].as_str(),
                ratio.and_then(|ratio| ratio.test),
                "{value}"
            );
            let verdict =
                serde_json::to_value(ratio.and_then(|ratio| ratio.verdict.as_ref())).unwrap();
            assert_eq!(value["ratio"]["verdict"]["text"], verdict["text"], "{value}");
            assert_eq!(value["ratio"]["verdict"]["outcome"], verdict["outcome"], "{value}");
        }
        assert_eq!(values.next(), None, "no figure beyond those of the summary");
        for (workload, own) in found.workloads.iter().zip(list(&json["workloads"])) {
            let curves = own.get("distributions").map_or(0, |curves| list(curves).len());
            assert_eq!(curves, workload.distributions.len(), "{}", workload.name);
        }
        assert_eq!(list(&json["paths"]).len(), found.paths.len());
    }
}

#[test]
fn a_terminal_has_a_row_of_every_cell_in_every_block() {
    for (_, found) in RUNS.iter() {
        for workload in &found.workloads {
            let page = Details { width: 80, workload: Some(&workload.name) }.text(found).unwrap();
            // Distributions are shown of the first and the last point.
            let mut is_of_all = true;
            let lines = page.lines().filter_map(|line| {
                let own = line.strip_prefix("  ");
                if own.is_none() && !line.is_empty() {
                    is_of_all = !line.ends_with("of all rounds together");
                }
                own.filter(|_| is_of_all)
            });
            let lines: Vec<&str> = lines.collect();
            let blocks = lines.iter().filter(|line| line.starts_with("path  ")).count();
            assert!(blocks > 0, "{page}");
            for cell in &workload.cells {
                let is_own = |line: &&&str| {
                    let mut texts = line.split("  ").map(str::trim).filter(|text| !text.is_empty());
                    let label = cell.point_label.as_str();
                    texts.next() == Some(cell.path.as_str())
                        && (label.is_empty() || texts.next() == Some(label))
                };
                let count = lines.iter().filter(is_own).count();
                assert_eq!(count, blocks, "{} {}:\n{page}", cell.path, cell.point_label);
            }
        }
    }
}

#[test]
fn a_terminal_counts_the_curves_that_it_does_not_list() {
    let (_, found) = RUNS.iter().find(|(made, _)| made.run.plan.name == "mesh (made up)").unwrap();
    let page = Details { width: 80, workload: Some("pool") }.text(found).unwrap();
    assert!(page.contains("\n  - 3 more: see --format json\n"), "{page}");
}

#[test]
fn markdown_has_a_row_of_every_cell() {
    for (made, found) in RUNS.iter() {
        let page = render(made, "markdown");
        for workload in &found.workloads {
            let (_, own) =
                page.split_once(&format!("\n## {} ({})\n", workload.name, workload.kind)).unwrap();
            // What is folded away there is no table of cells, and what has a heading is another.
            let own = ["\n## ", "\n### ", "<details>"]
                .iter()
                .fold(own, |own, end| own.split(end).next().unwrap_or_default());
            let head = own.lines().find(|line| line.starts_with("| path |")).unwrap();
            for cell in &workload.cells {
                let label = if cell.point_label.is_empty() {
                    String::new()
                } else {
                    format!(" {} |", cell.point_label)
                };
                let begin = format!("| {} |{label} ", cell.path);
                let rows: Vec<&str> = own.lines().filter(|line| line.starts_with(&begin)).collect();
                assert_eq!(rows.len(), 1, "{begin}\n{own}");
                assert_eq!(rows[0].matches('|').count(), head.matches('|').count(), "{}", rows[0]);
                let verdict = workload.comparison(cell).and_then(|ratio| ratio.verdict.as_ref());
                assert!(
                    verdict.is_none_or(|verdict| rows[0].contains(&verdict.text)),
                    "{verdict:?}: {}",
                    rows[0]
                );
            }
        }
    }
}

#[test]
fn every_trial_of_a_search_has_its_row() {
    let made = searched::searched();
    let found = summary(&made);
    let text = render(&made, "searches");
    let markdown = render(&made, "markdown");
    let mut rows = rows(&text).into_iter();
    let heads = rows.next().unwrap();
    let (searches, _) = markdown.split_once("\n## Evidence\n").unwrap();
    let mut traces = searches.split("<details><summary>").skip(1);
    for search in &found.searches {
        for path in &search.paths {
            let trace = traces.next().and_then(|trace| trace.split("</details>").next()).unwrap();
            let begin = format!("{}: {} trials</summary>\n", path.path, path.trace.len());
            assert!(trace.starts_with(&begin), "{begin}: {trace}");
            // The first two are the head and what aligns it.
            let mut shown = trace.lines().filter(|line| line.starts_with("| ")).skip(2);
            for step in &path.trace {
                let row = rows.next().unwrap();
                for (name, value) in [
                    ("path", path.path.clone()),
                    ("workload", search.workload.clone()),
                    ("goal", search.goal.to_owned()),
                    ("parameter", search.parameter.to_owned()),
                    ("step", step.step.to_string()),
                    ("session", step.session.to_string()),
                    ("load", step.load.to_string()),
                    ("why", step.why.clone()),
                    ("figure", search.figure.clone()),
                    ("value", number(step.value)),
                    ("within", step.within.to_string()),
                    ("limited_by", step.limited_by.clone()),
                ] {
                    let column = heads.iter().position(|head| *head == name).unwrap();
                    assert_eq!(row[column], value, "{name}: {row:?}");
                }
                let shown = shown.next().unwrap();
                let ends = (format!("| {} | ", step.step), format!(" | {} |", step.why));
                assert!(
                    shown.starts_with(&ends.0) && shown.ends_with(&ends.1),
                    "{ends:?}: {shown}"
                );
            }
            assert_eq!(shown.next(), None, "{trace}");
        }
    }
    assert_eq!(
        (rows.next(), traces.next()),
        (None, None),
        "no row and no trace beyond those of the summary"
    );
}
