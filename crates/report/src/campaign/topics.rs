//! The parts of a run's document, one file each.

mod answer;
mod components;
mod evidence;
mod head;
mod overview;
mod percentiles;
mod profiles;
mod proxies;
mod reading;
mod searches;
mod sizes;
mod workloads;

use hopbench_analysis::Summary;

use crate::document::{Block, Document};

/// The blocks of a part; none where there is nothing to say.
type Topic = fn(&Summary) -> Vec<Block>;

/// Every part, in the order of pages.
const TOPICS: &[Topic] = &[
    answer::blocks,
    reading::blocks,
    overview::blocks,
    sizes::blocks,
    workloads::blocks,
    searches::blocks,
    profiles::blocks,
    evidence::blocks,
];

/// A run as a document.
pub(super) fn document(summary: &Summary) -> Document {
    Document {
        title: summary.run.name.clone(),
        facts: head::facts(summary),
        blocks: TOPICS.iter().flat_map(|topic| topic(summary)).collect(),
    }
}
