//! The searches: what each found, the figures there, and every trial.

use hopbench_analysis::{LoadComparison, SearchSummary, SearchedPath, Summary};

use crate::campaign::plot::searches::{charts, spoken};
use crate::campaign::search_table::{caveats, equal_table, found_table, mark, tone, trace_table};
use crate::document::{Block, Chart, Form, Line, Part, Tone};
use crate::number::counted;

const NOTE: &str = "Each load stands with the ends of what it lies between; the figures beside it \
                    are those of the trials at that load. Rates are compared with the baseline's \
                    by the results of three searches or more, levels by whether what is known of \
                    the two overlaps.";

/// The part; nothing where the run has no searches.
pub(super) fn blocks(summary: &Summary) -> Vec<Block> {
    if summary.searches.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::note(NOTE)];
    let all = summary.searches.iter().zip(charts(&summary.searches)).enumerate();
    blocks.extend(all.map(|(number, (search, chart))| one(number, search, chart)));
    vec![Part::open("searches", "Searches", blocks).into()]
}

fn one(number: usize, search: &SearchSummary, chart: Option<Chart>) -> Block {
    let own = format!("search-{number}");
    let title = Line::from(search.name())
        .with(Tone::Quiet, format!(" ({} over {})", search.goal, search.parameter));
    let mut blocks = vec![Block::note(format!("Searched: {}.", search.asked))];
    if !search.paths.is_empty() {
        blocks.push(Block::List(search.paths.iter().map(|path| found(search, path)).collect()));
    }
    blocks.extend(chart.map(|chart| {
        let spoken = spoken(&chart);
        Block::Chart(chart.into(), spoken)
    }));
    if !search.paths.is_empty() {
        let mut tables = vec![found_table(search).into()];
        let caveats: Vec<Line> = caveats(search).into_iter().map(Line::from).collect();
        if !caveats.is_empty() {
            tables.push(Block::List(caveats));
        }
        let equal = search.equal_load.iter().filter(|load| !load.paths.is_empty());
        tables.extend(equal.map(|load| Block::Table(equal_table(search, load))));
        blocks
            .push(Part::new(Form::Tables, format!("{own}-found"), "What was found", tables).into());
    }
    for (index, path) in search.paths.iter().enumerate().filter(|(_, path)| !path.trace.is_empty())
    {
        let title =
            format!("{}: {}", path.path, counted(path.trace.len() as u64, "trial", "trials"));
        let trials = vec![trace_table(search, path).into()];
        blocks.push(Part::new(Form::Closed, format!("{own}-trials-{index}"), title, trials).into());
    }
    Part::open(own, title, blocks).into()
}

/// The finding on a path: `overlay: 3900/s [3900, 3978]; against the baseline: lower by 22 %`.
fn found(search: &SearchSummary, path: &SearchedPath) -> Line {
    let tone_here = if path.is_doubtful() { Tone::Doubt } else { Tone::Plain };
    let line = Line::default()
        .with(Tone::Name, &path.path)
        .with(tone_here, format!("{}{}", mark(path), path.text));
    let Some(compared @ LoadComparison { text, .. }) = &path.comparison else {
        return line;
    };
    line.with(Tone::Quiet, "; against the baseline: ")
        .with(tone(compared, search.goal == "knee"), text)
}
