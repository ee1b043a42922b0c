//! A bounded queue of newcomers, in which one source displaces only its own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{Nanos, Source};

/// When a newcomer came, and from where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin {
    /// Ascending in the order in which they came.
    pub(crate) number: u64,
    pub(crate) source: Source,
    /// Monotonic, ns.
    pub(crate) since: Nanos,
}

/// Newcomers by number. One too many displaces the oldest of the source that has the most; of
/// several such sources, the one whose oldest is the oldest of all.
#[derive(Debug)]
pub(crate) struct FairQueue<T> {
    members: BTreeMap<u64, (Origin, T)>,
    sources: BTreeMap<Source, SourceMembers>,
    /// How many a source has, and its oldest: the last is the next to go.
    ranks: BTreeMap<(usize, Reverse<u64>), Source>,
    /// Whose turn it is, the next one first: in the order in which sources came, and had one.
    turns: BTreeMap<u64, Source>,
}

/// The newcomers of one source.
#[derive(Debug)]
struct SourceMembers {
    /// Its place in the order of turns.
    turn: u64,
    numbers: BTreeSet<u64>,
}

impl<T> FairQueue<T> {
    pub(crate) fn new() -> Self {
        Self {
            members: BTreeMap::new(),
            sources: BTreeMap::new(),
            ranks: BTreeMap::new(),
            turns: BTreeMap::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// The number of connections from there.
    #[cfg(test)]
    pub(crate) fn of(&self, source: Source) -> usize {
        self.sources.get(&source).map_or(0, |own| own.numbers.len())
    }

    /// Takes one in; those that have to go for it, so that there are at most `most`.
    pub(crate) fn add(&mut self, origin: Origin, member: T, most: usize) -> Vec<(Origin, T)> {
        self.members.insert(origin.number, (origin, member));
        self.change(origin.source, |numbers| numbers.insert(origin.number));
        let mut gone = Vec::new();
        while self.len() > most.max(1) {
            gone.extend(self.displace());
        }
        gone
    }

    pub(crate) fn get(&self, number: u64) -> Option<&T> {
        self.members.get(&number).map(|(_, member)| member)
    }

    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.members.get_mut(&number).map(|(_, member)| member)
    }

    pub(crate) fn remove(&mut self, number: u64) -> Option<(Origin, T)> {
        let (origin, member) = self.members.remove(&number)?;
        self.change(origin.source, |numbers| numbers.remove(&number));
        Some((origin, member))
    }

    /// Removes the one that has to go first.
    pub(crate) fn displace(&mut self) -> Option<(Origin, T)> {
        let (_, source) = self.ranks.last_key_value()?;
        let oldest = *self.sources.get(source)?.numbers.first()?;
        self.remove(oldest)
    }

    /// Removes the oldest of a source that has more than `most`, if others have some, too.
    pub(crate) fn displace_of(&mut self, source: Source, most: usize) -> Option<(Origin, T)> {
        let own = self.sources.get(&source).filter(|own| own.numbers.len() > most)?;
        let oldest = *own.numbers.first().filter(|_| self.sources.len() > 1)?;
        self.remove(oldest)
    }

    /// Removes the oldest of the source whose turn it is. Those that have some take turns: a source
    /// that is new, or had its turn, goes behind all others.
    pub(crate) fn pop_turn(&mut self) -> Option<(Origin, T)> {
        let (_, source) = self.turns.pop_first()?;
        let last = self.last_turn();
        let own = self.sources.get_mut(&source)?;
        own.turn = last;
        let oldest = *own.numbers.first()?;
        self.turns.insert(last, source);
        self.remove(oldest)
    }

    /// The turn behind all others.
    fn last_turn(&self) -> u64 {
        self.turns.last_key_value().map_or(0, |(turn, _)| turn + 1)
    }

    /// Removes the one that came first.
    pub(crate) fn pop_first(&mut self) -> Option<(Origin, T)> {
        let first = *self.members.first_key_value()?.0;
        self.remove(first)
    }

    /// When the one came that came first.
    pub(crate) fn first_since(&self) -> Option<Nanos> {
        self.members.first_key_value().map(|(_, (origin, _))| origin.since)
    }

    fn change(&mut self, source: Source, how: impl FnOnce(&mut BTreeSet<u64>) -> bool) {
        let turn = self.last_turn();
        let own = self.sources.entry(source).or_insert_with(|| {
            self.turns.insert(turn, source);
            SourceMembers { turn, numbers: BTreeSet::new() }
        });
        if let Some(rank) = rank(&own.numbers) {
            self.ranks.remove(&rank);
        }
        how(&mut own.numbers);
        if let Some(rank) = rank(&own.numbers) {
            self.ranks.insert(rank, source);
        } else if let Some(gone) = self.sources.remove(&source) {
            self.turns.remove(&gone.turn);
        }
    }
}

fn rank(numbers: &BTreeSet<u64>) -> Option<(usize, Reverse<u64>)> {
    numbers.first().map(|first| (numbers.len(), Reverse(*first)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(number: u64, source: u32) -> Origin {
        Origin { number, source: Source::V4(source), since: number }
    }

    #[test]
    fn one_source_displaces_its_own_and_its_oldest() {
        let mut queue = FairQueue::new();
        assert!(queue.add(origin(0, 1), (), 3).is_empty());
        let gone: Vec<u64> = (1..10)
            .flat_map(|n| queue.add(origin(n, 2), (), 3))
            .map(|(origin, ())| origin.number)
            .collect();
        assert_eq!(gone, (1..8).collect::<Vec<_>>(), "whoever came first from elsewhere stays");
        assert!(queue.get(0).is_some());
        assert_eq!((queue.len(), queue.first_since()), (3, Some(0)));
        assert_eq!(queue.pop_first().unwrap().0.number, 0);
        assert_eq!(queue.remove(9).unwrap().0.number, 9);
        assert_eq!(queue.displace().unwrap().0.number, 8);
        assert!(queue.displace().is_none() && queue.sources.is_empty() && queue.ranks.is_empty());
        assert!(queue.turns.is_empty());
    }

    #[test]
    fn sources_take_turns_however_many_they_have() {
        let mut queue = FairQueue::new();
        for (number, source) in (0..).zip([1, 1, 1, 3, 3, 2]) {
            queue.add(origin(number, source), (), 10);
        }
        let turns: Vec<u64> =
            std::iter::from_fn(|| queue.pop_turn()).map(|(origin, ())| origin.number).collect();
        assert_eq!(turns, [0, 3, 5, 1, 4, 2]);
        assert!(queue.turns.is_empty() && queue.sources.is_empty());
    }

    #[test]
    fn sources_that_are_ever_new_keep_no_other_waiting() {
        for honest in [0, 1_000_000] {
            let mut queue = FairQueue::new();
            (0..3).for_each(|number| drop(queue.add(origin(number, 1000), (), 10)));
            queue.add(origin(3, honest), (), 10);
            // With each turn comes another one, from the address behind or before the last one.
            let turns: Vec<u64> = (0..4)
                .map(|n| {
                    let next = if honest == 0 { 999 - n } else { 1001 + n };
                    queue.add(origin(4 + u64::from(n), next), (), 10);
                    queue.pop_turn().unwrap().0.number
                })
                .collect();
            assert_eq!(turns, [0, 3, 4, 1], "the honest one has waited for one turn");
        }
    }

    /// One source comes ten times as often as another, and more often than there are turns.
    #[test]
    fn a_source_that_floods_costs_another_one_turn_each_time() {
        const MOST: usize = 32;
        let (mut queue, mut next) = (FairQueue::new(), 0);
        let mut come = |queue: &mut FairQueue<()>, source| {
            next += 1;
            let gone = queue.add(origin(next, source), (), MOST);
            assert!(gone.iter().all(|(origin, ())| origin.source == Source::V4(1)));
            next
        };
        for step in 0..1000 {
            for _ in 0..10 {
                come(&mut queue, 1);
            }
            let honest = come(&mut queue, 2);
            let turns = [(); 2].map(|()| queue.pop_turn().unwrap().0.number);
            assert!(turns.contains(&honest), "step {step}: {honest} is not in {turns:?}");
        }
        assert!(queue.len() >= MOST - 2, "there was no flood");
    }

    #[test]
    fn a_source_has_no_more_than_its_part_beside_others() {
        let mut queue = FairQueue::new();
        (0..5).for_each(|number| drop(queue.add(origin(number, 1), (), 10)));
        let source = Source::V4(1);
        assert!(queue.displace_of(source, 2).is_none(), "it is alone");
        queue.add(origin(5, 2), (), 10);
        let gone: Vec<u64> = std::iter::from_fn(|| queue.displace_of(source, 2))
            .map(|(origin, ())| origin.number)
            .collect();
        assert_eq!((gone, queue.of(source), queue.len()), (vec![0, 1, 2], 2, 3));
        assert!(queue.displace_of(Source::V4(9), 0).is_none(), "it has none");
    }

    #[test]
    fn of_many_sources_that_have_as_many_the_oldest_goes() {
        let mut queue = FairQueue::new();
        for n in 0..4 {
            queue.add(origin(n, 100 - n as u32), (), 4);
        }
        let gone: Vec<u64> = (4..7)
            .flat_map(|n| queue.add(origin(n, n as u32), (), 4))
            .map(|(origin, ())| origin.number)
            .collect();
        assert_eq!(gone, [0, 1, 2]);
    }
}
