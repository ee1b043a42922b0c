//! Batches of rounds: the 99th percentile is read from the samples of several rounds together.
//!
//! The 99th percentile of 30 answers is the slowest of them. Its median over many rounds is still
//! far below the 99th percentile of all answers. So some rounds in a row are one batch, with 10
//! samples beyond the percentile on average. Batches are compared as rounds are (batch means: C.
//! Alexopoulos and A. F. Seila, "Output Data Analysis", in: J. Banks (ed.), Handbook of Simulation,
//! 1998). How many rounds a batch has follows from the numbers of samples, never from their values.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_stats::Histogram;

use super::cell::Cell;

/// Samples that lie beyond a percentile in a batch, on average and at least.
const BEYOND: f64 = 10.0;
/// Samples that a batch has on average, at least.
pub(crate) const FEWEST_SAMPLES: u64 = 1000;
const PERCENTILE: f64 = 99.0;

/// Samples that a batch needs for a percentile.
pub(crate) fn fewest_samples(percentile: f64) -> u64 {
    (BEYOND * 100.0 / (100.0 - percentile)).round() as u64
}

/// How the rounds of a point were put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Batches {
    /// Rounds of a batch; the last of a session may have more.
    pub(crate) rounds: usize,
    /// Samples of the smallest batch.
    pub(crate) fewest: u64,
    /// Number of batches.
    pub(crate) count: usize,
}

/// Puts the rounds of a point's cells together if rounds have too few samples on average. The
/// figure `at`, a 99th percentile, is then known of each batch. Its value stands in one of the
/// batch's rounds, the same round in all cells. The other rounds of the batch have no value.
///
/// A cell that has too few samples in all its rounds together has one value, of all of them. `None`
/// if a round has enough on average, and if the samples of a round are not known.
pub(crate) fn pool(cells: &mut [&mut Cell], at: usize) -> Option<Batches> {
    let sessions = sessions(cells);
    let longest = sessions.values().map(Vec::len).sum();
    let needed: Vec<Option<usize>> =
        cells.iter().map(|cell| needed(cell)).collect::<Option<_>>()?;
    let size = needed.iter().copied().flatten().max().unwrap_or(longest);
    let is_short = |at: usize| needed[at].is_none() && !cells[at].rounds.is_empty();
    if size <= 1 && !(0..cells.len()).any(is_short) {
        return None;
    }
    let batches: Vec<Vec<u32>> =
        sessions.values().flat_map(|rounds| divided(rounds, size)).collect();
    let everything: Vec<Vec<u32>> = vec![batches.concat()];
    let places = |batches: &[Vec<u32>]| -> Vec<u32> {
        batches.iter().map(|batch| place(cells, batch)).collect()
    };
    let places = [places(&batches), places(&everything)];
    let mut out = Batches { rounds: size, fewest: u64::MAX, count: 0 };
    for (cell, needed) in cells.iter_mut().zip(needed) {
        let (batches, places) = match needed {
            Some(_) => (&batches, &places[0]),
            None => (&everything, &places[1]),
        };
        let pooled = batches.iter().map(|batch| samples(cell, batch)).collect::<Vec<_>>();
        cell.rounds.iter_mut().for_each(|round| round.figures[at] = f64::NAN);
        for (all, place) in pooled.iter().zip(places).filter(|(all, _)| !all.is_empty()) {
            out.fewest = out.fewest.min(all.count());
            cell.replace(*place, at, all.percentile(PERCENTILE) as f64);
        }
        out.count = out.count.max(batches.len());
    }
    Some(out)
}

