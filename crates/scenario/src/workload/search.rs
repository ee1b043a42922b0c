//! `search:` of a workload: the load is found, instead of said.
//!
//! ```yaml
//! search: {knee: {connections: [8, 16, 32, 64], threads: [1, 2], growth: 5%}, equal-load: true}
//! search: {slo: {p99: 5ms, rates: 100..50000, precision: 2%}, errors: 1%}
//! search: {cpu: {of: node b, ceiling: 60%, rates: 100..50000}}
//! search: {lossless: {loss: 0.1%, rates: 10Mbit..10Gbit, precision: 1%, repeats: 3}}
//! ```

mod goal;
mod rates;
mod whose;

use std::ops::RangeInclusive;

use hopbench_load::WORKLOADS;
use hopbench_load::workload::Workload;
use hopbench_model::{CpuOf, EngineKind, Job, Path, SearchGoal, SearchSpec, WorkloadKind};

use super::keys::{Reader, Swept};
use crate::document::fields::Fields;
use crate::document::node::{At, Node, quoted};
use crate::document::problem::{Problems, shortened};
use crate::document::share;
use crate::document::values::Value;
use goal::Written;

pub(crate) use goal::{CPU_KEYS, KNEE_KEYS, LOSSLESS_KEYS, SLO_KEYS};

/// What can be searched.
pub(crate) const GOALS: &[&str] = &["knee", "slo", "cpu", "lossless"];
/// What stands beside it.
pub(crate) const BESIDE: &[&str] = &["errors", "equal-load"];
/// Exchanges that may fail at a load that counts where the scenario does not say, as a share.
pub(crate) const ERRORS: f64 = 0.01;

const FORM: &str = "what to search, like {slo: {p99: 5ms, rates: 100..50000}}";
const ANY_SHARE: RangeInclusive<f64> = 0.0..=1.0;

/// The block, before it is known which job it is for. What could not be read of it is left out. The
/// rest is looked at all the same, so that all problems are said at once.
#[derive(Debug)]
pub(crate) struct Search {
    /// Where it is in the file and in the tree.
    at: At,
    key: String,
    /// Its goal, and where that is.
    name: &'static str,
    goal_key: String,
    /// Whether the workload can be searched so.
    fits: bool,
    written: Written,
    errors_share: f64,
    equal_load: bool,
}

impl Search {
    /// Reads the block; `path` is where it is in the tree. `None` if it has not exactly one goal.
    pub(crate) fn read(
        node: &Node,
        path: String,
        workload: &dyn Workload,
        problems: &mut Problems,
    ) -> Option<Self> {
        let before = problems.count();
        let fields = Fields::read(node, &path, &[GOALS, BESIDE].concat(), FORM, problems)?;
        let is_known = problems.count() == before;
        let errors = share::read(
            &fields,
            "errors",
            &ANY_SHARE,
            "a share like 1% or 0.01, 0% to 100%",
            problems,
        );
        let equal_load = fields.switch("equal-load", problems).unwrap_or(false);
        let goals: Vec<_> = fields.entries().filter(|(name, ..)| GOALS.contains(name)).collect();
        let [(name, key, goal)] = goals.as_slice() else {
            match goals.get(1) {
                Some((_, second, _)) => {
                    problems.add(
                        second.at,
                        &path,
                        format!("{} too", quoted(&second.text)),
                        "one search a workload",
                    );
                    for (name, _, goal) in &goals {
                        Written::read(name, goal, &fields.path_of(name), workload, problems);
                    }
                }
                None if is_known => {
                    problems.add(
                        fields.at,
                        &path,
                        "nothing to search",
                        format!("one of {}", GOALS.join(", ")),
                    );
                }
                None => {}
            }
            return None;
        };
        let name = GOALS.iter().copied().find(|known| known == name)?;
        let (goal_key, fitting) = (fields.path_of(name), fitting(name));
        let fits = fitting.contains(&workload.name());
        if !fits {
            let expected = format!("one of {}", fitting.join(", "));
            problems.add(
                key.at,
                &goal_key,
                format!("the workload {}", quoted(workload.name())),
                expected,
            );
        }
        let written = Written::read(name, goal, &goal_key, workload, problems);
        let errors_share = errors.unwrap_or(ERRORS);
        Some(Self {
            at: fields.at,
            key: path,
            name,
            goal_key,
            fits,
            written,
            errors_share,
            equal_load,
        })
    }

    /// Says which of a workload's keys the search sets itself, takes them out, and adds what its
    /// jobs begin with.
    pub(crate) fn set(
        &mut self,
        keys: &mut Vec<Swept>,
        reader: &mut Reader<'_>,
        problems: &mut Problems,
    ) {
        let (name, at) = (self.name, self.at);
        let mut refuse = |key: &str, refused: fn(&Swept) -> bool, expected: &str| {
            if let Some(place) = keys.iter().position(|known| known.name == key && refused(known)) {
                let key = keys.remove(place);
                let at = key.values.first().map_or(at, |value| value.at);
                problems.add(
                    at,
                    &key.key,
                    format!("`{}` beside a search for `{name}`", key.name),
                    expected,
                );
            }
        };
        refuse(
            "rate",
            |_| true,
            match name {
                "knee" => "a closed loop: without a rate the answers set the pace",
                _ => "`rates` of the search only",
            },
        );
        refuse("burst", |_| true, "exchanges one by one: the times of a burst are not independent");
        if name == "knee" {
            refuse("connections", |_| true, "the levels in the search only");
            if self.written.has_threads {
                refuse("threads", Swept::varies, "one number, with which connections are searched");
            }
        } else {
            refuse(
                "schedule",
                |key| key.values.iter().any(|v| v.text == "closed"),
                "rate or poisson",
            );
        }
        if !self.fits {
            return;
        }
        let first = match (&self.written.goal, &self.written.rates) {
            (Some(SearchGoal::Knee { connections, .. }), _) => {
                let value = |level: &u32| Value { text: level.to_string(), at: self.written.at };
                connections
                    .first()
                    .map(|level| ("connections", self.inside("connections"), value(level)))
            }
            (_, Some(rates)) => {
                // Both, so that both are told.
                let ends = [rates.lowest(), rates.highest()]
                    .map(|end| reader.takes("rate", &end, &rates.key, problems));
                if ends == [true, true] {
                    Some(("rate", rates.key.clone(), rates.lowest()))
                } else {
                    self.written.rates = None;
                    None
                }
            }
            _ => None,
        };
        if let Some((name, key, value)) = first
            && reader.takes(name, &value, &key, problems)
            && keys.iter().all(|known| known.name != name)
        {
            keys.push(reader.swept(name, key, value));
        }
    }

