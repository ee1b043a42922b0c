//! The tables of searches, whatever prints them.

use hopbench_analysis::text::load_text::{figure, number, unit_name, value};
use hopbench_analysis::text::{LoadUnit, Scale, interval_text};
use hopbench_analysis::{
    EqualLoad, EqualLoadPath, FoundFigure, LoadComparison, SearchSummary, SearchedPath, Spread, Standing, TraceStep,
    UNDECIDED_MARK, undecided_text,
};
use hopbench_model::number::{UNKNOWN, by_name, ratio as ratio_text, time_ns};

use super::search_lines::mark;

/// What the mark of a path says whose search the generator may have ended.
pub(crate) const MARK: &str = "the load generator was the limit there: what was found may be its own";

/// A table of what was found on each path.
pub(crate) struct Texts {
    /// The columns.
    pub(crate) heads: Vec<Head>,
    /// The paths.
    pub(crate) rows: Vec<Row>,
}

/// A column.
pub(crate) struct Head {
    /// What it is called.
    pub(crate) label: String,
    /// The unit of its values, or of what a ratio is; empty for neither.
    pub(crate) unit: String,
    /// Whether it holds words.
    pub(crate) words: bool,
}

/// A path as texts.
pub(crate) struct Row {
    /// The path's name, with a mark where it is the baseline once more.
    pub(crate) label: String,
    /// In the order of the heads.
    pub(crate) values: Vec<Text>,
}

/// A value as texts.
#[derive(Default)]
pub(crate) struct Text {
    /// `4979`; empty where there is none.
    pub(crate) value: String,
    /// ` [4979, 5078]`; empty where there is none.
    pub(crate) ends: String,
    /// Of a comparison: where the path stands beside the baseline.
    pub(crate) standing: Option<Standing>,
}

/// A column on its way to a table.
struct Column<'a> {
    head: Head,
    text: Box<dyn Fn(&SearchedPath) -> Text + 'a>,
}

impl<'a> Column<'a> {
    fn new(label: &str, unit: &str, text: impl Fn(&SearchedPath) -> Text + 'a) -> Self {
        Self { head: Head { label: label.to_owned(), unit: unit.to_owned(), words: false }, text: Box::new(text) }
    }

    /// Of a figure; `None` where no path has it.
    fn figure(
        search: &SearchSummary,
        label: &str,
        name: &'static str,
        of: impl Fn(&SearchedPath) -> Option<Spread> + 'a,
    ) -> Option<Self> {
        let medians: Vec<f64> = search.paths.iter().filter_map(&of).map(|spread| spread.median).collect();
        let scale = Scale::of(name, medians.iter().copied());
        let unit = scale.head().to_owned();
        let text = move |path: &SearchedPath| {
            let around = |spread: &Spread| match spread.low.zip(spread.high).filter(|(low, high)| low != high) {
                Some((low, high)) => {
                    format!(
                        " [{}]",
                        interval_text::of_figure(name, spread.median, low, high, |end| scale.text(end)).join(", ")
                    )
                }
                None => String::new(),
            };
            of(path).map_or_else(Text::default, |spread| Text {
                value: scale.text(spread.median),
                ends: around(&spread),
                standing: None,
            })
        };
        (!medians.is_empty()).then(|| Self::new(label, &unit, text))
    }

    /// The ratio to the baseline, of this figure or of the load, and what it says; nothing where no
    /// path is compared.
    fn comparison(search: &SearchSummary, what: &str, of: fn(&SearchedPath) -> Option<&LoadComparison>) -> Vec<Self> {
        if !search.paths.iter().any(|path| of(path).is_some()) {
            return Vec::new();
        }
        let ratio = move |path: &SearchedPath| of(path).map(ratio).unwrap_or_default();
        let said = move |path: &SearchedPath| {
            let standing = of(path).map(|found| found.standing);
            Text { value: of(path).map(|found| found.text.clone()).unwrap_or_default(), standing, ..Text::default() }
        };
        let mut said = Self::new("against baseline", what, said);
        said.head.words = true;
        vec![Self::new("ratio", what, ratio), said]
    }
}

