//! The trials of one cell, as far as their figures need them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use hopbench_model::{ProxyCost, Record, proxy_role};
use hopbench_stats::RoundPair;

use super::samples::Samples;
use super::warnings::is_of_the_machine;
use crate::figures::{Component, Kind, Node, Percentile, is_mostly_late, mostly_saturated, per_s};
use crate::summary::Limit;

/// More kinds of failures than this are counted together.
const MOST_ERRORS: usize = 16;

/// The name of all further ones.
const OTHER_ERRORS: &str = "others";

/// The trials of one cell, as far as their figures need them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cell {
    /// The trials, one a round.
    pub(crate) rounds: Vec<Round>,
    /// The place of each round among them.
    places: HashMap<u32, usize>,
    /// The limits of the trials, and how many had each, with the numbers of the last.
    pub(crate) limits: Vec<Limit>,
    /// What the last trial that explains itself says.
    pub(crate) explanation: Vec<String>,
    /// Caveats over all trials.
    pub(crate) warnings: u32,
    /// Names of the components whose cores its rounds have.
    pub(crate) components: Vec<Cow<'static, str>>,
    /// Names of the nodes that only meters of the cluster saw.
    pub(crate) metered_nodes: Vec<Cow<'static, str>>,
    /// Failures by reason, over all trials.
    pub(crate) errors: BTreeMap<String, u64>,
    /// Whether the traffic went by the proxies of its path: they do not carry its protocol.
    pub(crate) bypasses_proxy: bool,
    /// Whether trials were visits: their connections stood.
    pub(crate) was_visited: bool,
}

/// The trial of one round.
#[derive(Debug, Clone)]
pub(crate) struct Round {
    /// The round, from 1.
    pub(crate) round: u32,
    /// In which part of the run it was measured; `--resume` begins another.
    pub(crate) session: u32,
    /// How long its window was, s.
    pub(crate) window_s: f64,
    /// Whether the testbed changed in its time: what is seen then is compared with nothing.
    pub(crate) disturbed: bool,
    /// Whether the generator was its limit.
    pub(crate) late: bool,
    /// The rate at which the path was saturated, a second, if it was.
    pub(crate) saturated_per_s: Option<f64>,
    /// In the order of the kind's figures; not a number where absent.
    pub(crate) figures: Box<[f64]>,
    /// Those of the twin in the same round; absent where it has none that count.
    pub(crate) twin: Option<Box<[f64]>>,
    /// Units of work a second; not a number where there is no such unit.
    pub(crate) work_per_s: f64,
    /// The cost of the proxies in the path's pods, those of one kind together.
    pub(crate) proxies: Box<[Spent]>,
    /// The CPUs of its nodes.
    pub(crate) nodes: Box<[Node]>,
    /// The cores of each component, as the cell names them; not a number where they are not known.
    pub(crate) components: Box<[f64]>,
    /// The same of the nodes that only meters of the cluster saw.
    pub(crate) metered_nodes: Box<[f64]>,
    /// The latency of whose far end there is a figure; absent where its samples are not known.
    pub(crate) samples: Option<Samples>,
}

/// What the proxies of one kind spent in a trial, added up: work is that of all of them, too. Not a
/// number where that is not known of each.
#[derive(Debug, Clone)]
pub(crate) struct Spent {
    /// Their role on the path: `server-sidecar`.
    pub(crate) name: String,
    /// The number of them.
    pub(crate) count: u32,
    /// Whether the path names them; the others stand idle.
    pub(crate) named: bool,
    /// Cores that they kept busy.
    pub(crate) cores: f64,
    /// Memory as it was metered, bytes.
    pub(crate) memory_bytes: f64,
    /// Memory that they say they have allocated, bytes.
    pub(crate) allocated_bytes: f64,
}

impl Spent {
    fn of(proxy: &ProxyCost) -> Self {
        let figure = |name: &str| proxy.figures.get(name).copied().unwrap_or(f64::NAN);
        Self {
            name: proxy_role(&proxy.name).to_owned(),
            count: 1,
            named: proxy.named,
            cores: figure("cores"),
            memory_bytes: proxy.memory_bytes().unwrap_or(f64::NAN),
            allocated_bytes: figure("allocated_bytes"),
        }
    }

    fn all(proxies: &[ProxyCost]) -> Box<[Self]> {
        let mut out: Vec<Self> = Vec::new();
        for proxy in proxies.iter().map(Self::of) {
            match out
                .iter_mut()
                .find(|known| known.name == proxy.name && known.named == proxy.named)
            {
                Some(known) => {
                    known.count += 1;
                    known.cores += proxy.cores;
                    known.memory_bytes += proxy.memory_bytes;
                    known.allocated_bytes += proxy.allocated_bytes;
                }
                None => out.push(proxy),
            }
        }
        out.into()
    }
}

