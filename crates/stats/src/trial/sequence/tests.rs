use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

/// What the documentation says, with unbounded memory.
#[derive(Default)]
struct Model {
    seen: HashSet<u64>,
    highest: Option<u64>,
}

impl Model {
    fn observe(&mut self, seq: u64) -> Observation {
        let known = !self.seen.insert(seq);
        match self.highest {
            Some(highest) if seq > highest => {}
            None => {}
            Some(highest) if highest - seq >= WINDOW => return Observation::Late,
            Some(_) if known => return Observation::Duplicate,
            Some(_) => return Observation::Reordered,
        }
        self.highest = Some(seq);
        Observation::New
    }
}

fn check(numbers: impl IntoIterator<Item = u64>) -> Result<(), TestCaseError> {
    let mut tracker = SequenceTracker::new();
    let mut model = Model::default();
    let mut observed = Vec::new();
    for (at, seq) in numbers.into_iter().enumerate() {
        let expected = model.observe(seq);
        prop_assert_eq!(tracker.observe(seq), expected, "arrival {}, number {}", at, seq);
        observed.push(expected);
    }
    let count = |wanted| observed.iter().filter(|o| **o == wanted).count() as u64;
    let late = count(Observation::Late);
    prop_assert_eq!(tracker.duplicates(), count(Observation::Duplicate));
    prop_assert_eq!(tracker.reordered(), count(Observation::Reordered) + late);
    prop_assert_eq!(tracker.received(), count(Observation::New) + tracker.reordered());
    Ok(())
}

#[test]
fn nothing_yet() {
    let tracker = SequenceTracker::new();
    assert_eq!((tracker.received(), tracker.reordered(), tracker.duplicates()), (0, 0, 0));
    assert_eq!((tracker.lost(0), tracker.lost(7)), (0, 7));
}

#[test]
fn each_word_means_what_it_says() {
    let mut tracker = SequenceTracker::new();
    let observed = [0, 1, 4, 3, 3, 4, 70_000, 4_465, 4_464, 4_464].map(|n| tracker.observe(n));
    use Observation::{Duplicate, Late, New, Reordered};
    let expected = [New, New, New, Reordered, Duplicate, Duplicate, New, Reordered, Late, Late];
    assert_eq!(observed, expected);
    assert_eq!((tracker.received(), tracker.reordered(), tracker.duplicates()), (8, 4, 2));
    assert_eq!(tracker.lost(70_001), 70_001 - 8);
}

#[test]
fn a_long_flow_in_order_loses_nothing() {
    let mut tracker = SequenceTracker::new();
    let sent = 3 * WINDOW + 17;
    assert!((0..sent).all(|seq| tracker.observe(seq) == Observation::New));
    assert_eq!((tracker.received(), tracker.lost(sent)), (sent, 0));
    assert!((sent - WINDOW..sent).all(|seq| tracker.observe(seq) == Observation::Duplicate));
    assert_eq!((tracker.received(), tracker.duplicates()), (sent, WINDOW));
}

#[test]
fn the_highest_number_there_is() {
    let mut tracker = SequenceTracker::new();
    let numbers = [u64::MAX - 1, u64::MAX, u64::MAX, 0];
    use Observation::{Duplicate, Late, New};
    assert_eq!(numbers.map(|n| tracker.observe(n)), [New, New, Duplicate, Late]);
}

#[test]
fn a_gap_clears_exactly_what_it_must() {
    let short = [1, 2, 3, 62, 63, 64, 65, 66, 127, 128, 129];
    for gap in short.into_iter().chain(WINDOW - 2..=WINDOW + 2).chain([2 * WINDOW]) {
        for alignment in [0, 40] {
            let filled = WINDOW + alignment;
            let jump = filled - 1 + gap;
            // Every number that the window may still hold, and some that it does not.
            let old = jump.saturating_sub(WINDOW + 5)..=jump;
            check((0..filled).chain([jump]).chain(old)).unwrap();
        }
    }
}

proptest! {
    #[test]
    fn it_agrees_with_a_set(
        start in 0u64..3 * WINDOW,
        steps in prop::collection::vec(
            prop_oneof![
                4 => Just(1),
                3 => -20i64..20,
                1 => -70_000i64..70_000,
                1 => 65_530i64..65_542,
                1 => -65_542i64..-65_530,
                1 => prop::sample::select(vec![63, 64, 65, 65_536, 131_072, -65_536]),
            ],
            0..400,
        ),
    ) {
        let mut number = start;
        check(steps.into_iter().map(|step| {
            number = number.saturating_add_signed(step);
            number
        }))?;
    }

    #[test]
    fn it_agrees_with_a_set_on_any_numbers(numbers: Vec<u64>) {
        check(numbers)?;
    }

    /// A network that drops, doubles and delays, whose doings are known.
    #[test]
    fn what_the_network_did_is_what_is_counted(
        fates in prop::collection::vec((0usize..4, 0u64..50), 1..500),
    ) {
        let sent = fates.len() as u64;
        let mut arrivals: Vec<(u64, u64)> = Vec::new();
        for (seq, (copies, delay)) in (0u64..).zip(&fates) {
            arrivals.extend((0..*copies as u64).map(|copy| (seq + delay + copy, seq)));
        }
        arrivals.sort_unstable();
        let mut tracker = SequenceTracker::new();
        arrivals.iter().for_each(|(_, seq)| { tracker.observe(*seq); });
        let lost = fates.iter().filter(|(copies, _)| *copies == 0).count() as u64;
        prop_assert_eq!(tracker.lost(sent), lost);
        prop_assert_eq!(tracker.received(), sent - lost);
        prop_assert_eq!(tracker.duplicates(), arrivals.len() as u64 - (sent - lost));
    }
}