/// A cell and its baseline for the comparison of the figure `at`, a 99th percentile, where the cell
/// was not in all rounds of the baseline: both from the cell's rounds alone, put together as they
/// need it. The baseline is that with its twin. `None` where the cell was in all of them. Rounds
/// must not be put together yet.
///
/// Else a value of the cell would be of fewer rounds than the baseline's. A percentile of less time
/// is another figure: rare slow moments are in it less often.
pub(crate) fn of_shared_rounds(
    here: &Cell,
    base: &Cell,
    twin: Option<&Cell>,
    at: usize,
) -> Option<(Cell, Cell)> {
    let rounds: BTreeSet<u32> = here.rounds.iter().map(|round| round.round).collect();
    if base.rounds.iter().all(|round| rounds.contains(&round.round)) {
        return None;
    }
    let (mut here, mut base) = (here.clone(), base.only(&rounds));
    let mut twin = twin.map(|twin| twin.only(&rounds));
    let all = [Some(&mut here), Some(&mut base), twin.as_mut()];
    pool(&mut all.into_iter().flatten().collect::<Vec<_>>(), at);
    let mut both = twin.map_or_else(|| base.clone(), |twin| base.with_twin(&twin));
    for cell in [&mut here, &mut both] {
        cell.rounds.iter_mut().for_each(|round| round.samples = None);
    }
    Some((here, both))
}

/// In how many of its undisturbed rounds a cell has enough samples; `Some(None)`: not even in all
/// of them. `None` where the samples of a round are not known.
#[allow(clippy::option_option, reason = "two questions: is it known, and is it enough")]
fn needed(cell: &Cell) -> Option<Option<usize>> {
    let (mut seen, mut rounds) = (0, 0);
    for round in &cell.rounds {
        let count = round.samples.as_ref()?.count;
        if !round.disturbed {
            (seen, rounds) = (seen + count, rounds + 1);
        }
    }
    let needed = (FEWEST_SAMPLES * rounds).div_ceil(seen.max(1)) as usize;
    Some((seen >= FEWEST_SAMPLES).then_some(needed))
}

/// The rounds of all cells by session, in order.
fn sessions(cells: &[&mut Cell]) -> BTreeMap<u32, Vec<u32>> {
    let mut out: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for round in cells.iter().flat_map(|cell| &cell.rounds) {
        out.entry(round.session).or_default().insert(round.round);
    }
    out.into_iter().map(|(session, rounds)| (session, rounds.into_iter().collect())).collect()
}

/// Rounds in batches of this size. What is left at the end belongs to the last one.
pub(crate) fn divided(rounds: &[u32], size: usize) -> Vec<Vec<u32>> {
    let whole = (rounds.len() / size).max(1);
    let end = |batch: usize| if batch + 1 == whole { rounds.len() } else { (batch + 1) * size };
    (0..whole).map(|batch| rounds[batch * size..end(batch)].to_vec()).collect()
}

/// The round of a batch that stands for it: the last of those that most cells have undisturbed.
fn place(cells: &[&mut Cell], batch: &[u32]) -> u32 {
    let have = |number: u32| {
        let has = |cell: &&&mut Cell| cell.of_round(number).is_some_and(|round| !round.disturbed);
        cells.iter().filter(has).count()
    };
    batch.iter().copied().max_by_key(|number| (have(*number), *number)).unwrap_or_default()
}

