//! Profiles for people: flame graphs as SVG, and sentences.
//!
//! - [`graphs`]: every flame graph of a run, with the names of their files;
//! - [`sentences`]: what paths differ by, for a terminal.
//!
//! The graphs need no script and fetch nothing. The folded stacks beside them are for tools that
//! zoom and search.

mod colour;
mod flame_graph;
mod words;

use hopbench_analysis::ProfilesSummary;
use hopbench_model::Profiles;

pub use flame_graph::{difference_graph, flame_graph};
pub use words::sentences;
pub(crate) use words::{
    CAUTION, brief, ends, function, headline, incomplete, nothing, title, value,
};

/// Every flame graph of a run: the name of its file from the results folder on, and its contents.
pub fn graphs(profiles: &Profiles, summary: &ProfilesSummary) -> Vec<(String, String)> {
    let of_cells = profiles.file.cells.iter().zip(&summary.cells);
    let cells = of_cells.filter_map(|(cell, one)| {
        let folded = profiles.folded.get(cell.folded.as_ref()?)?;
        Some((one.graph.clone()?, flame_graph(&title(one), folded)))
    });
    let differences = summary
        .differences
        .iter()
        .map(|difference| (difference.graph.clone(), difference_graph(difference)));
    cells.chain(differences).collect()
}
