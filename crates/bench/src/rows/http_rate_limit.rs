//! The highest constant rate that is still on time, against fortio.

use anyhow::Result;

use crate::bench::Bench;
use crate::figures::Figures;
use crate::goal::{Goal, Reach};
use crate::lab::End;
use crate::ours;
use crate::peer::fortio::{self, Load};
use crate::peer::nginx::Nginx;
use crate::peer::{Peer, nginx};
use crate::row::Row;
use crate::search;

/// Evenly spaced requests over 64 connections.
#[derive(Debug)]
pub(super) struct HttpRateLimit;

const CONNECTIONS: u32 = 64;
/// A rate that is delivered less than this much is not delivered.
const DELIVERED: f64 = 0.99;
const LATENESS_NS: u64 = 1_000_000;
/// Each try lasts this long: long enough for 1000 sends a connection at the rates in question.
const TRY_S: u32 = 1;

impl Row for HttpRateLimit {
    fn name(&self) -> String {
        "http-rate-limit".to_owned()
    }

    fn what(&self) -> String {
        "http highest constant rate on time, 64 connections".to_owned()
    }

    fn against(&self) -> &'static str {
        "fortio -uniform"
    }

    fn needs(&self) -> &'static [&'static Peer] {
        &[&fortio::PEER, &nginx::PEER]
    }

    fn goals(&self) -> &'static [Goal] {
        const { &[Goal::ratio("highest_per_s", "highest rate", "1/s", 1.0, Reach::AtLeast(1.5))] }
    }

    fn note(&self) -> &'static str {
        "Found by bisection to 5 %, in runs of 1 s; a rate that fails gets a second try, for both. On time means: ours, p99 of \
         send lateness below 1 ms; fortio, less than 5 % of its sleeps behind (its own warning). Both must deliver 99 % of the \
         rate. Ours may sleep only (`--pacing sleep`)."
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let nginx = Nginx::start(bench)?;
        let connections = CONNECTIONS.to_string();
        let highest = search::highest(bench, "http-rate-limit ours", |per_s| {
            let rate = per_s.to_string();
            let extra =
                ["-c", &connections, "--threads", "1", "--schedule", "rate", "--rate", &rate, "--pacing", "sleep"];
            let words = ours::http_words(&nginx.url(), &format!("{TRY_S}s"), &extra);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let client = bench.ours(End::Client, &words).run(bench.scratch(), bench.limit())?;
            let record = ours::parse(&client.stdout)?;
            let delivered = ours::metric(&record, "requests_per_s")? >= DELIVERED * per_s as f64;
            Ok(delivered && ours::latency(&record, "lateness_ns")?.p99 < LATENESS_NS)
        })?;
        nginx.stop()?;
        Ok(Figures::from([("highest_per_s", highest)]))
    }

    fn theirs(&self, bench: &Bench) -> Result<Option<Figures>> {
        let nginx = Nginx::start(bench)?;
        let highest = search::highest(bench, "http-rate-limit fortio", |per_s| {
            let load = Load { connections: CONNECTIONS, per_s, no_catch_up: false, seconds: TRY_S };
            let (figures, _) = fortio::run(bench, &nginx.url(), load)?;
            Ok(figures["behind_share"] == 0.0 && figures["requests_per_s"] >= DELIVERED * per_s as f64)
        })?;
        nginx.stop()?;
        Ok(Some(Figures::from([("highest_per_s", highest)])))
    }
}