/// A figure here and in the baseline's cell.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Pairs {
    /// Rounds that have both, measured in one session.
    pub(crate) rounds: Vec<u32>,
    /// Here and the baseline, in each of these rounds.
    pub(crate) values: Vec<RoundPair>,
    /// Rounds that have both, but measured in different sessions: what changed in between would
    /// look like a difference.
    pub(crate) apart: usize,
    /// Rounds in which the testbed changed here or there.
    pub(crate) disturbed: usize,
    /// Rounds that were measured here and there, without a value here, and with one here but none
    /// there.
    pub(crate) without: [usize; 2],
}

/// The cores of components, each in the place of its name; a new name gets a new place.
fn placed(names: &mut Vec<Cow<'static, str>>, all: Vec<Component>) -> Box<[f64]> {
    if names.is_empty() {
        names.reserve_exact(all.len());
    }
    let mut out = vec![f64::NAN; names.len()];
    for Component { name, cores } in all {
        match names.iter().position(|known| *known == name) {
            Some(place) => out[place] = cores,
            None => {
                names.push(name);
                out.push(cores);
            }
        }
    }
    out.into()
}

impl Cell {
    /// A cell without trials; `bypasses_proxy`: its traffic goes by the proxies of its path.
    pub(crate) fn new(bypasses_proxy: bool) -> Self {
        Self { bypasses_proxy, ..Self::default() }
    }

    /// Takes the figures of a trial, `proxied`: proxies carry its traffic. A round that came before
    /// is replaced: the later record is the valid one.
    pub(crate) fn add(&mut self, record: &Record, kind: &Kind, proxied: bool) {
        let figures = kind
            .figures
            .iter()
            .map(|figure| figure.of(record, proxied).unwrap_or(f64::NAN))
            .collect();
        let taken = Round {
            round: record.round,
            session: record.session,
            window_s: record.window_s,
            disturbed: record.is_disturbed(),
            late: record.is_generator_limited(),
            saturated_per_s: record.saturated_per_s(),
            figures,
            twin: None,
            work_per_s: kind.work().and_then(|work| per_s(record, work)).unwrap_or(f64::NAN),
            proxies: Spent::all(&record.cost.proxies),
            nodes: Node::all(&record.cost),
            components: placed(&mut self.components, Component::all(&record.cost)),
            metered_nodes: placed(&mut self.metered_nodes, Component::metered_nodes(&record.cost)),
            samples: kind
                .latency(Percentile::P99)
                .and(kind.distribution)
                .and_then(|name| Samples::of(record.latency.get(name)?)),
        };
        match self.places.get(&record.round) {
            Some(place) => self.rounds[*place] = taken,
            None => {
                self.places.insert(record.round, self.rounds.len());
                self.rounds.push(taken);
            }
        }
        match self.limits.iter_mut().find(|known| known.limit == record.limited_by) {
            Some(known) => {
                known.trials += 1;
                known.because.clone_from(&record.limited_because);
            }
            None => self.limits.push(Limit {
                limit: record.limited_by.clone(),
                trials: 1,
                because: record.limited_because.clone(),
            }),
        }
        if !record.explanation.is_empty() {
            self.explanation.clone_from(&record.explanation);
        }
        let own = record.warnings.iter().filter(|warning| !is_of_the_machine(warning)).count();
        self.warnings = self.warnings.saturating_add(u32::try_from(own).unwrap_or(u32::MAX));
        self.was_visited |= record.settings.contains_key(Record::VISIT_SETTING);
        for (reason, count) in &record.errors {
            let full = self.errors.len() >= MOST_ERRORS && !self.errors.contains_key(reason);
            let reason = if full { OTHER_ERRORS } else { reason };
            let total = self.errors.entry(reason.to_owned()).or_default();
            *total = total.saturating_add(*count);
        }
    }

    /// Whether the generator was the limit of most of the rounds that count.
    pub(crate) fn is_generator_limited(&self) -> bool {
        is_mostly_late(self.counted().map(|round| round.late))
    }

    /// The rate at which it is saturated, a second: in most of the rounds that count the rate that
    /// was asked for was not kept.
    pub(crate) fn saturated_per_s(&self) -> Option<f64> {
        mostly_saturated(self.counted().map(|round| round.saturated_per_s))
    }

    /// The main figure, the first, by round from 1 on; `None` where a round has none above 0, and
    /// where the testbed changed in its time.
    pub(crate) fn main_by_round(&self, rounds: u32) -> Vec<Option<f64>> {
        let main = |round: u32| {
            let known = self.of_round(round).filter(|known| !known.disturbed)?;
            Some(known.figures[0]).filter(|value| value.is_finite() && *value > 0.0)
        };
        (1..=rounds).map(main).collect()
    }

    /// The rounds whose figures count: those in which the testbed did not change, or all where
    /// there is no such.
    pub(crate) fn counted(&self) -> impl Iterator<Item = &Round> {
        let all = self.rounds.iter().all(|round| round.disturbed);
        self.rounds.iter().filter(move |round| all || !round.disturbed)
    }

