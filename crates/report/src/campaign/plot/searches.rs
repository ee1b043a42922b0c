//! The trials of a search over the load, with the limit as a line, or with the knee.

use hopbench_analysis::text::load_text::{figure, number, unit_name};
use hopbench_analysis::{SearchSummary, SearchedPath, undecided_text};

use super::axis;
use super::chart::{Axis, Chart, Series};

/// More paths than this cannot be told apart.
const MOST_PATHS: usize = 8;
/// Loads that differ by more than this stand on a logarithmic axis.
const WIDE: f64 = 8.0;

/// A chart a search that has a trial with a value.
pub(crate) fn charts(searches: &[SearchSummary]) -> Vec<Option<Chart>> {
    searches.iter().enumerate().map(|(index, search)| chart(index, search)).collect()
}

fn chart(index: usize, search: &SearchSummary) -> Option<Chart> {
    let mut series = Vec::new();
    for (colour, path) in search.paths.iter().take(MOST_PATHS).enumerate() {
        let seen = path.trace.iter().filter(|step| step.unusable.is_empty());
        let points: Vec<_> =
            seen.filter_map(|step| Some((at(step.load), step.value?, None, None))).collect();
        if points.is_empty() {
            continue;
        }
        series.push(Series {
            name: path.path.clone(),
            colour,
            points,
            style: "points",
            ..Series::default()
        });
        series.extend(knee(search, path, colour));
    }
    let loads = || series.iter().flat_map(|series| &series.points).map(|point| point.0);
    let (low, high) = (loads().reduce(f64::min)?, loads().reduce(f64::max)?);
    if let Some(limit) = search.limit {
        let points = [low, high].map(|x| (x, limit, None, None)).into();
        series.push(Series {
            name: "limit".to_owned(),
            colour: 7,
            points,
            style: "limit",
            ..Series::default()
        });
    }
    let label = figure(&search.figure);
    let unit = if search.parameter == "rate" { "rate, 1/s" } else { search.parameter };
    Some(Chart {
        id: format!("chart-search-{index}"),
        kind: "line",
        title: format!("{}: {label} of every trial over {}", search.name(), search.parameter),
        x: Axis {
            label: unit.to_owned(),
            unit: "",
            log: low > 0.0 && high / low > WIDE,
            ticks: ticks(search, low, high),
            cut: None,
        },
        y: axis::of_figure(&label, unit_name(&search.figure), &series),
        categories: Vec::new(),
        stacked: false,
        series,
        left_out: beside(search),
    })
}

/// The text beside the title: what is left out, what was not decided, and why loads were too
/// high that look low enough.
fn beside(search: &SearchSummary) -> String {
    let first = match search.paths.len() {
        n if n > MOST_PATHS => Some(format!("The first {MOST_PATHS} of {n} paths.")),
        _ => None,
    };
    let undecided = search.paths.iter().filter(|path| !path.undecided.is_empty());
    let undecided = undecided.map(|path| {
        format!("{}: {}.", path.path, undecided_text(&path.undecided, search.parameter))
    });
    let too_high = search.paths.iter().filter(|path| !path.too_high.is_empty());
    let too_high = too_high.map(|path| format!("{}, {}.", path.path, path.too_high));
    first.into_iter().chain(undecided).chain(too_high).collect::<Vec<_>>().join(" ")
}

/// A load as the axis shows it: more digits than this say nothing.
fn at(load: f64) -> f64 {
    if load >= 100.0 { (load * 10.0).round() / 10.0 } else { load }
}

/// A ring around the knee.
fn knee(search: &SearchSummary, path: &SearchedPath, colour: usize) -> Option<Series> {
    let doubt = if path.undecided.is_empty() { "" } else { " (not decided)" };
    let points =
        vec![(at(path.found().filter(|_| search.goal == "knee")?), path.value?.median, None, None)];
    Some(Series {
        name: format!("knee of {}{doubt}", path.path),
        colour,
        points,
        style: "mark",
        ..Series::default()
    })
}

/// The levels of a knee; of rates on a logarithmic axis 1, 2 and 5 of every decade; else none,
/// which is the script's choice.
fn ticks(search: &SearchSummary, low: f64, high: f64) -> Vec<(f64, String)> {
    let text = |load: f64| (load, number(load));
    if search.goal == "knee" {
        let steps = search.paths.iter().flat_map(|path| &path.trace);
        let mut levels: Vec<f64> = steps.map(|step| step.load).collect();
        levels.sort_unstable_by(f64::total_cmp);
        levels.dedup();
        return levels.into_iter().map(text).collect();
    }
    if low <= 0.0 || high / low <= WIDE {
        return Vec::new();
    }
    let leads: &[f64] = if high / low > 1000.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let all = decades.flat_map(|power| leads.iter().map(move |lead| lead * 10f64.powi(power)));
    all.filter(|load| (low * 0.999..=high * 1.001).contains(load)).map(text).collect()
}

/// A chart of a search in words, for those who cannot see it.
pub(crate) fn spoken(chart: &Chart) -> String {
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    format!(
        "Chart of {}, for {}. The tables below have every trial.",
        chart.title,
        names.join(", ")
    )
}
