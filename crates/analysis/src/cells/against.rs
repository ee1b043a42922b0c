//! A figure of a cell, and the question of how it compares with the baseline's.

use hopbench_model::number::counted;
use hopbench_model::{MeshMode, Path, Via};
use hopbench_stats::{
    Evidence, NoRatio, Question, RoundPair, Stop, Zeros, noise_floor, paired, paired_rates,
    sure_floor,
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
    let floor = |(index, figure): (usize, &Figure)| {
        let same = [evidence_of(figure, &twin.pairs(base, index).values).ok()?];
        Some(Floor { seen: noise_floor(&same)?, sure: sure_floor(&same)? })
    };
    kind.figures.iter().enumerate().map(floor).collect()
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
    } else if (evidence.interval.is_some() || evidence.zeros.is_some())
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

/// What rounds say of a figure. A rate of 0 is a figure like any other: nothing came. Any other
/// figure that is 0 has no ratio.
pub(crate) fn evidence_of(figure: &Figure, pairs: &[RoundPair]) -> Result<Evidence, NoRatio> {
    if figure.is_rate() {
        return paired_rates(pairs);
    }
    // A twin without the figure says nothing against the baseline's.
    let known =
        |pair: &RoundPair| RoundPair { twin: pair.twin.filter(|twin| *twin > 0.0), ..*pair };
    paired(&pairs.iter().map(known).collect::<Vec<_>>())
}

/// The ratios of the rounds, and what is missing from them.
pub(crate) fn evidence(
    figure: &Figure,
    index: usize,
    kept: &Cell,
    baseline: &Cell,
) -> (Option<Evidence>, String) {
    let pairs = kept.pairs(baseline, index);
    let found = evidence_of(figure, &pairs.values);
    let zeros = found.as_ref().ok().and_then(|evidence| evidence.zeros);
    // Of a batch of rounds one has the figure, and that is all.
    let is_told = figure.is_latency() && !figure.is_far_percentile() && !pairs.values.is_empty();
    let without = if is_told { pairs.without } else { [0; 2] };
    let why = [
        (pairs.apart, "the baseline is of another session"),
        (pairs.disturbed, "the testbed changed meanwhile"),
        (without[0], "nothing was measured"),
        (without[1], "nothing was measured on the baseline"),
        (zeros.map_or(0, |zeros| zeros.left_out), "all are 0"),
    ];
    let told = why.iter().filter(|(n, _)| *n > 0);
    let told = told
        .map(|(n, why)| format!("{} not compared: {why}", counted(*n as u64, "round", "rounds")));
    let missing = zeros.map(|zeros| standing(&zeros)).into_iter().chain(told);
    let missing = missing.collect::<Vec<_>>().join("; ");
    match found {
        Ok(evidence) => (Some(evidence), missing),
        // That nothing was lost is what one hopes for, and no missing ratio.
        Err(NoRatio::Pair(_)) if figure.better == Better::Neither => (None, missing),
        Err(NoRatio::Pair(pair)) => {
            let RoundPair { value, baseline, .. } = pairs.values[pair];
            let what =
                if value > 0.0 { format!("the baseline is {baseline}") } else { value.to_string() };
            (None, format!("no ratio: {what} in round {}", pairs.rounds[pair]))
        }
        Err(NoRatio::NoPairs) => (None, missing),
    }
}

/// How often a rate was 0.
fn standing(zeros: &Zeros) -> String {
    format!(
        "0 in {} of {} trials, the baseline in {} of {}",
        zeros.path, zeros.path_trials, zeros.baseline, zeros.baseline_trials
    )
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Record, fixture};
    use hopbench_stats::Histogram;

    use super::*;
    use crate::figures::{Intent, Percentile, kinds};

    /// A cell of `rr` whose rounds have these rates and, where it is above 0, a latency.
    fn cell(rates: &[f64]) -> Cell {
        let kind = kinds::of("rr", Intent::Most);
        let mut cell = Cell::new(false);
        for (round, rate) in (1..).zip(rates) {
            let mut record = Record { round, ..fixture::record(&[("requests_per_s", *rate)]) };
            let mut seen = Histogram::new();
            if *rate > 0.0 {
                seen.record((1e9 / rate) as u64);
            }
            record.latency.insert("service_ns".to_owned(), seen.summary());
            cell.add(&record, kind, false);
        }
        cell
    }

    fn told(here: &Cell, base: &Cell, name: &str) -> (Option<Evidence>, String) {
        let kind = kinds::of("rr", Intent::Most);
        let index = kind.figures.iter().position(|figure| figure.name == name).unwrap();
        evidence(&kind.figures[index], index, here, base)
    }

    #[test]
    fn a_rate_of_0_is_compared_and_a_latency_without_samples_is_left_out() {
        let (mut here, mut base) = ([500.0; 12], [1000.0; 12]);
        (here[2], here[7], base[7], base[9]) = (0.0, 0.0, 0.0, 0.0);
        let (here, base) = (cell(&here), cell(&base));
        let (found, note) = told(&here, &base, "requests_per_s");
        let found = found.unwrap();
        assert_eq!(found.rounds, 11);
        assert!((found.ratio - 0.5).abs() < 1e-9, "{found:?}");
        assert_eq!(
            note,
            "0 in 2 of 12 trials, the baseline in 2 of 12; 1 round not compared: all are 0"
        );
        let (found, note) = told(&here, &base, "service_p50_ns");
        assert_eq!(found.unwrap().rounds, 9);
        assert_eq!(
            note,
            "2 rounds not compared: nothing was measured; 1 round not compared: nothing was \
             measured on the baseline"
        );
        let p99 = kinds::of("rr", Intent::Most).latency(Percentile::P99).unwrap();
        let (_, note) = evidence(&kinds::of("rr", Intent::Most).figures[p99], p99, &here, &base);
        assert_eq!(note, "", "of a batch one round has it");
    }

    #[test]
    fn a_twin_of_0_counts_where_the_figure_is_a_rate() {
        let (here, base, mut twin) = (cell(&[500.0; 9]), cell(&[500.0; 9]), [500.0; 9]);
        twin[4] = 0.0;
        let both = base.with_twin(&cell(&twin));
        let (found, note) = told(&here, &both, "requests_per_s");
        assert_eq!(found.unwrap().zeros.map(|zeros| zeros.baseline), Some(1));
        assert_eq!(note, "0 in 0 of 9 trials, the baseline in 1 of 18");
        // In that round the latency is compared with the baseline alone.
        let (found, note) = told(&here, &both, "service_p50_ns");
        assert_eq!((found.unwrap().rounds, note.as_str()), (9, ""));
    }

    #[test]
    fn where_nothing_ever_came_there_is_no_ratio() {
        let (found, note) = told(&cell(&[0.0; 4]), &cell(&[0.0; 4]), "requests_per_s");
        assert_eq!((found, note.as_str()), (None, "no ratio: 0 in round 1"));
    }
}
