//! The profiles: where the CPU time of extra trials went, and what paths differ by.

use hopbench_analysis::{ProfileDifference, ProfileSummary, ProfileUnit, Summary};

use crate::document::{Block, Cell, Column, Form, Kind, Line, Part, Row, Table, Tone};
use crate::profile::{ends, frame, headline, incomplete, owners, value};

const NOTE: &str = "Of an extra trial of each cell, which is in no figure. A frame's own time is \
                    without what it calls. Errors follow from the number of samples alone.";

/// The part; nothing where the run has no profiles.
pub(super) fn blocks(summary: &Summary) -> Vec<Block> {
    let Some(profiles) = &summary.profiles else { return Vec::new() };
    let mut blocks = vec![Block::note(NOTE)];
    blocks.extend(profiles.notes.iter().map(Block::alert));
    blocks.extend(incomplete(profiles).map(Block::alert));
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

/// A row a cell.
fn cells(cells: &[ProfileSummary]) -> Table {
    let columns = vec![
        Column::name("path"),
        Column::name("workload"),
        Column::name("point"),
        Column::number("samples", ""),
        Column::words("of them"),
    ];
    let row = |cell: &ProfileSummary| {
        let mut shares =
            cell.problem.as_ref().map_or_else(|| owners(cell), |why| format!("none: {why}"));
        if cell.lost_samples > 0 {
            shares.push_str(&format!("; {} more were lost", cell.lost_samples));
        }
        let name: [Cell; 3] = [&cell.path, &cell.workload, &cell.point].map(Cell::from);
        Row::of(name.into_iter().chain([cell.samples.to_string().into(), shares.into()]))
    };
    Table {
        caption: "Profiles: samples of each cell".to_owned(),
        is_titled: false,
        kind: Kind::Words,
        columns,
        rows: cells.iter().map(row).collect(),
    }
}

/// What a path differs by from the baseline.
fn difference(number: usize, difference: &ProfileDifference) -> Block {
    let ProfileDifference { base, path, unit, grew, .. } = difference;
    let mut blocks =
        vec![Block::paragraph(Line::named("Flame graph", "").with(Tone::Link, &difference.graph))];
    if grew.is_empty() {
        blocks.push(Block::note("No function grew by more than the samples scatter."));
    } else {
        let per = match unit {
            ProfileUnit::CpuUsPer(one) => format!("CPU for each {one}"),
            ProfileUnit::Share => "share of all samples".to_owned(),
        };
        let columns = vec![
            Column::name("below"),
            Column::name("function"),
            Column::number(base, &per),
            Column::number(path, &per),
            Column::number("grew by", &per),
        ];
        let rows = grew.iter().map(|one| {
            let values = [one.base_value, one.path_value].map(|own| value(own, unit));
            let grew = Cell::with_ends(value(one.growth, unit), Some(ends(one, unit)));
            let name: [Cell; 2] = [one.owner.clone().into(), frame(&one.frame).into()];
            Row::of(name.into_iter().chain(values.map(Cell::from)).chain([grew]))
        });
        let caption = format!("{path} against {base}: functions whose own time grew most");
        let table =
            Table { caption, is_titled: false, kind: Kind::Figures, columns, rows: rows.collect() };
        blocks.push(table.into());
    }
    let id = format!("profile-{number}");
    Part::new(Form::Folded, id, headline(difference), blocks).into()
}
