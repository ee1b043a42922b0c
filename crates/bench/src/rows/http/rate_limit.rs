//! The highest constant rate that is still on time.

use anyhow::Result;

use super::needs;
use crate::bench::target::{Kind, Target};
use crate::bench::{Bench, Figures, Peer, ours};
use crate::lab::End;
use crate::peer::http::generator::{self, Generator, Load};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};
use crate::row::search;

/// Evenly spaced requests over 64 connections.
#[derive(Debug)]
pub(crate) struct RateLimit {
    pub(crate) generator: &'static Generator,
}

const CONNECTIONS: u32 = 64;
/// A rate that is delivered less than this much is not delivered.
const DELIVERED: f64 = 0.99;
const LATENESS_NS: u64 = 1_000_000;
/// nginx would be the limit of ours.
const TARGET: Kind = Kind::Plain;
/// Each try lasts this long: long enough for 1000 sends a connection at the rates in question.
const TRY_S: u32 = 1;

impl Row for RateLimit {
    fn name(&self) -> String {
        format!("http-rate-limit-{}", self.generator.peer.name)
    }

    fn what(&self) -> String {
        "http highest constant rate on time, 64 connections, plain server".to_owned()
    }

    fn against(&self) -> &'static str {
        self.generator.shown
    }

    fn needs(&self) -> Vec<&'static Peer> {
        needs(Some(self.generator), TARGET)
    }

    fn goals(&self) -> &'static [Goal] {
        const { &[Goal::ratio("highest_per_s", "highest rate", "1/s", 1.0, Reach::AtLeast(1.5))] }
    }

    fn note(&self) -> String {
        format!(
            "Found by bisection to 5 %, in runs of 1 s; a rate that fails gets a second try, for both. Both must deliver 99 % \
             of the rate. Ours must also keep the p99 of send lateness below 1 ms, sleeping between sends (`--pacing \
             sleep`); a peer must only not say of itself that it was behind (fortio: 5 % of its sleeps), which favours \
             it. {}",
            self.generator.note
        )
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let target = Target::start(bench, TARGET)?;
        let connections = CONNECTIONS.to_string();
        let highest = search::highest(bench, "http-rate-limit ours", |per_s| {
            let rate = per_s.to_string();
            let extra = [
                "-c",
                &connections,
                "--threads",
                "1",
                "--schedule",
                "rate",
                "--rate",
                &rate,
                "--pacing",
                "sleep",
            ];
            let words = ours::http_words(&target.url(), &format!("{TRY_S}s"), &extra);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let client = bench.ours(End::Client, &words).run(bench.scratch(), bench.limit())?;
            let record = ours::record(&client.stdout)?;
            // Far above the limit some requests have no answer when the trial ends.
            let delivered = record.errors.is_empty()
                && ours::metric(&record, "requests_per_s")? >= DELIVERED * per_s as f64;
            Ok(delivered && ours::latency(&record, "lateness_ns")?.p99 < LATENESS_NS)
        })?;
        target.stop()?;
        Ok(Figures::from([("highest_per_s", highest)]))
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        let target = Target::start(bench, TARGET)?;
        let highest = search::highest(bench, self.generator.shown, |per_s| {
            let load = Load { url: target.url(), connections: CONNECTIONS, per_s, seconds: TRY_S };
            let (answered, _) = generator::run(bench, self.generator, &load)?;
            Ok(!answered.behind && answered.per_s >= DELIVERED * per_s as f64)
        })?;
        target.stop()?;
        Ok(Some(Figures::from([("highest_per_s", highest)])))
    }
}