impl Texts {
    /// What was found, how much of the baseline's it is, the figures there, and what it took.
    pub(crate) fn of(search: &SearchSummary) -> Self {
        let unit = if search.parameter == "rate" { "/s" } else { "" };
        let mut columns = vec![Column::new(search.parameter, unit, found)];
        columns.extend(bits(search));
        columns.extend(Column::comparison(search, "", |path| path.comparison.as_ref()));
        columns.extend(
            own_figure(search)
                .and_then(|name| Column::figure(search, &figure(&search.figure), name, |path| path.value)),
        );
        for (index, name) in search.shown.iter().enumerate() {
            let label = search.paths.iter().find_map(|path| Some(path.figure(name)?.label));
            let column = label
                .and_then(|label| Column::figure(search, label, name, move |path| Some(path.figure(name)?.spread)));
            columns.extend(column);
            // Of a knee the throughput there is compared, too: the first figure.
            if index == 0 {
                columns.extend(Column::comparison(search, label.unwrap_or_default(), |path| {
                    path.value_comparison.as_ref()
                }));
            }
        }
        let plain = |value: String| Text { value, ..Text::default() };
        columns.push(Column::new("trials", "", move |path| plain(path.trials.to_string())));
        columns.push(Column::new("time", "", move |path| plain(time_ns(path.trials_s * 1e9))));
        let row = |path: &SearchedPath| Row {
            label: path.path.clone(),
            values: columns.iter().map(|column| (column.text)(path)).collect(),
        };
        let rows = search.paths.iter().map(row).collect();
        Self { heads: columns.into_iter().map(|column| column.head).collect(), rows }
    }
}

/// `4979 [4979, 5078]`, `>= 5000`, or a dash.
fn found(path: &SearchedPath) -> Text {
    let mark = mark(path);
    match path.found() {
        Some(load) => {
            Text { value: format!("{mark}{}", number(load)), ends: LoadUnit::ends(path.low, path.high), standing: None }
        }
        None => {
            let text = path.at.map_or_else(|| UNKNOWN.to_owned(), |load| format!(">= {}", number(load)));
            Text { value: format!("{mark}{text}"), ..Text::default() }
        }
    }
}

/// The load as bits of payload a second, of datagrams.
fn bits(search: &SearchSummary) -> Option<Column<'_>> {
    let each = search.datagram_bits?;
    let all = || search.paths.iter().filter_map(|path| path.at).map(|load| load * each);
    let scale = Scale::of("found_bits_per_s", all());
    let unit = scale.head().to_owned();
    let text = move |path: &SearchedPath| {
        let least = if path.found().is_none() { ">= " } else { "" };
        let value = path.at.map(|load| format!("{least}{}", scale.text(load * each)));
        Text { value: value.unwrap_or_default(), ..Text::default() }
    };
    all().next().map(|_| Column::new("payload", &unit, text))
}

fn ratio(found: &LoadComparison) -> Text {
    let Some(ratio) = found.ratio else { return Text::default() };
    let around = |(low, high)| format!(" [{}]", interval_text::of_ratio(ratio, low, high).join(", "));
    let around = found.low.zip(found.high).map(around).unwrap_or_default();
    Text { value: ratio_text(ratio), ends: around, standing: None }
}

/// What a reader must know beside the table, a sentence each: where nothing was found and why, what
/// was not decided, and what [`caveats`] has.
pub(crate) fn remarks(search: &SearchSummary) -> Vec<String> {
    let said = |path: &SearchedPath| match path.found() {
        None => {
            Some(format!("{}{}: {}", if path.undecided.is_empty() { "" } else { UNDECIDED_MARK }, path.path, path.text))
        }
        Some(_) if path.undecided.is_empty() => None,
        Some(_) => {
            Some(format!("{}{}: {}", UNDECIDED_MARK, path.path, undecided_text(&path.undecided, search.parameter)))
        }
    };
    search.paths.iter().filter_map(said).chain(caveats(search)).collect()
}

