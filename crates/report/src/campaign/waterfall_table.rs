//! The table of a waterfall, whatever prints it.

use hopbench_analysis::text::{Scale, interval_text};
use hopbench_analysis::{Added, ProxyShare, WaterfallStep, WaterfallSummary};

/// A table of steps.
#[derive(Debug)]
pub(crate) struct Texts {
    /// The columns: what a figure is called, and the unit of its values.
    pub(crate) heads: Vec<[String; 2]>,
    /// The steps: label, values and what makes them doubtful.
    pub(crate) rows: Vec<Row>,
}

/// A step as texts.
#[derive(Debug)]
pub(crate) struct Row {
    /// `+ server sidecar`.
    pub(crate) label: String,
    /// `+210 [190, 230]`; empty where there is none.
    pub(crate) values: Vec<String>,
    /// Empty where nothing is doubtful.
    pub(crate) note: String,
}

impl Texts {
    /// The steps with one unit a column.
    pub(crate) fn of(waterfall: &WaterfallSummary) -> Self {
        let figures = waterfall.figures();
        let scales: Vec<Scale> = figures
            .iter()
            .map(|(name, _)| {
                Scale::of(name, waterfall.steps.iter().filter_map(|s| s.of(name)).map(|a| a.spread.median)).coarse()
            })
            .collect();
        let row = |step: &WaterfallStep| {
            let value = |((name, _), scale): (&(&'static str, _), &Scale)| text(step, name, scale);
            // What all steps are added to is a path that a reader must be able to find.
            let own = if step.against.is_none() { format!(" ({})", step.path) } else { String::new() };
            Row {
                label: format!("{}{own}", step.label),
                values: figures.iter().zip(&scales).map(value).collect(),
                note: step.note.clone(),
            }
        };
        let head = |((_, label), scale): (&(_, &'static str), &Scale)| [(*label).to_owned(), scale.head().to_owned()];
        Self { heads: figures.iter().zip(&scales).map(head).collect(), rows: waterfall.steps.iter().map(row).collect() }
    }
}

/// `84.0` for the first path, `+210 [190, 230]` for what is added to it.
fn text(step: &WaterfallStep, name: &str, scale: &Scale) -> String {
    let Some(Added { spread, .. }) = step.of(name) else {
        return String::new();
    };
    let sign = if step.against.is_some() && spread.median >= 0.0 { "+" } else { "" };
    let told = |(low, high): (f64, f64)| match step.against {
        // What is added may lie around 0.
        Some(_) => [scale.text(low), scale.text(high)],
        None => interval_text::of(spread.median, low, high, |value| scale.text(value)),
    };
    let ends = spread.low.zip(spread.high).map_or(String::new(), |ends| format!(" [{}]", told(ends).join(", ")));
    format!("{sign}{}{ends}", scale.text(spread.median))
}

/// What each proxy of the path with most of them spends: `CPU/req of client-sidecar 64.0 us,
/// server-sidecar 58.0 us (both)`.
pub(crate) fn shares(waterfall: &WaterfallSummary) -> Option<String> {
    let last = waterfall.steps.iter().rfind(|step| step.in_chain && !step.proxies.is_empty())?;
    let label = last.added.iter().find(|added| added.name.starts_with("cpu_")).map_or("CPU", |added| added.label);
    let one = |ProxyShare { name, spread }: &ProxyShare| match spread.low.zip(spread.high) {
        Some((low, high)) => format!("{name} {}", Scale::with_ends("cpu_ns", spread.median, low, high)),
        None => format!("{name} {}", Scale::one("cpu_ns", spread.median)),
    };
    let each: Vec<String> = last.proxies.iter().map(one).collect();
    Some(format!("proxies of {}, {label}: {}", last.path, each.join(", ")))
}
