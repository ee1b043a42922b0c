//! Every comparison of `make bench`.

mod http;
mod memory;
mod profile;
mod rr;
mod start;
mod stream;
mod stream_many;
mod udp;

use hopbench_model::Pacing;

use crate::bench::target::Kind;
use crate::peer::http::{fortio, h2load, hey, k6, oha, wrk};
use crate::row::Row;
use http::closed::{BOUND, Closed, LEAN, RICH};
use http::rate_cpu::RateCpu;
use http::rate_exact::RateExact;
use http::rate_limit::RateLimit;

/// Every row, in the order of the table.
pub(crate) const ROWS: &[&dyn Row] = &[
    &stream::Stream { connections: 1 },
    &stream::Stream { connections: 4 },
    &stream_many::StreamMany,
    &rr::sockperf::BLOCKING,
    &rr::sockperf::EPOLL,
    &rr::qperf::RrQperf,
    &rr::sockperf::SPINNING,
    &udp::Udp,
    &Closed { generator: &wrk::CLOSED, connections: 32, target: Kind::Nginx, goals: BOUND },
    &Closed { generator: &wrk::CLOSED, connections: 256, target: Kind::Nginx, goals: BOUND },
    &Closed { generator: &wrk::CLOSED, connections: 32, target: Kind::Plain, goals: LEAN },
    &Closed { generator: &wrk::CLOSED, connections: 256, target: Kind::Plain, goals: LEAN },
    &Closed { generator: &hey::CLOSED, connections: 32, target: Kind::Plain, goals: RICH },
    &Closed { generator: &oha::CLOSED, connections: 32, target: Kind::Plain, goals: RICH },
    &Closed { generator: &fortio::CLOSED, connections: 32, target: Kind::Plain, goals: RICH },
    &RateCpu { generator: &k6::RATE },
    &RateCpu { generator: &oha::RATE },
    &RateCpu { generator: &h2load::RATE },
    &RateCpu { generator: &fortio::RATE },
    &RateExact { pacing: Pacing::Sleep, generator: None },
    &RateExact { pacing: Pacing::Spin, generator: None },
    &RateExact { pacing: Pacing::Sleep, generator: Some(&k6::RATE) },
    &RateExact { pacing: Pacing::Sleep, generator: Some(&oha::RATE) },
    &RateExact { pacing: Pacing::Sleep, generator: Some(&h2load::RATE) },
    &RateExact { pacing: Pacing::Sleep, generator: Some(&fortio::RATE_EXACT) },
    &RateLimit { generator: &k6::RATE },
    &RateLimit { generator: &oha::RATE },
    &RateLimit { generator: &h2load::RATE },
    &RateLimit { generator: &fortio::RATE },
    &memory::idle::MemoryIdle,
    &memory::connections::MemoryConnections,
    &start::Start,
    &profile::Profile::Stream,
    &profile::Profile::Rr,
    &profile::Profile::Http,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::row::goal::Reach;

    /// The rows' files below a folder as the start of their names; a file beside a folder of its
    /// name only lists it.
    fn stems(directory: &Path, prefix: &str) -> BTreeSet<String> {
        let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        let of = |file: &Path| {
            format!("{prefix}{}", file.file_stem().unwrap().to_string_lossy().replace('_', "-"))
        };
        let found = entries.flat_map(|entry| match entry.is_dir() {
            true => stems(&entry, &format!("{}-", of(&entry))),
            false if entry.with_extension("").is_dir() => BTreeSet::new(),
            false => BTreeSet::from([of(&entry)]),
        });
        found.collect()
    }

    #[test]
    fn every_file_has_a_row_and_every_row_a_file() {
        let stems = stems(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rows"), "");
        assert!(stems.contains("http-closed") && !stems.contains("http"), "{stems:?}");
        let of = |stem: &str, name: &str| {
            name == stem || name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('-'))
        };
        for stem in &stems {
            assert!(ROWS.iter().any(|row| of(stem, &row.name())), "{stem} is in no row");
        }
        for row in ROWS {
            assert!(stems.iter().any(|stem| of(stem, &row.name())), "{} is in no file", row.name());
        }
    }

    #[test]
    fn names_are_unique_and_every_row_asks_for_something_or_shows_a_peer() {
        let names: BTreeSet<String> = ROWS.iter().map(|row| row.name()).collect();
        assert_eq!(names.len(), ROWS.len());
        for row in ROWS {
            let asks = row.goals().iter().any(|goal| goal.reach != Reach::Shown);
            let shows = !row.goals().is_empty() && !row.against().is_empty();
            assert!(asks || shows, "{} has no goal and no peer", row.name());
        }
    }

    #[test]
    fn the_goals_of_ours_alone_are_judged_once_a_pacing_and_not_once_a_peer() {
        for figure in ["achieved_share", "unsent", "lateness_p99_ns"] {
            let asks = |row: &&&dyn Row| {
                let mut goals = row.goals().iter();
                goals.any(|goal| goal.figure == figure && goal.reach != Reach::Shown)
            };
            let rows: Vec<String> = ROWS.iter().filter(asks).map(|row| row.name()).collect();
            assert_eq!(rows, ["http-rate-exact-sleep", "http-rate-exact-spin"], "{figure}");
        }
    }
}