/// What neither the table nor the lines of what was found say: why loads were too high, where the
/// generator was the limit, and that nothing was measured at equal load.
pub(crate) fn caveats(search: &SearchSummary) -> Vec<String> {
    let why = search.paths.iter().filter(|path| !path.too_high.is_empty());
    let mut out: Vec<String> = why.map(|path| format!("{}: too high at {}", path.path, path.too_high)).collect();
    let marked: Vec<&str> = search.paths.iter().filter(|p| p.generator_limited).map(|p| p.path.as_str()).collect();
    if !marked.is_empty() {
        out.push(format!("! {MARK} ({})", marked.join(", ")));
    }
    out.extend(Some(search.no_equal_load.to_owned()).filter(|text| !text.is_empty()));
    out
}

/// The heads of a trace.
pub(crate) fn trace_heads(search: &SearchSummary) -> [String; 5] {
    let value = if search.figure.is_empty() { "value".to_owned() } else { figure(&search.figure) };
    ["step".to_owned(), search.parameter.to_owned(), value, "else within bounds".to_owned(), "why".to_owned()]
}

/// A trial of a trace as texts, in the order of [`trace_heads`].
pub(crate) fn trace_row(search: &SearchSummary, step: &TraceStep) -> [String; 5] {
    let unusable = if step.unusable.is_empty() { String::new() } else { format!(" (in no figure: {})", step.unusable) };
    let because = if step.because.is_empty() { String::new() } else { format!(": {}", step.because) };
    let within = format!("{}{because}", if step.within { "yes" } else { "no" });
    [
        step.step.to_string(),
        number(step.load),
        step.value.map_or_else(|| UNKNOWN.to_owned(), |at| value(&search.figure, at)),
        within,
        format!("{}{unusable}", step.why),
    ]
}

/// The head of a row of the equal-load table: `4979/s, found on direct`.
pub(crate) fn equal_label(search: &SearchSummary, row: &EqualLoad) -> String {
    let setting = if search.parameter == "rate" { search.unit().text(row.load) } else { row.setting.clone() };
    format!("{setting}, found on {}", row.found_on)
}

/// The figures of a path at a load that was found on another, one text each: throughput, latency,
/// CPU.
pub(crate) fn equal_figures(search: &SearchSummary, path: &EqualLoadPath) -> Vec<String> {
    let one = |FoundFigure { name, label, spread }: &FoundFigure| {
        let value = by_name(name, spread.median);
        // A rate needs no name beside its unit.
        if name.ends_with("_per_s") { value } else { format!("{label} {value}") }
    };
    let shown = search.shown.iter().filter(|name| **name != "proxy_cores");
    shown.filter_map(|name| path.figure(name)).map(one).collect()
}

/// The paths at a load that was found, a row each, with the figures there.
pub(crate) fn equal_texts(search: &SearchSummary, at: &EqualLoad) -> Texts {
    let mut out = Texts {
        heads: Vec::new(),
        rows: at.paths.iter().map(|path| Row { label: path.path.clone(), values: Vec::new() }).collect(),
    };
    for name in &search.shown {
        let median = |path: &EqualLoadPath| path.figure(name).map(|figure| figure.spread.median);
        let Some(label) = at.paths.iter().find_map(|path| Some(path.figure(name)?.label)) else { continue };
        // Beside the load that one of them just bears the latencies of others are of another size:
        // each has its own unit.
        for (row, path) in out.rows.iter_mut().zip(&at.paths) {
            let value = median(path).map_or_else(|| UNKNOWN.to_owned(), |value| by_name(name, value));
            row.values.push(Text { value, ..Text::default() });
        }
        out.heads.push(Head { label: label.to_owned(), unit: String::new(), words: false });
    }
    out
}

/// The paths that any row of the equal-load table has, in order.
pub(crate) fn equal_paths(search: &SearchSummary) -> Vec<&str> {
    let all = search.paths.iter().map(|path| path.path.as_str());
    let in_any = |path: &&str| search.equal_load.iter().any(|row| row.paths.iter().any(|own| own.path == *path));
    all.filter(in_any).collect()
}

/// A name with the unit of the figure that is searched by, where no other column shows it.
fn own_figure(search: &SearchSummary) -> Option<&'static str> {
    let shown = search.shown.iter().any(|name| {
        let metric = *name == search.figure || (search.figure == "loss" && *name == "lost_ratio");
        metric || name.strip_suffix("_p99_ns").is_some_and(|base| search.figure == format!("{base}_ns p99"))
    });
    (!search.figure.is_empty() && !shown).then(|| unit_name(&search.figure))
}
