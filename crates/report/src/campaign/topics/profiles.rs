//! The profiles: where the CPU time of extra trials went, and what paths differ by.

use std::collections::BTreeSet;

use hopbench_analysis::{ProfileDifference, ProfileSummary, ProfileUnit, Summary};

use crate::document::{Block, Cell, Column, Form, Kind, Line, Part, Row, Table, Tone};
use crate::number::percentage;
use crate::profile::{CAUTION, ends, function, headline, incomplete, nothing, title, value};

const NOTE: &str = "Of an extra trial of each cell, which is in no figure. A frame's own time is \
                    without what it calls.";

/// The part; nothing where the run has no profiles.
pub(super) fn blocks(summary: &Summary) -> Vec<Block> {
    let Some(profiles) = &summary.profiles else { return Vec::new() };
    let mut blocks = vec![Block::note(NOTE)];
    if profiles.differences.iter().any(|difference| !difference.grew.is_empty()) {
        blocks.push(Block::note(CAUTION));
    }
    blocks.extend(profiles.notes.iter().map(Block::alert));
    blocks.extend(incomplete(profiles).map(Block::alert));
    let failed = profiles.cells.iter().filter_map(|cell| Some((cell, cell.problem.as_ref()?)));
    blocks.extend(
        failed.map(|(cell, why)| Block::alert(format!("{}: no profile: {why}", title(cell)))),
    );
    blocks.push(cells(&profiles.cells).into());
    let graphs = profiles.cells.iter().filter_map(|cell| cell.graph.as_ref());
    let link = |graph: &String| Line::default().with(Tone::Link, graph);
    let graphs: Vec<Line> = graphs.map(link).collect();
    if !graphs.is_empty() {
        blocks.push(Block::List(graphs));
    }
    for (number, difference) in profiles.differences.iter().enumerate() {
        blocks.push(self::difference(number, difference));
    }
    vec![Part::open("profiles", "Profiles", blocks).into()]
}

/// A row a cell, with the share of each owner in a column of its own: columns that do not fit come
/// below, and no path is cut for them.
fn cells(cells: &[ProfileSummary]) -> Table {
    let owners = cells.iter().flat_map(|cell| &cell.owners);
    let owners: BTreeSet<&str> = owners.map(|owner| owner.name.as_str()).collect();
    let is_lost = cells.iter().any(|cell| cell.lost_samples > 0);
    let mut columns = vec![Column::name("path"), Column::name("workload")];
    let is_swept = cells.iter().any(|cell| !cell.point.is_empty());
    columns.extend(is_swept.then(|| Column::name("point")));
    columns.push(Column::number("samples", ""));
    columns.extend(is_lost.then(|| Column::number("lost", "")));
    columns.extend(owners.iter().map(|owner| Column::number(*owner, "%")));
    let row = |cell: &ProfileSummary| {
        let mut row: Vec<Cell> = vec![Cell::from(&cell.path), Cell::from(&cell.workload)];
        row.extend(is_swept.then(|| Cell::from(&cell.point)));
        row.push(cell.samples.to_string().into());
        row.extend(is_lost.then(|| Cell::from(cell.lost_samples.to_string())));
        row.extend(owners.iter().map(|name| {
            let owner = cell.owners.iter().find(|owner| owner.name == *name);
            let share = |samples: u64| percentage(samples as f64 / cell.samples.max(1) as f64);
            Cell::from(owner.map_or_else(String::new, |owner| share(owner.samples)))
        }));
        Row::of(row)
    };
    Table {
        caption: "Profiles: samples of each cell, and the share of each owner".to_owned(),
        is_titled: false,
        kind: Kind::Figures,
        columns,
        rows: cells.iter().map(row).collect(),
    }
}

/// The difference of a path from the baseline.
fn difference(number: usize, difference: &ProfileDifference) -> Block {
    let ProfileDifference { base, path, unit, grew, .. } = difference;
    let mut blocks =
        vec![Block::paragraph(Line::named("Flame graph", "").with(Tone::Link, &difference.graph))];
    if let Some(why) = nothing(difference) {
        blocks.push(Block::note(why));
    } else {
        let per = match unit {
            ProfileUnit::CpuUsPer(one) => format!("CPU for each {one}"),
            ProfileUnit::Share => "share of all samples".to_owned(),
        };
        let columns = vec![
            Column::name("below"),
            Column::name("function").wide(),
            Column::number(base, &per),
            Column::number(path, &per),
            Column::number("grew by", &per),
        ];
        let rows = grew.iter().map(|one| {
            let values = [one.base_value, one.path_value].map(|own| value(own, unit));
            let grew = Cell::with_ends(value(one.growth, unit), Some(ends(one, unit)));
            let name: [Cell; 2] = [one.owner.clone().into(), function(one).into()];
            Row::of(name.into_iter().chain(values.map(Cell::from)).chain([grew]))
        });
        let caption =
            format!("{path} against {base}: functions whose own time grew, the surest first");
        let table =
            Table { caption, is_titled: false, kind: Kind::Figures, columns, rows: rows.collect() };
        blocks.push(table.into());
    }
    let id = format!("profile-{number}");
    Part::new(Form::Folded, id, headline(difference), blocks).into()
}