    /// The search of a job; `None` where some of it could not be read.
    pub(crate) fn spec(
        &self,
        workload: &dyn Workload,
        job: &Job,
        problems: &mut Problems,
    ) -> Option<SearchSpec> {
        if !self.fits {
            return None;
        }
        let mut goal = self.written.goal.clone();
        match &goal {
            Some(SearchGoal::Knee { connections, threads, .. }) => {
                self.check_levels(workload, job, connections, threads, problems);
            }
            Some(SearchGoal::Cpu { of, .. })
                if matches!(of, CpuOf::Proxy(_)) && job.bypasses_proxies() =>
            {
                let expected = "traffic that proxies carry: they take TCP only";
                problems.add(
                    self.written.at,
                    &self.inside("of"),
                    format!("`{}` through proxies", job.workload),
                    expected,
                );
            }
            _ => {}
        }
        let range =
            self.written.rates.as_ref().and_then(|written| written.range(workload, job, problems));
        if let (
            Some(range),
            Some(
                SearchGoal::Slo { rates, .. }
                | SearchGoal::Cpu { rates, .. }
                | SearchGoal::Lossless { rates, .. },
            ),
        ) = (range, &mut goal)
        {
            *rates = range;
        }
        Some(SearchSpec {
            goal: goal?,
            repeats: self.written.repeats,
            errors_share: self.errors_share,
            equal_load: self.equal_load,
            short: None,
        })
    }

    /// Those of the paths of a workload on which it can be searched, the others, and what there is
    /// to say of them.
    pub(crate) fn on(
        &self,
        chosen: &[usize],
        paths: &[Path],
        problems: &mut Problems,
    ) -> (Vec<usize>, Vec<usize>, Option<String>) {
        // Every path has a client.
        let of = match &self.written.goal {
            Some(SearchGoal::Cpu { of, .. }) => of,
            _ => &CpuOf::Client,
        };
        let (with, without): (Vec<usize>, Vec<usize>) =
            chosen.iter().partition(|index| whose::has(&paths[**index], of));
        if with.is_empty() && !chosen.is_empty() {
            whose::unknown(
                of,
                chosen.iter().map(|index| &paths[*index]),
                self.written.at,
                &self.inside("of"),
                problems,
            );
        }
        if self.equal_load && with.len() == 1 {
            problems.add(self.at, &self.key, "`equal-load` on one path", "at least two paths");
        }
        let names: Vec<&str> = without.iter().map(|index| paths[*index].name.as_str()).collect();
        let note =
            || format!("{} on {}: no {} there", self.goal_key, shortened(&names), whose::named(of));
        let note = (!names.is_empty()).then(note);
        (with, without, note)
    }

    /// Levels that no trial could have.
    fn check_levels(
        &self,
        workload: &dyn Workload,
        job: &Job,
        connections: &[u32],
        threads: &[u32],
        problems: &mut Problems,
    ) {
        let most = connections.last().copied().unwrap_or(1);
        let highest = Job { connections: most, ..job.clone() };
        if let Some(problem) =
            highest.problems().into_iter().chain(workload.problems(&highest)).next()
        {
            let expected = problem.expected.replace("--", "");
            problems.add(
                self.written.at,
                &self.inside("connections"),
                quoted(&problem.found.replace("--", "")),
                expected,
            );
        }
        let at_most = threads.last().copied().unwrap_or(1);
        if at_most > most {
            let expected =
                format!("at most one thread a connection, of which there are {most} at most");
            problems.add(
                self.written.threads_at,
                &self.inside("threads"),
                format!("`{at_most}`"),
                expected,
            );
        }
        if !threads.is_empty() && job.engine == EngineKind::Threads {
            let expected = "another engine: this one takes a thread a connection";
            problems.add(
                self.written.threads_at,
                &self.inside("threads"),
                "levels for the engine `threads`",
                expected,
            );
        }
    }

    fn inside(&self, name: &str) -> String {
        crate::document::fields::joined(&self.goal_key, name)
    }
}

/// The workloads that a goal can be searched with.
fn fitting(goal: &str) -> Vec<&'static str> {
    let fits = |kind: WorkloadKind| match goal {
        "lossless" => kind.is_one_way_udp(),
        "cpu" => kind.is_of_exchanges() || kind.is_one_way_udp(),
        _ => kind.is_of_exchanges(),
    };
    WORKLOADS
        .iter()
        .filter(|workload| fits(workload.kind()))
        .map(|workload| workload.name())
        .collect()
}
