//! Notes on how to read the figures, and on the run as a whole.

use hopbench_analysis::Summary;

use crate::campaign::page_text;
use crate::document::{Block, Line, Part, Tone};

/// The part.
pub(super) fn blocks(summary: &Summary) -> Vec<Block> {
    let mut blocks = vec![Block::paragraph(page_text::how_to_read(summary))];
    let further = page_text::named(summary).into_iter().chain(page_text::chance(summary));
    blocks.extend(further.map(Block::paragraph));
    blocks.extend(missing(summary).map(Block::alert));
    blocks.extend(summary.run.notes.iter().map(|note| Block::alert(page_text::sentence(note))));
    vec![Part::open("reading", "How to read it", blocks).into()]
}

/// Trials that are in no figure, and why.
fn missing(summary: &Summary) -> Option<Line> {
    let run = &summary.run;
    let missing = run.planned_trials.checked_sub(run.used_trials).filter(|missing| *missing > 0)?;
    let failed = summary.failures.len();
    let whys = [
        if failed > 0 { format!("{failed} of them failed.") } else { String::new() },
        page_text::missing(run, failed),
    ];
    let told = format!("{missing} of {} trials are in no figure.", run.planned_trials);
    let line = Line::default().with(Tone::Strong, told);
    let why = whys.into_iter().filter(|why| !why.is_empty());
    Some(why.fold(line, |line, why| line.with(Tone::Plain, format!(" {why}"))))
}
