//! The tables of searches.

use hopbench_analysis::text::load_text::{figure, number, saturated, unit_name, value};
use hopbench_analysis::text::{LoadUnit, Scale, interval_text};
use hopbench_analysis::{
    EqualLoad, LoadComparison, Outcome, SearchSummary, SearchedPath, Spread, TraceStep,
    UNDECIDED_MARK,
};
use hopbench_model::number::{UNKNOWN, ratio as ratio_text, time_ns};

use super::table_model::component_names;
use crate::document::{Cell, Column, Kind, Row, Table, Tone};

/// What the mark of a path says whose search the generator may have ended.
pub(crate) const MARK: &str =
    "the load generator was the limit there: what was found may be its own";

/// A column, and its value of each path.
struct Values<'a> {
    column: Column,
    cell: Box<dyn Fn(&SearchedPath) -> Cell + 'a>,
}

impl<'a> Values<'a> {
    fn new(column: Column, cell: impl Fn(&SearchedPath) -> Cell + 'a) -> Self {
        Self { column, cell: Box::new(cell) }
    }

    /// Of a figure; `None` where no path has it.
    fn figure(
        search: &SearchSummary,
        label: &str,
        name: &'static str,
        of: impl Fn(&SearchedPath) -> Option<Spread> + 'a,
    ) -> Option<Self> {
        let medians: Vec<f64> =
            search.paths.iter().filter_map(&of).map(|spread| spread.median).collect();
        if medians.is_empty() {
            return None;
        }
        let scale = Scale::asked(search.rate_unit, name, medians.into_iter());
        let column = Column::number(label, scale.head()).short();
        Some(Self::new(column, move |path| {
            let Some(Spread { median, low, high, .. }) = of(path) else {
                return Cell::default();
            };
            let ends = low.zip(high).filter(|(low, high)| low != high);
            let text = |value| scale.text(value);
            let ends =
                ends.map(|(low, high)| interval_text::of_figure(name, median, low, high, text));
            Cell::with_ends(text(median), ends)
        }))
    }

    /// The ratio to the baseline, of this figure or of the load, and what it says; nothing where no
    /// path is compared.
    fn comparison(
        search: &SearchSummary,
        what: &str,
        of: fn(&SearchedPath) -> Option<&LoadComparison>,
    ) -> Vec<Self> {
        if !search.paths.iter().any(|path| of(path).is_some()) {
            return Vec::new();
        }
        // More connections until throughput stops growing are neither better nor worse.
        let is_neutral = search.goal == "knee" && what.is_empty();
        let said = move |path: &SearchedPath| {
            of(path)
                .map(|found| Cell::toned(tone(found, is_neutral), &found.text))
                .unwrap_or_default()
        };
        let ratio = Self::new(Column::number("ratio", what).short(), move |path| {
            of(path).map(ratio).unwrap_or_default()
        });
        vec![
            ratio,
            Self::new(Column { unit: what.to_owned(), ..Column::words("against baseline") }, said),
        ]
    }
}

/// What was found on each path, how much of the baseline's it is, the figures there, and what it
/// took.
pub(crate) fn found_table(search: &SearchSummary) -> Table {
    let unit = if search.parameter == "rate" { "/s" } else { "" };
    let mut columns = vec![Values::new(Column::number(search.parameter, unit), found)];
    columns.extend(bits(search));
    columns.extend(Values::comparison(search, "", |path| path.comparison.as_ref()));
    columns.extend(
        own_figure(search).and_then(|name| {
            Values::figure(search, &figure(&search.figure), name, |path| path.value)
        }),
    );
    for (index, name) in search.detailed.iter().enumerate() {
        let label = search.paths.iter().find_map(|path| Some(path.figure(name)?.label));
        let column = label.and_then(|label| {
            Values::figure(search, label, name, move |path| Some(path.figure(name)?.spread))
        });
        columns.extend(column);
        // Of a knee the throughput there is compared, too: the first figure.
        if index == 0 {
            columns.extend(Values::comparison(search, label.unwrap_or_default(), |path| {
                path.value_comparison.as_ref()
            }));
        }
    }
    columns.extend(cores(search));
    columns.push(Values::new(Column::number("trials", ""), |path| path.trials.to_string().into()));
    columns
        .push(Values::new(Column::number("time", ""), |path| time_ns(path.trials_s * 1e9).into()));
    let row = |path: &SearchedPath| {
        Row::of(
            [Cell::from(&path.path)]
                .into_iter()
                .chain(columns.iter().map(|values| (values.cell)(path))),
        )
    };
    Table {
        caption: format!("{}: what was found", search.name()),
        is_titled: false,
        kind: Kind::Figures,
        rows: search.paths.iter().map(row).collect(),
        columns: [Column::name("path")]
            .into_iter()
            .chain(columns.into_iter().map(|values| values.column))
            .collect(),
    }
}