    /// The values of a figure over the rounds that have it and count, with the rounds.
    pub(crate) fn values(&self, figure: usize) -> (Vec<u32>, Vec<f64>) {
        let value = |round: &Round| (round.round, round.figures[figure]);
        self.counted().map(value).filter(|(_, value)| value.is_finite()).unzip()
    }

    /// How long the window of each round that counts was, s, with the value of a figure in it.
    pub(crate) fn windows(&self, figure: usize) -> impl Iterator<Item = (f64, f64)> {
        self.counted().map(move |round| (round.window_s, round.figures[figure]))
    }

    /// Rounds that were measured here and in the baseline's cell, but not in one session.
    pub(crate) fn apart(&self, baseline: &Self) -> usize {
        let apart = |here: &&Round| {
            baseline.of_round(here.round).is_some_and(|there| there.session != here.session)
        };
        self.rounds.iter().filter(apart).count()
    }

    /// Rounds that were measured here and in the other cell, in which the testbed changed here or
    /// there.
    pub(crate) fn disturbed(&self, other: &Self) -> usize {
        let disturbed = |here: &&Round| {
            other.of_round(here.round).is_some_and(|there| here.disturbed || there.disturbed)
        };
        self.rounds.iter().filter(disturbed).count()
    }

    /// Rounds that were measured here and in the other cell.
    pub(crate) fn shared(&self, other: &Self) -> usize {
        self.rounds.iter().filter(|here| other.of_round(here.round).is_some()).count()
    }

    /// Rounds that can be compared with those of the other cell: both were measured in one session,
    /// and the testbed did not change.
    pub(crate) fn comparable(&self, other: &Self) -> usize {
        let is_comparable = |here: &&Round| {
            other.of_round(here.round).is_some_and(|there| {
                here.session == there.session && !here.disturbed && !there.disturbed
            })
        };
        self.rounds.iter().filter(is_comparable).count()
    }

    /// Puts another value of a figure in place of a round's.
    pub(crate) fn replace(&mut self, round: u32, figure: usize, value: f64) {
        if let Some(place) = self.places.get(&round) {
            self.rounds[*place].figures[figure] = value;
        }
    }

    /// The cell of a baseline that was measured twice: its rounds have the figures of the twin,
    /// too. They do not where the twin has none, or measured it in another session or while the
    /// testbed changed.
    pub(crate) fn with_twin(&self, twin: &Self) -> Self {
        let mut out = self.clone();
        for round in &mut out.rounds {
            let same = |other: &&Round| other.session == round.session && !other.disturbed;
            let other = twin.of_round(round.round).filter(same);
            round.twin = other.map(|other| other.figures.clone());
        }
        out
    }

    /// The same cell with these of its rounds.
    pub(crate) fn only(&self, rounds: &BTreeSet<u32>) -> Self {
        let kept: Vec<Round> =
            self.rounds.iter().filter(|round| rounds.contains(&round.round)).cloned().collect();
        let places = (0..).zip(&kept).map(|(place, round)| (round.round, place)).collect();
        Self { rounds: kept, places, ..self.clone() }
    }

    /// The trial of a round, if it has one.
    pub(super) fn of_round(&self, round: u32) -> Option<&Round> {
        self.places.get(&round).map(|place| &self.rounds[*place])
    }

    /// The values of a figure here and in the baseline's cell, of the rounds that have both.
    pub(crate) fn pairs(&self, baseline: &Self, figure: usize) -> Pairs {
        let value = |round: &Round| round.figures[figure];
        let twin = |round: &Round| round.twin.as_ref().map(|figures| figures[figure]);
        self.paired(baseline, value, |round| (round.figures[figure], twin(round)))
    }

    /// Values of rounds here and of another cell, of the rounds that have both.
    pub(crate) fn pairs_of(
        &self,
        other: &Self,
        value: impl Fn(&Round) -> f64,
        other_value: impl Fn(&Round) -> f64,
    ) -> Pairs {
        self.paired(other, value, |round| (other_value(round), None))
    }

    /// `other_value`: the other cell's, and its twin's.
    fn paired(
        &self,
        other: &Self,
        value: impl Fn(&Round) -> f64,
        other_value: impl Fn(&Round) -> (f64, Option<f64>),
    ) -> Pairs {
        let mut out = Pairs::default();
        for here in &self.rounds {
            let Some(there) = other.of_round(here.round) else {
                continue;
            };
            let (value, (baseline, twin)) = (value(here), other_value(there));
            if !value.is_finite() || !baseline.is_finite() {
                out.without[usize::from(value.is_finite())] += 1;
                continue;
            }
            // A twin without the figure says nothing against the baseline's.
            let twin = twin.filter(|twin| twin.is_finite());
            if here.disturbed || there.disturbed {
                out.disturbed += 1;
            } else if here.session == there.session {
                out.rounds.push(here.round);
                out.values.push(RoundPair { value, baseline, twin });
            } else {
                out.apart += 1;
            }
        }
        out
    }
}
