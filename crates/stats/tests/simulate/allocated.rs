//! Runs whose rounds go to what is open: false alarms, false words of sameness, and what is won.

use hopbench_stats::{Judgement, Question, Random, is_look, is_settled, judge, paired};

use super::noise::{heavy, normal};
use super::tell;

const RUNS: usize = 400;
/// Comparisons of a run: half of them without a difference.
const CELLS: usize = 24;
/// Trials that there is time for.
const TRIALS: usize = CELLS * 24;
/// A settled comparison is in one of so many rounds.
const EVERY: u32 = 4;

/// A comparison with a difference and a scatter of its own.
struct Compared {
    log: f64,
    scatter: f64,
    pairs: Vec<(f64, f64)>,
    is_settled: bool,
}

impl Compared {
    fn question(&self) -> Question {
        let evidence = paired(&self.pairs).expect("rounds");
        Question { evidence, minimum_effect: 0.0, noise_floor: None, resolution: 0.0 }
    }
}

/// What became of a run: comparisons without a difference that were called, words of sameness that
/// are false, and true differences of 2 % or more that were found; with how many there were.
#[derive(Default)]
struct Tally {
    called: usize,
    none: usize,
    false_same: usize,
    same: usize,
    found: usize,
    differ: usize,
}

fn run(allocates: bool, tails: fn(&mut Random) -> f64, random: &mut Random, tally: &mut Tally) {
    let mut all: Vec<Compared> = (0..CELLS)
        .map(|at| Compared {
            // None, 2, 4, 6, 10, 30 %, and ten times.
            log: [0.0, 0.02, 0.0, 0.04, 0.0, 0.06, 0.0, 0.1, 0.0, 0.3, 0.0, 2.3][at % 12],
            scatter: [0.02, 0.05, 0.1, 0.2][at % 4],
            pairs: Vec::new(),
            is_settled: false,
        })
        .collect();
    let (mut left, mut round) = (TRIALS, 0);
    'rounds: loop {
        round += 1;
        if allocates && is_look(round) {
            for one in &mut all {
                one.is_settled = is_settled(&one.question());
            }
            // No other one needs the time.
            if all.iter().all(|one| one.is_settled) {
                all.iter_mut().for_each(|one| one.is_settled = false);
            }
        }
        for one in all.iter_mut().filter(|one| !one.is_settled || round % EVERY == 0) {
            if left == 0 {
                break 'rounds;
            }
            left -= 1;
            one.pairs.push(((one.log + one.scatter * tails(random)).exp(), 1.0));
        }
    }
    for one in &all {
        // Each by itself: the corrections for many are simulated elsewhere.
        let judgement = judge(&[one.question()])[0].judgement;
        let is_called = matches!(judgement, Judgement::Higher | Judgement::Lower);
        if let Judgement::Same { within } = judgement {
            tally.same += 1;
            tally.false_same += usize::from(one.log.exp_m1() > within);
        }
        if one.log == 0.0 {
            tally.none += 1;
            tally.called += usize::from(is_called);
        } else {
            tally.differ += 1;
            tally.found += usize::from(judgement == Judgement::Higher);
        }
    }
}

#[test]
fn rounds_for_what_is_open_raise_no_false_alarms_and_find_more() {
    tell("| rounds | noise | A/A called, % | false same, % | true differences found, % |");
    for (name, tails) in [("Normal", normal as fn(&mut Random) -> f64), ("Heavy", heavy)] {
        let mut found = Vec::new();
        for allocates in [false, true] {
            let (mut random, mut tally) = (Random::new(77), Tally::default());
            (0..RUNS).for_each(|_| run(allocates, tails, &mut random, &mut tally));
            let share = |part: usize, all: usize| part as f64 / all as f64;
            let called = share(tally.called, tally.none);
            let false_same = share(tally.false_same, tally.same);
            found.push(share(tally.found, tally.differ));
            let how = if allocates { "allocated" } else { "equal" };
            tell(&format!(
                "| {how} | {name} | {:.1} | {:.1} | {:.1} |",
                100.0 * called,
                100.0 * false_same,
                100.0 * found[found.len() - 1],
            ));
            // 4800 comparisons know 5 % to 0.3 %.
            assert!((0.02..=0.056).contains(&called), "{name}, {how}: {called}");
            assert!(tally.same > 1000 && false_same <= 0.05, "{name}, {how}: {false_same}");
        }
        assert!(found[1] > found[0] + 0.02, "{name}: {found:?}");
    }
}