/// The samples of a cell in the rounds of a batch in which the testbed did not change.
fn samples(cell: &Cell, batch: &[u32]) -> Histogram {
    let mut out = Histogram::new();
    let rounds = batch.iter().filter_map(|number| cell.of_round(*number));
    let seen = rounds.filter(|round| !round.disturbed).filter_map(|round| round.samples.as_ref());
    seen.for_each(|samples| samples.add_to(&mut out));
    out
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Record, fixture};

    use super::*;
    use crate::figures::{Intent, Kind, Percentile, kinds};

    fn kind() -> &'static Kind {
        kinds::of("rr", Intent::Most)
    }

    fn p99() -> usize {
        kind().latency(Percentile::P99).unwrap()
    }

    /// A cell whose round `n` saw `count` answers of n us.
    fn cell(counts: &[u64]) -> Cell {
        let mut cell = Cell::new(false);
        for (round, count) in (1..).zip(counts) {
            let mut seen = Histogram::new();
            (0..*count).for_each(|_| seen.record(u64::from(round) * 1000));
            let mut record = Record { round, ..fixture::record(&[]) };
            record.latency.insert("service_ns".to_owned(), seen.summary());
            cell.add(&record, kind(), false);
        }
        cell
    }

    fn known(cell: &Cell) -> Vec<(u32, u64)> {
        let (rounds, values) = cell.values(p99());
        rounds.into_iter().zip(values.into_iter().map(|ns| (ns / 1000.0).round() as u64)).collect()
    }

    #[test]
    fn ten_samples_lie_beyond_a_percentile() {
        assert_eq!(fewest_samples(PERCENTILE), FEWEST_SAMPLES);
        assert_eq!([99.9, 99.99].map(fewest_samples), [10_000, 100_000]);
    }

    #[test]
    fn rounds_with_enough_samples_stay_as_they_are() {
        let mut cells = [cell(&[1000, 1500, 1000]), cell(&[5000, 5000, 5000])];
        let [a, b] = &mut cells;
        assert_eq!(pool(&mut [a, b], p99()), None);
        assert_eq!(known(&cells[0]), [(1, 1), (2, 2), (3, 3)]);
    }

    #[test]
    fn the_cell_with_the_fewest_samples_says_how_many_rounds_are_a_batch() {
        let mut cells = [cell(&[5000; 7]), cell(&[400; 7])];
        let [a, b] = &mut cells;
        // Three rounds of 400 are enough; the seventh goes to the second batch.
        assert_eq!(pool(&mut [a, b], p99()), Some(Batches { rounds: 3, fewest: 1200, count: 2 }));
        for cell in &cells {
            assert_eq!(known(cell), [(3, 3), (7, 7)], "the 99th of 1200 answers is of the last");
        }
    }

    #[test]
    fn a_cell_with_too_few_in_all_has_one_value_and_others_keep_theirs() {
        let mut cells = [cell(&[2000; 4]), cell(&[10; 4])];
        let [a, b] = &mut cells;
        assert_eq!(pool(&mut [a, b], p99()), Some(Batches { rounds: 1, fewest: 40, count: 4 }));
        assert_eq!(known(&cells[0]), [(1, 1), (2, 2), (3, 3), (4, 4)]);
        assert_eq!(known(&cells[1]), [(4, 4)]);
    }

    #[test]
    fn sessions_are_not_mixed_and_disturbed_rounds_stand_for_nothing() {
        let mut one = cell(&[500; 6]);
        one.rounds[3].session = 2;
        one.rounds[4].session = 2;
        one.rounds[5].session = 2;
        one.rounds[5].disturbed = true;
        let pooled = pool(&mut [&mut one], p99());
        assert_eq!(pooled, Some(Batches { rounds: 2, fewest: 1000, count: 2 }));
        assert_eq!(known(&one), [(3, 3), (5, 5)]);
    }

    #[test]
    fn a_cell_that_rested_is_compared_over_its_own_rounds() {
        let base = cell(&[500; 8]);
        assert!(of_shared_rounds(&cell(&[500; 8]), &base, None, p99()).is_none());
        let here = cell(&[500; 8]).only(&[1, 2, 5, 8].into());
        let (here, both) = of_shared_rounds(&here, &base, Some(&base), p99()).unwrap();
        // Two rounds are a batch: 1 and 2, 5 and 8.
        assert_eq!(known(&here), [(2, 2), (8, 8)]);
        assert_eq!(known(&both), [(2, 2), (8, 8)]);
        // A round has all three figures, each of its own samples.
        let pairs = here.pairs(&both, p99());
        assert!(pairs.values.len() == 2 && pairs.rounds == [2, 8]);
        assert!(pairs.values.iter().all(|pair| pair.twin == Some(pair.baseline)), "{pairs:?}");
        // Rounds that have enough stay by themselves.
        let base = cell(&[2000; 4]);
        let (here, both) =
            of_shared_rounds(&base.only(&[2, 3].into()), &base, None, p99()).unwrap();
        assert_eq!((known(&here), known(&both)), (vec![(2, 2), (3, 3)], vec![(2, 2), (3, 3)]));
    }

    #[test]
    fn what_is_not_known_is_not_pooled() {
        let mut one = cell(&[10, 10]);
        one.rounds[1].samples = None;
        assert_eq!(pool(&mut [&mut one], p99()), None);
        assert_eq!(known(&one), [(1, 1), (2, 2)]);
        assert_eq!(pool(&mut [], p99()), None);
    }
}