/// A column a component of the paths, with its cores.
fn cores(search: &SearchSummary) -> impl Iterator<Item = Values<'_>> {
    let names = component_names(search.paths.iter().flat_map(|path| &path.components));
    names.into_iter().filter_map(|name| {
        let of = move |path: &SearchedPath| {
            Some(path.components.iter().find(|component| component.name == name)?.cores)
        };
        let mut values = Values::figure(search, name, "cores", of)?;
        values.column.unit = "cores".to_owned();
        Some(values)
    })
}

/// How a comparison is to be taken.
pub(crate) fn tone(found: &LoadComparison, is_neutral: bool) -> Tone {
    match found.outcome {
        Outcome::More if !is_neutral => Tone::Better,
        Outcome::Less if !is_neutral => Tone::Worse,
        Outcome::Same | Outcome::NotDecided | Outcome::MinimumEffect => Tone::Same,
        outcome if outcome.is_called() => Tone::Same,
        _ => Tone::Doubt,
    }
}

/// The marks of a load that is doubtful, before it.
pub(crate) fn mark(path: &SearchedPath) -> String {
    let undecided = if path.undecided.is_empty() { "" } else { UNDECIDED_MARK };
    format!("{undecided}{}", if path.generator_limited { "! " } else { "" })
}

/// `4979 [4979, 5078]`, `>= 5000`, or a dash.
fn found(path: &SearchedPath) -> Cell {
    let mark = mark(path);
    match path.found() {
        Some(load) => {
            let small = LoadUnit::ends(path.low, path.high).trim_start().into();
            Cell { small, ..Cell::from(format!("{mark}{}", number(load))) }
        }
        None => {
            let text =
                path.at.map_or_else(|| UNKNOWN.to_owned(), |load| format!(">= {}", number(load)));
            format!("{mark}{text}").into()
        }
    }
}

/// The load as bits of payload a second, of datagrams.
fn bits(search: &SearchSummary) -> Option<Values<'_>> {
    let each = search.datagram_bits?;
    let all: Vec<f64> =
        search.paths.iter().filter_map(|path| path.at).map(|load| load * each).collect();
    if all.is_empty() {
        return None;
    }
    let scale = Scale::asked(search.rate_unit, "found_bits_per_s", all.into_iter());
    let column = Column::number("payload", scale.head());
    Some(Values::new(column, move |path| {
        let least = if path.found().is_none() { ">= " } else { "" };
        path.at
            .map(|load| Cell::from(format!("{least}{}", scale.text(load * each))))
            .unwrap_or_default()
    }))
}

fn ratio(found: &LoadComparison) -> Cell {
    let Some(ratio) = found.ratio else { return Cell::default() };
    let ends =
        found.low.zip(found.high).map(|(low, high)| interval_text::of_ratio(ratio, low, high));
    Cell::with_ends(ratio_text(ratio), ends)
}

/// What neither the table nor the lines of what was found say. It is why loads were too high, where
/// the generator was the limit, and that nothing was measured at equal load.
pub(crate) fn caveats(search: &SearchSummary) -> Vec<String> {
    let why = search.paths.iter().filter(|path| !path.too_high.is_empty());
    let mut out: Vec<String> =
        why.map(|path| format!("{}: too high at {}", path.path, path.too_high)).collect();
    let marked: Vec<&str> =
        search.paths.iter().filter(|p| p.generator_limited).map(|p| p.path.as_str()).collect();
    if !marked.is_empty() {
        out.push(format!("! {MARK} ({})", marked.join(", ")));
    }
    out.extend(Some(search.no_equal_load.to_owned()).filter(|text| !text.is_empty()));
    out
}

