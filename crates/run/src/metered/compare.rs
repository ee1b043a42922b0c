//! The agreement of two meters of one thing.

use std::collections::BTreeMap;

use hopbench_meter::delta;
use hopbench_model::{EndReport, MeteredCost, Warning, WarningKind};

/// Shorter windows are not compared: meters read every 10 s or so, s.
const LONG: f64 = 30.0;
/// Two windows are compared when they have at least this share of the longer one in common.
const COMMON: f64 = 0.8;
/// Two meters may differ by this share of the larger figure, and by what the time is that they have
/// not in common.
const SHARE: f64 = 0.15;
/// Differences below this are nothing, cores.
const LEAST: f64 = 0.05;

/// What this program itself saw something spend over the trial's window.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Own {
    /// `agent`, `program`, `proxy` or `node`.
    pub(crate) what: &'static str,
    /// Its name.
    pub(crate) who: String,
    /// Cores.
    pub(crate) cores: f64,
}

impl Own {
    /// An agent, as it saw itself: with its meters, which others do not tell apart.
    pub(crate) fn agent(who: &str, report: &EndReport) -> Option<Self> {
        let spent = spent(report, "self")?;
        let cpu_s = spent.get("user_s")? + spent.get("system_s")?;
        Some(Self { what: "agent", who: who.to_owned(), cores: cpu_s / report.seconds() })
    }

    /// The server program beside an agent, as that saw it.
    pub(crate) fn program(agent: &str, report: &EndReport) -> Option<Self> {
        let spent = spent(report, "program")?;
        let ticks = || Some(spent.get("user_s")? + spent.get("system_s")?);
        let cpu_s = spent.get("cpu_s").copied().or_else(ticks)?;
        let cores = cpu_s / report.loaded_seconds()?;
        Some(Self { what: "program", who: agent.to_owned(), cores })
    }
}

/// What a reading grew by from one edge of the window to the other.
fn spent(report: &EndReport, reading: &str) -> Option<BTreeMap<String, f64>> {
    let [start, end] = [&report.start, &report.end].map(|edge| edge.readings.get(reading));
    Some(delta::window(start?, end?))
}

/// One figure of one meter.
struct Said<'a> {
    what: &'a str,
    who: &'a str,
    source: &'a str,
    starts_at_s: f64,
    window_s: f64,
    cores: f64,
}

impl Said<'_> {
    /// The share of the longer window that both have; 0 where they have nothing in common.
    fn common(&self, other: &Self) -> f64 {
        let start = self.starts_at_s.max(other.starts_at_s);
        let end = (self.starts_at_s + self.window_s).min(other.starts_at_s + other.window_s);
        ((end - start) / self.window_s.max(other.window_s)).max(0.0)
    }

    fn contradicts(&self, other: &Self) -> bool {
        let common = self.common(other);
        let comparable = self.window_s.min(other.window_s) >= LONG && common >= COMMON;
        let apart = (self.cores - other.cores).abs();
        comparable && apart > LEAST && apart > (SHARE + 1.0 - common) * self.cores.max(other.cores)
    }
}

/// A warning for each two meters of one thing that contradict each other. `own` is what was seen
/// here, over the window of the trial of `window_s` seconds.
pub(crate) fn disagree(costs: &[MeteredCost], own: &[Own], window_s: f64) -> Vec<Warning> {
    let metered = costs.iter().map(|cost| Said {
        what: &cost.what,
        who: &cost.who,
        source: &cost.source,
        starts_at_s: cost.starts_at_s,
        window_s: cost.window_s,
        cores: cost.figures.get("cores").copied().unwrap_or(0.0),
    });
    let seen = own.iter().map(|own| Said {
        what: own.what,
        who: &own.who,
        source: "hopbench itself",
        starts_at_s: 0.0,
        window_s,
        cores: own.cores,
    });
    let all: Vec<Said<'_>> = metered.chain(seen).collect();
    let mut out = Vec::new();
    for (i, first) in all.iter().enumerate() {
        let same =
            all[i + 1..].iter().filter(|other| (other.what, other.who) == (first.what, first.who));
        out.extend(same.filter(|other| first.contradicts(other)).map(|second| {
            let of = |said: &Said<'_>| {
                format!("{:.2} cores by {} over {:.0} s", said.cores, said.source, said.window_s)
            };
            Warning::new(
                WarningKind::MetersDisagree,
                format!("the {} {} used {}, and {}", first.what, first.who, of(first), of(second)),
                "one of them counts something else, as interrupts, or misses short work: see what \
                 each of them counts",
            )
        }));
    }
    out
}
