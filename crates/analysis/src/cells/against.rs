//! A figure of a cell, and the question of how it compares with the baseline's.

use hopbench_model::number::counted;
use hopbench_model::{MeshMode, Path, Via};
use hopbench_stats::{
    Evidence, NoRatio, Question, RoundPair, Stop, noise_floor, paired, sure_floor,
};

use super::cell::Cell;
use super::{nodes, outliers};
use crate::figures::{Better, Figure, Kind};
use crate::summary::{CONNECTING_ENDS, Estimate, RatioSummary, Spread, Verdict};

/// Why the CPU time of an end has no verdict.
const TAKEN_OVER: &str =
    "no verdict: proxies do work of this end on one of the two paths; compare the sum";

/// A cell with its path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PathCell<'a> {
    pub(crate) path: &'a Path,
    pub(crate) cell: &'a Cell,
}

impl PathCell<'_> {
    /// The proxies that the traffic passes: which sidecars, and whether a gateway.
    fn proxies(self) -> (MeshMode, bool) {
        if self.cell.bypasses_proxy {
            return (MeshMode::None, false);
        }
        (self.path.mesh, matches!(self.path.via, Via::Gateway(_)))
    }
}

/// The other side of a cell's comparison.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Against<'a> {
    /// The baseline's cell of the same point.
    pub(crate) base: PathCell<'a>,
    /// The cell and the baseline over the rounds of a cell that rested, for its 99th percentile.
    pub(crate) rested: Option<&'a (Cell, Cell)>,
    /// The floors of each figure of the kind, at this point.
    pub(crate) floors: &'a [Option<Floor>],
    /// Whether the cell is the twin's.
    pub(crate) is_twin: bool,
    /// Differences below this share are of no interest.
    pub(crate) minimum_effect: f64,
}

/// By how much the baseline and its twin differ in a figure, as shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Floor {
    /// However sure.
    pub(crate) seen: f64,
    /// As far as it is sure: 0 where it may be chance.
    pub(crate) sure: f64,
}

/// A figure whose comparison is open: all questions of a run are answered together.
#[derive(Debug)]
pub(crate) struct OpenEstimate {
    pub(crate) estimate: Estimate,
    /// `None` where no verdict is to come.
    pub(crate) question: Option<(Better, Question)>,
}

/// By how much the baseline and its twin differ in each figure of their kind; `None` where they
/// have no ratio.
pub(crate) fn floors(kind: &Kind, twin: &Cell, base: &Cell) -> Vec<Option<Floor>> {
    let floor = |index: usize| {
        let same = [paired(&twin.pairs(base, index).values).ok()?];
        Some(Floor { seen: noise_floor(&same)?, sure: sure_floor(&same)? })
    };
    (0..kind.figures.len()).map(floor).collect()
}

/// A figure, by its index, over the rounds and against the baseline's cell; `None` where no round
/// has it. `stop`: the rounds ended when this figure was sure enough.
pub(crate) fn asked(
    figure: &Figure,
    index: usize,
    here: PathCell<'_>,
    against: Option<Against<'_>>,
    stop: Option<&Stop>,
) -> Option<OpenEstimate> {
    let (rounds, values) = here.cell.values(index);
    // What has no good direction scatters as it likes.
    let marked = figure.is_compared() && figure.better != Better::Neither;
    let outliers = if marked { outliers::of(&rounds, &values) } else { Vec::new() };
    let mut spread = figure.over(values, stop)?;
    if figure.is_of_nodes() && nodes::has_short_windows(here.cell) {
        spread = nodes::summed(here.cell.windows(index))?;
    }
    let mut out = OpenEstimate {
        estimate: Estimate {
            name: figure.name,
            spread,
            outliers,
            ratio: None,
            note: String::new(),
        },
        question: None,
    };
    if let Some(against) = against.filter(|_| figure.is_compared()) {
        compare(&mut out, figure, index, here, against);
    }
    Some(out)
}

/// A figure against the baseline's, as far as the two paths let it be compared, and what is missing
/// from that.
fn compare(
    out: &mut OpenEstimate,
    figure: &Figure,
    index: usize,
    here: PathCell<'_>,
    against: Against<'_>,
) {
    let base = against.base;
    // Where connecting ends on the way, its time is that of another way than the baseline's.
    if figure.is_of_connecting() && (here.path.ends_connections() || base.path.ends_connections()) {
        out.estimate.note = CONNECTING_ENDS.to_owned();
        return;
    }
    let saturated = Verdict::saturated(here.cell.saturated_per_s(), base.cell.saturated_per_s());
    if let Some(verdict) = saturated.filter(|_| figure.is_latency()) {
        out.estimate.ratio = (!against.is_twin).then(|| RatioSummary::without(verdict));
        return;
    }
    let rested = against.rested.filter(|_| figure.is_far_percentile());
    let (kept, baseline) =
        rested.map_or((here.cell, base.cell), |(kept, baseline)| (kept, baseline));
    let (evidence, missing) = evidence(figure, index, kept, baseline);
    out.estimate.note = missing;
    let Some(evidence) = evidence else {
        return;
    };
    let floor = against.floors.get(index).copied().flatten();
    let mut ratio = RatioSummary {
        spread: Some(Spread::with(evidence.ratio, evidence.interval, evidence.rounds)),
        p: None,
        q: None,
        test: None,
        noise_floor: floor.map(|floor| floor.seen),
        verdict: None,
    };
    if against.is_twin || figure.better == Better::Neither {
        // It is the noise, or there is no word for a difference.
    } else if figure.is_cpu_of_an_end() && here.proxies() != base.proxies() {
        let notes = [TAKEN_OVER, &out.estimate.note].into_iter().filter(|text| !text.is_empty());
        out.estimate.note = notes.collect::<Vec<_>>().join("; ");
    } else if evidence.interval.is_some()
        && (here.cell.is_generator_limited() || base.cell.is_generator_limited())
    {
        ratio.verdict = Some(Verdict::generator());
    } else {
        let (minimum_effect, resolution) = (against.minimum_effect, figure.ratio_resolution());
        let noise_floor = floor.map(|floor| floor.sure);
        out.question =
            Some((figure.better, Question { evidence, minimum_effect, noise_floor, resolution }));
    }
    out.estimate.ratio = Some(ratio);
}

/// The ratios of the rounds, and what is missing from them.
pub(crate) fn evidence(
    figure: &Figure,
    index: usize,
    kept: &Cell,
    baseline: &Cell,
) -> (Option<Evidence>, String) {
    let pairs = kept.pairs(baseline, index);
    let why = [
        (pairs.apart, "the baseline is of another session"),
        (pairs.disturbed, "the testbed changed meanwhile"),
    ];
    let told = why.iter().filter(|(n, _)| *n > 0);
    let told = told
        .map(|(n, why)| format!("{} not compared: {why}", counted(*n as u64, "round", "rounds")));
    let apart = told.collect::<Vec<_>>().join("; ");
    match paired(&pairs.values) {
        Ok(evidence) => (Some(evidence), apart),
        // That nothing was lost is what one hopes for, and no missing ratio.
        Err(NoRatio::Pair(_)) if figure.better == Better::Neither => (None, apart),
        Err(NoRatio::Pair(pair)) => {
            let RoundPair { value, baseline, .. } = pairs.values[pair];
            let what =
                if value > 0.0 { format!("the baseline is {baseline}") } else { value.to_string() };
            (None, format!("no ratio: {what} in round {}", pairs.rounds[pair]))
        }
        Err(NoRatio::NoPairs) => (None, apart),
    }
}
