//! The highest constant rate that is still held.

use anyhow::Result;
use hopbench_model::Pacing;

use super::needs;
use crate::bench::target::{Kind, Target};
use crate::bench::{Bench, Figures, ours};
use crate::peer::http::generator::{self, Generator, Load};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};
use crate::row::search;

const CONNECTIONS: u32 = 64;
/// nginx would be the limit of ours.
const TARGET: Kind = Kind::Plain;
/// A rate is held, by ours or by a peer, if this share of it was answered by the program's own
/// count.
const HELD: f64 = 0.99;

const GOALS: &[Goal] = &[
    Goal::ratio("highest_per_s", "highest rate", "1/s", 1.0, Reach::AtLeast(1.5)),
    Goal::value("lateness_p99_ns", "send lateness p99 at it", "us", 1e-3, Reach::Shown),
];

/// Evenly spaced requests over 64 connections.
pub(crate) fn row(generator: &'static Generator) -> Row {
    Row {
        name: format!("http-rate-limit-{}", generator.peer.name),
        what: "http highest constant rate, 64 connections, plain server".to_owned(),
        against: generator.shown,
        needs: needs(generator, TARGET),
        goals: GOALS,
        note: format!(
            "Found by bisection to 5 %, in tries as long as other runs; a rate that fails gets a \
             second try, for both. A rate is held if 99 % of it was answered, by each program's \
             own count, for both. Ours warms up before its window; a peer's start and end count, \
             where it counts them. Ours spaces its sends evenly over all connections, and sleeps \
             between them (`--pacing sleep`). Its lateness at the highest rate is shown, and \
             nothing is asked of it: the peers do not tell theirs. {}",
            generator.note
        ),
        ours: Box::new(ours),
        theirs: Some(Box::new(|bench| theirs(bench, generator))),
    }
}

fn ours(bench: &Bench) -> Result<Figures> {
    let target = Target::start(bench, TARGET)?;
    // A search only goes up from a rate that was held, so the last one is the highest.
    let mut lateness_ns = 0;
    let highest = search::highest(bench, "http-rate-limit ours", |per_s| {
        let words = ours::rate_words(CONNECTIONS, per_s, Pacing::Sleep);
        let client = ours::http(bench, &target.url(), &bench.time(), &words)?;
        let record = ours::record(&client.stdout)?;
        // Far above the limit some requests have no answer when the trial ends.
        let held =
            record.errors.is_empty() && is_held(ours::metric(&record, "requests_per_s")?, per_s);
        if held {
            lateness_ns = ours::latency(&record, "lateness_ns")?.p99;
        }
        Ok(held)
    })?;
    target.stop()?;
    Ok(Figures::from([("highest_per_s", highest), ("lateness_p99_ns", lateness_ns as f64)]))
}

fn theirs(bench: &Bench, generator: &Generator) -> Result<Figures> {
    let target = Target::start(bench, TARGET)?;
    let highest = search::highest(bench, generator.shown, |per_s| {
        let seconds = bench.seconds();
        let load = Load { url: target.url(), connections: CONNECTIONS, per_s, seconds };
        let answered = generator::run(bench, generator, &load)?;
        Ok(is_held(answered.per_s, per_s))
    })?;
    target.stop()?;
    Ok(Figures::from([("highest_per_s", highest)]))
}

/// Whether a rate was held: the same condition for ours and for a peer.
fn is_held(answered_per_s: f64, asked_per_s: u64) -> bool {
    answered_per_s >= HELD * asked_per_s as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_held_if_99_of_100_were_answered() {
        assert!(is_held(99_000.0, 100_000) && is_held(100_500.0, 100_000));
        assert!(!is_held(98_900.0, 100_000));
    }
}
