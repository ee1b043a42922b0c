//! The exactness of a constant rate: whether it is the rate asked for, and on time.

use anyhow::Result;
use hopbench_model::Pacing;

use super::needs;
use crate::bench::target::{Kind, Target};
use crate::bench::{Bench, Figures, ours};
use crate::peer::http::generator::{self, Generator};
use crate::peer::pacing;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const CONNECTIONS: u32 = 16;
const PER_S: u64 = 20_000;

/// The goals with `--pacing sleep`.
pub(crate) const SLEEP_GOALS: &[Goal] = &goals(250.0);
/// The goals with `--pacing spin`.
pub(crate) const SPIN_GOALS: &[Goal] = &goals(20.0);
const BESIDE: &[Goal] = &[Goal::ratio("achieved_share", "achieved / asked", "", 1.0, Reach::Shown)];

/// Six of the 60 000 requests of a 3 s window may be missing: they may lie across its edges.
const fn goals(lateness_us: f64) -> [Goal; 3] {
    let late = Reach::AtMost(lateness_us);
    [
        Goal::value("achieved_share", "achieved / asked", "", 1.0, Reach::Near(1.0, 1e-4)),
        Goal::count("unsent", "unsent", "requests", Reach::AtMost(0.0)),
        Goal::value("lateness_p99_ns", "send lateness p99", "us", 1e-3, late),
    ]
}

const PLACE: &str =
    "The whole process of the client, every thread of it, is on one CPU; nginx has the other.";

/// 20 000 requests a second, evenly spaced over 16 connections: ours alone is held to the goals.
/// The peer shows how late the machine makes a loop that sends nothing.
pub(crate) fn alone(way: Pacing, goals: &'static [Goal]) -> Row {
    Row {
        name: format!("http-rate-exact-{way}"),
        what: format!("http 20 000/s, evenly spaced, 16 connections, pacing {way}"),
        against: pacing::SHOWN,
        needs: Kind::Nginx.needs().to_vec(),
        goals,
        note: format!("{PLACE} {}", pacing::NOTE),
        ours: Box::new(move |bench| {
            ours(bench, "http", Kind::Nginx, PER_S, &ours::rate_words(CONNECTIONS, PER_S, way))
        }),
        theirs: Some(Box::new(move |bench| pacing::lateness(bench, PER_S, way))),
    }
}

/// The same beside a peer: the shares of the asked rate are shown.
pub(crate) fn beside(generator: &'static Generator) -> Row {
    let row = alone(Pacing::Sleep, BESIDE);
    Row {
        name: format!("{}-{}", row.name, generator.peer.name),
        against: generator.shown,
        needs: needs(generator, Kind::Nginx),
        note: format!(
            "Nothing is asked here: the goals of exactness and lateness are those of the row \
             beside the plain pacing loop. {PLACE} {}",
            generator.note
        ),
        theirs: Some(Box::new(|bench| {
            let figures = generator::alone(bench, generator, Kind::Nginx, CONNECTIONS, PER_S)?;
            Ok(Figures::from([("achieved_share", figures["requests_per_s"] / PER_S as f64)]))
        })),
        ..row
    }
}

/// The figures of ours at a rate.
pub(crate) fn ours(
    bench: &Bench,
    workload: &str,
    kind: Kind,
    per_s: u64,
    words: &str,
) -> Result<Figures> {
    let target = Target::start(bench, kind)?;
    let client = ours::against_url(bench, workload, &target.url(), &bench.time(), words)?;
    target.stop()?;
    let record = ours::parse(&client.stdout)?;
    Ok(Figures::from([
        // Not `requests_per_s`, which is the due rate while both agree within 1 %.
        ("achieved_share", ours::metric(&record, "completed_per_s")? / per_s as f64),
        // A metric that does not apply is absent.
        ("unsent", record.metrics.get("unsent").copied().unwrap_or(0.0)),
        ("lateness_p99_ns", ours::latency(&record, "lateness_ns")?.p99 as f64),
    ]))
}