/// The trials of a path in their order.
pub(crate) fn trace_table(search: &SearchSummary, path: &SearchedPath) -> Table {
    let value = if search.figure.is_empty() { "value".to_owned() } else { figure(&search.figure) };
    let numbers = ["step".to_owned(), search.parameter.to_owned(), value]
        .map(|label| Column::number(label, ""));
    let words = ["else within bounds", "why"].map(Column::words);
    Table {
        caption: format!("{} on {}: every trial", search.name(), path.path),
        is_titled: false,
        kind: Kind::Figures,
        columns: numbers.into_iter().chain(words).collect(),
        rows: path.trace.iter().map(|step| trial(search, step)).collect(),
    }
}

fn trial(search: &SearchSummary, step: &TraceStep) -> Row {
    let unusable = if step.unusable.is_empty() {
        String::new()
    } else {
        format!(" (in no figure: {})", step.unusable)
    };
    let because =
        if step.because.is_empty() { String::new() } else { format!(": {}", step.because) };
    let within = format!("{}{because}", if step.within { "yes" } else { "no" });
    let value = step.value.map_or_else(|| UNKNOWN.to_owned(), |at| value(&search.figure, at));
    let texts = [
        step.step.to_string(),
        number(step.load),
        value,
        within,
        format!("{}{unusable}", step.why),
    ];
    Row::of(texts.map(Cell::from))
}

/// Every path at a load that was found on one, with the figures there.
pub(crate) fn equal_table(search: &SearchSummary, at: &EqualLoad) -> Table {
    let setting =
        if search.parameter == "rate" { search.unit().text(at.load) } else { at.setting.clone() };
    let mut columns = vec![Column::name("path")];
    let mut rows: Vec<Row> =
        at.paths.iter().map(|path| Row::of([Cell::from(&path.path)])).collect();
    for name in &search.detailed {
        let Some(label) = at.paths.iter().find_map(|path| Some(path.figure(name)?.label)) else {
            continue;
        };
        columns.push(Column::number(label, ""));
        // Beside the load that one of them just bears the latencies of others are of another size:
        // each has its own unit.
        for (row, path) in rows.iter_mut().zip(&at.paths) {
            let told = |value| Scale::one_asked(search.rate_unit, name, value);
            let median = path.figure(name).map(|figure| told(figure.spread.median));
            row.cells.push(median.unwrap_or_else(|| UNKNOWN.to_owned()).into());
        }
    }
    for name in component_names(at.paths.iter().flat_map(|path| &path.components)) {
        columns.push(Column::number(name, "cores"));
        for (row, path) in rows.iter_mut().zip(&at.paths) {
            let found = path.components.iter().find(|component| component.name == name);
            let cores = found.map(|found| format!("{:.3}", found.cores.median));
            row.cells.push(cores.unwrap_or_default().into());
        }
    }
    if at.paths.iter().any(|path| path.saturated_per_s.is_some()) {
        columns.push(Column::words("the rate"));
        for (row, path) in rows.iter_mut().zip(&at.paths) {
            row.cells
                .push(path.saturated_per_s.map_or_else(|| "kept".to_owned(), saturated).into());
        }
    }
    let caption = format!("every path at {setting}, found on {}", at.found_on);
    Table { caption, is_titled: true, kind: Kind::Figures, columns, rows }
}

/// A name with the unit of the figure that is searched by, where no other column shows it.
fn own_figure(search: &SearchSummary) -> Option<&'static str> {
    let is_latency = |name: &str| {
        let base = name.strip_suffix("_ns").and_then(|name| name.rsplit_once('_'));
        base.is_some_and(|(base, percentile)| search.figure == format!("{base}_ns {percentile}"))
    };
    let shown = search.detailed.iter().any(|name| {
        let metric = *name == search.figure || (search.figure == "loss" && *name == "lost_ratio");
        metric || is_latency(name)
    });
    (!search.figure.is_empty() && !shown).then(|| unit_name(&search.figure))
}
