//! One comparison.

pub(crate) mod figures;
pub(crate) mod goal;
pub(crate) mod pairs;
pub(crate) mod search;

use std::fmt::Debug;

use anyhow::Result;

use crate::bench::Bench;
use crate::peer::Peer;
use crate::row::figures::Figures;
use crate::row::goal::Goal;

/// What ours does, what the peer does, and what comes out of it.
pub(crate) trait Row: Sync + Debug {
    /// The name for `--only`: the file's path below `rows`, with what tells the rows of one file
    /// apart behind it.
    fn name(&self) -> String;

    /// What is measured, for the table.
    fn what(&self) -> String;

    /// Who ours is compared with, for the table; empty where nobody is.
    fn against(&self) -> &'static str;

    /// The programs that must be installed.
    fn needs(&self) -> Vec<&'static Peer>;

    /// What must be reached.
    fn goals(&self) -> &'static [Goal];

    /// What a reader must know to trust the figures.
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
