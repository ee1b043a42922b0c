//! A row: one comparison.

pub(crate) mod goal;
pub(crate) mod pairs;
pub(crate) mod search;

use anyhow::Result;

use crate::bench::{Bench, Figures, Peer};
use crate::row::goal::Goal;

/// A comparison: the runs of ours and of the peer, and what is asked of their figures.
pub(crate) struct Row {
    /// The name for `--only`: the file's path below `rows`, with what tells the rows of one file
    /// apart behind it.
    pub(crate) name: String,
    /// A line about what is measured, for the table.
    pub(crate) what: String,
    /// The peer, for the table. Empty if there is none.
    pub(crate) against: &'static str,
    /// The programs that must be installed.
    pub(crate) needs: Vec<&'static Peer>,
    /// The goals.
    pub(crate) goals: &'static [Goal],
    /// The facts that a reader must know to trust the figures.
    pub(crate) note: String,
    /// One run of ours.
    pub(crate) ours: Run,
    /// One run of the peer, if there is one.
    pub(crate) theirs: Option<Run>,
}

/// A run of a program. It fails if the program does.
pub(crate) type Run = Box<dyn Fn(&Bench) -> Result<Figures>>;
