//! A row: one comparison.

pub(crate) mod goal;
pub(crate) mod pairs;
pub(crate) mod search;

use std::fmt::Debug;

use anyhow::Result;

use crate::bench::{Bench, Figures, Peer};
use crate::row::goal::Goal;

/// A comparison: the runs of ours and of the peer, and what is asked of their figures.
pub(crate) trait Row: Sync + Debug {
    /// The name for `--only`: the file's path below `rows`, with what tells the rows of one file
    /// apart behind it.
    fn name(&self) -> String;

    /// A line about what is measured, for the table.
    fn what(&self) -> String;

    /// The peer, for the table. Empty if there is none.
    fn against(&self) -> &'static str;

    /// The programs that must be installed.
    fn needs(&self) -> Vec<&'static Peer>;

    /// The goals.
    fn goals(&self) -> &'static [Goal];

    /// The facts that a reader must know to trust the figures.
    fn note(&self) -> String;

    /// One run of ours.
    ///
    /// # Errors
    /// When it fails.
    fn ours(&self, bench: &Bench) -> Result<Figures>;

    /// One run of the peer, none where there is no peer.
    ///
    /// # Errors
    /// When it fails.
    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>>;
}
