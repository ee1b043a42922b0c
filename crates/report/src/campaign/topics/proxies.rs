//! The cost of proxies: of each hop, and of each proxy over the load.

use hopbench_analysis::text::{Scale, interval_text};
use hopbench_analysis::{
    Added, CurvePoint, CurveSummary, ProxyShare, Resource, Summary, WaterfallStep,
    WaterfallSummary, WorkloadSummary,
};

use crate::document::{Block, Cell, Column, Form, Kind, Line, Part, Row, Table};
use crate::number::{by_name, plain};

/// More tables than this are counted.
const MOST: usize = 60;

/// What each proxy of the workload's paths adds and spends; nothing where no path has any. `own`:
/// the id of the workload's part.
pub(super) fn blocks(own: &str, summary: &Summary, workload: &WorkloadSummary) -> Vec<Block> {
    let mut out = Vec::new();
    let all: Vec<_> =
        summary.waterfall.iter().filter(|one| one.workload == workload.name).collect();
    if !all.is_empty() {
        let mut tables: Vec<Block> = all.iter().take(MOST).flat_map(|one| waterfall(one)).collect();
        if all.len() > MOST {
            tables.push(Block::note(format!("{} more: see --format json", all.len() - MOST)));
        }
        out.push(
            Part::new(Form::Tables, format!("{own}-hops"), "What each hop adds", tables).into(),
        );
    }
    let curves: Vec<_> =
        summary.proxy_curves.iter().filter(|curve| curve.workload == workload.name).collect();
    if !curves.is_empty() {
        out.push(Block::paragraph("What each proxy spends as the load grows:"));
        out.push(Block::List(
            curves.iter().map(|curve| Line::named(&curve.path, &curve.text)).collect(),
        ));
        let points = points(workload, &curves).into();
        out.push(
            Part::new(
                Form::Closed,
                format!("{own}-curves"),
                "The points of these curves",
                vec![points],
            )
            .into(),
        );
    }
    out
}

/// The steps with one unit a column.
fn waterfall(waterfall: &WaterfallSummary) -> Vec<Block> {
    let figures = waterfall.figures();
    let scale = |name: &'static str| {
        let added = waterfall.steps.iter().filter_map(|step| step.of(name));
        Scale::of(name, added.map(|added| added.spread.median)).coarse()
    };
    let scales: Vec<Scale> = figures.iter().map(|(name, _)| scale(name)).collect();
    let row = |step: &WaterfallStep| {
        // What all steps are added to is a path that a reader must be able to find.
        let own = if step.against.is_none() { format!(" ({})", step.path) } else { String::new() };
        let values = figures.iter().zip(&scales).map(|((name, _), scale)| value(step, name, scale));
        let cells = [Cell::from(format!("{}{own}", step.label))].into_iter().chain(values);
        let remark = if step.note.is_empty() { String::new() } else { format!("! {}", step.note) };
        Row { remark, ..Row::of(cells) }
    };
    let heads =
        figures.iter().zip(&scales).map(|((_, label), scale)| Column::number(*label, scale.head()));
    let table = Table {
        caption: format!("what each hop adds, {}", waterfall.name().replace('→', "to")),
        is_titled: true,
        kind: Kind::Figures,
        columns: [Column::name("step")].into_iter().chain(heads).collect(),
        rows: waterfall.steps.iter().map(row).collect(),
    };
    let mut out = vec![table.into()];
    if !waterfall.note.is_empty() {
        out.push(Block::note(format!("! {}", waterfall.note)));
    }
    out.extend(shares(waterfall).map(Block::note));
    out
}

/// `84.0` for the first path, `+210 [190, 230]` for what is added to it.
fn value(step: &WaterfallStep, name: &str, scale: &Scale) -> Cell {
    let Some(Added { spread, .. }) = step.of(name) else {
        return Cell::default();
    };
    let sign = if step.against.is_some() && spread.median >= 0.0 { "+" } else { "" };
    let told = |(low, high): (f64, f64)| match step.against {
        // What is added may lie around 0.
        Some(_) => [scale.text(low), scale.text(high)],
        None => interval_text::of(spread.median, low, high, |value| scale.text(value)),
    };
    Cell::with_ends(
        format!("{sign}{}", scale.text(spread.median)),
        spread.low.zip(spread.high).map(told),
    )
}

/// What each proxy of the path with most of them spends: `CPU/req of client-sidecar 64.0 us,
/// server-sidecar 58.0 us (both)`.
fn shares(waterfall: &WaterfallSummary) -> Option<String> {
    let last = waterfall.steps.iter().rfind(|step| step.in_chain && !step.proxies.is_empty())?;
    let label = last
        .added
        .iter()
        .find(|added| added.name.starts_with("cpu_"))
        .map_or("CPU", |added| added.label);
    let one = |ProxyShare { name, spread }: &ProxyShare| match spread.low.zip(spread.high) {
        Some((low, high)) => {
            format!("{name} {}", Scale::with_ends("cpu_ns", spread.median, low, high))
        }
        None => format!("{name} {}", Scale::one("cpu_ns", spread.median)),
    };
    let each: Vec<String> = last.proxies.iter().map(one).collect();
    Some(format!("proxies of {}, {label}: {}", last.path, each.join(", ")))
}

fn points(workload: &WorkloadSummary, curves: &[&CurveSummary]) -> Table {
    let row = |curve: &CurveSummary, point: &CurvePoint| {
        let text = |value: f64| match curve.resource {
            Resource::Cores => format!("{value:.3}"),
            Resource::RssBytes => by_name("rss_bytes", value),
            Resource::AllocatedBytes => by_name("allocated_bytes", value),
        };
        let what = match curve.resource {
            Resource::Cores => "cores",
            Resource::RssBytes => "resident, largest so far",
            Resource::AllocatedBytes => "allocated",
        };
        let over = curve.over.replace("_per_s", "/s").replace('_', " ");
        let load = format!("{} {over}", plain((point.x * 10.0).round() / 10.0));
        let ends =
            point.spread.low.zip(point.spread.high).map(|(low, high)| [text(low), text(high)]);
        let names = [curve.name(), point.label(), load, what.to_owned()].map(Cell::from);
        Row::of(names.into_iter().chain([Cell::with_ends(text(point.spread.median), ends)]))
    };
    let heads = [Column::name("path, proxy"), Column::name("point")];
    let heads = heads.into_iter().chain([
        Column::number("load", ""),
        Column::words("of what"),
        Column::number("spent", ""),
    ]);
    Table {
        caption: format!("{}: what each proxy spent at every point", workload.name),
        is_titled: false,
        kind: Kind::Figures,
        columns: heads.collect(),
        rows: curves
            .iter()
            .flat_map(|curve| curve.points.iter().map(|point| row(curve, point)))
            .collect(),
    }
}
