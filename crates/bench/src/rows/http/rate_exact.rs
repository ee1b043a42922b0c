//! The exactness of a constant rate: whether it is the rate asked for, and on time.

use anyhow::Result;
use hopbench_model::Pacing;

use super::needs;
use crate::bench::target::{Kind, Target};
use crate::bench::{Bench, Figures, Peer, ours};
use crate::peer::http::generator::{self, Generator};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// 20 000 requests a second, evenly spaced over 16 connections. Without a generator, ours alone is
/// held to the goals; beside one, the shares of the asked rate are shown.
#[derive(Debug)]
pub(crate) struct RateExact {
    pub(crate) pacing: Pacing,
    pub(crate) generator: Option<&'static Generator>,
}

const CONNECTIONS: u32 = 16;
const PER_S: u64 = 20_000;

/// Six requests in the 60 000 of a 3 s window: what may lie across its edges.
const ACHIEVED: Goal =
    Goal::value("achieved_share", "achieved / asked", "", 1.0, Reach::Near(1.0, 1e-4));
const UNSENT: Goal = Goal::count("unsent", "unsent", "requests", Reach::AtMost(0.0));

const SLEEP_GOALS: &[Goal] = &[
    ACHIEVED,
    UNSENT,
    Goal::value("lateness_p99_ns", "send lateness p99", "us", 1e-3, Reach::AtMost(250.0)),
];
const SPIN_GOALS: &[Goal] = &[
    ACHIEVED,
    UNSENT,
    Goal::value("lateness_p99_ns", "send lateness p99", "us", 1e-3, Reach::AtMost(20.0)),
];
const BESIDE: &[Goal] = &[Goal::ratio("achieved_share", "achieved / asked", "", 1.0, Reach::Shown)];

impl Row for RateExact {
    fn name(&self) -> String {
        let peer = self
            .generator
            .map_or_else(String::new, |generator| format!("-{}", generator.peer.name));
        format!("http-rate-exact-{}{peer}", self.pacing)
    }

    fn what(&self) -> String {
        format!("http 20 000/s, evenly spaced, 16 connections, pacing {}", self.pacing)
    }

    fn against(&self) -> &'static str {
        self.generator.map_or("", |generator| generator.shown)
    }

    fn needs(&self) -> Vec<&'static Peer> {
        needs(self.generator, Kind::Nginx)
    }

    fn goals(&self) -> &'static [Goal] {
        match (self.generator, self.pacing) {
            (Some(_), _) => BESIDE,
            (None, Pacing::Sleep) => SLEEP_GOALS,
            (None, Pacing::Spin) => SPIN_GOALS,
        }
    }

    fn note(&self) -> String {
        let place = "The whole process of the client, every thread of it, is on one CPU; nginx has the other.";
        match self.generator {
            Some(generator) => format!(
                "Nothing is asked here: the goals of exactness and lateness are those of the row of ours alone. {place} {}",
                generator.note
            ),
            None => place.to_owned(),
        }
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let target = Target::start(bench, Kind::Nginx)?;
        let words = ours::rate_words(CONNECTIONS, PER_S, self.pacing);
        let window = format!("{}s", bench.seconds());
        let client = ours::http(bench, &target.url(), &window, &words)?;
        target.stop()?;
        let record = ours::parse(&client.stdout)?;
        Ok(Figures::from([
            // Not `requests_per_s`, which is the due rate while both agree within 1 %.
            ("achieved_share", ours::metric(&record, "completed_per_s")? / PER_S as f64),
            // A metric that does not apply is absent.
            ("unsent", record.metrics.get("unsent").copied().unwrap_or(0.0)),
            ("lateness_p99_ns", ours::latency(&record, "lateness_ns")?.p99 as f64),
        ]))
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        let Some(generator) = self.generator else { return Ok(None) };
        let figures = generator::alone(bench, generator, Kind::Nginx, CONNECTIONS, PER_S)?;
        Ok(Some(Figures::from([("achieved_share", figures["requests_per_s"] / PER_S as f64)])))
    }
}
