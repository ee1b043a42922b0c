//! A figure of a cell, and how it compares with the baseline's.

use hopbench_model::{MeshMode, Path, Via};
use hopbench_stats::{NoRatio, paired_ratio};

use super::cell::Cell;
use super::kind::{Better, Figure};
use super::spread::Spread;
use super::summary::{CONNECTING_ENDS, Estimate, RatioSummary};
use super::verdict::verdict;
use crate::number::counted;

/// Why the CPU time of an end has no verdict.
const TAKEN_OVER: &str = "no verdict: proxies do work of this end on one of the two paths; compare the sum";

/// A cell with its path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) path: &'a Path,
    pub(super) cell: &'a Cell,
}

impl Side<'_> {
    /// The proxies that the traffic passes: which sidecars, and whether a gateway.
    fn proxies(self) -> (MeshMode, bool) {
        if self.cell.bypasses_proxy {
            return (MeshMode::None, false);
        }
        (self.path.mesh, matches!(self.path.via, Via::Gateway(_)))
    }
}

/// A figure, by its index, over the rounds and against the baseline's cell; `None` where no round has it.
pub(super) fn estimate(figure: &Figure, index: usize, here: Side<'_>, baseline: Option<Side<'_>>) -> Option<Estimate> {
    let spread = figure.over(here.cell.values(index))?;
    let (ratio, note) = match baseline {
        Some(base) if figure.is_compared() => against(figure, index, here, base),
        _ => (None, String::new()),
    };
    Some(Estimate { name: figure.name, spread, ratio, note })
}

/// A figure against the baseline's, as far as the two paths let it be compared, and what is missing from that.
fn against(figure: &Figure, index: usize, here: Side<'_>, base: Side<'_>) -> (Option<RatioSummary>, String) {
    // Where connecting ends on the way, its time is that of another way than the baseline's.
    if figure.is_of_connecting() && (here.path.ends_connections() || base.path.ends_connections()) {
        return (None, CONNECTING_ENDS.to_owned());
    }
    let (ratio, note) = compare(figure, index, here.cell, base.cell);
    match ratio {
        Some(ratio) if figure.is_cpu_of_an_end() && here.proxies() != base.proxies() => {
            let notes = [TAKEN_OVER, &note].into_iter().filter(|text| !text.is_empty());
            (Some(RatioSummary { verdict: None, ..ratio }), notes.collect::<Vec<_>>().join("; "))
        }
        ratio => (ratio, note),
    }
}

/// The ratios of the rounds, and what is missing from them.
fn compare(figure: &Figure, index: usize, kept: &Cell, baseline: &Cell) -> (Option<RatioSummary>, String) {
    let pairs = kept.pairs(baseline, index);
    let why = [(pairs.apart, "the baseline is of another session"), (pairs.disturbed, "the testbed changed meanwhile")];
    let told = why.iter().filter(|(n, _)| *n > 0);
    let told = told.map(|(n, why)| format!("{} not compared: {why}", counted(*n as u64, "round", "rounds")));
    let apart = told.collect::<Vec<_>>().join("; ");
    match paired_ratio(&pairs.values) {
        Ok(ratio) => {
            let doubted = kept.generator_limited || baseline.generator_limited;
            let spread = Spread::with(ratio.median, ratio.interval, ratio.rounds);
            let verdict = verdict(figure.better, &ratio, figure.ratio_resolution(), doubted);
            (Some(RatioSummary { spread, verdict }), apart)
        }
        // That nothing was lost is what one hopes for, and no missing ratio.
        Err(NoRatio::Pair(_)) if figure.better == Better::Neither => (None, apart),
        Err(NoRatio::Pair(pair)) => {
            let (value, base) = pairs.values[pair];
            let what = if value > 0.0 { format!("the baseline is {base}") } else { value.to_string() };
            (None, format!("no ratio: {what} in round {}", pairs.rounds[pair]))
        }
        Err(NoRatio::NoPairs) => (None, apart),
    }
}
