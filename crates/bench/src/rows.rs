//! Every comparison of `make bench`.

mod grpc;
mod http;
mod memory;
mod profile;
mod rr;
mod served;
mod start;
mod stream;
mod stream_many;
mod stream_tls;
mod udp;

use hopbench_model::Pacing;

use crate::bench::target::Kind;
use crate::peer::http::{fortio, ghz, h2load, hey, k6, oha, wrk};
use crate::row::Row;
use http::closed::{BOUND, LEAN, MULTIPLEXED, RICH, SECRET};
use http::{closed, handshakes, rate_cpu, rate_exact, rate_limit};

/// Every row, in the order of the table.
pub(crate) fn rows() -> Vec<Row> {
    vec![
        stream::row(1),
        stream::row(4),
        stream::exact(4),
        stream_many::row(),
        stream_tls::row(),
        rr::sockperf::row(&rr::sockperf::BLOCKING),
        rr::sockperf::row(&rr::sockperf::EPOLL),
        rr::qperf::row(),
        rr::sockperf::row(&rr::sockperf::SPINNING),
        udp::row(&udp::EACH),
        udp::row(&udp::WAKING),
        udp::row(&udp::RING),
        udp::row(&udp::BATCH),
        udp::row(&udp::SEGMENTS),
        closed::row(&wrk::CLOSED, 32, Kind::Nginx, BOUND),
        closed::row(&wrk::CLOSED, 256, Kind::Nginx, BOUND),
        closed::row(&wrk::CLOSED, 32, Kind::Plain, LEAN),
        closed::row(&wrk::CLOSED, 256, Kind::Plain, LEAN),
        closed::row(&wrk::CLOSED, 32, Kind::NginxTls, SECRET),
        closed::row(&wrk::CLOSED, 32, Kind::OursTls, SECRET),
        closed::row(&h2load::MULTIPLEXED, 8, Kind::NginxHttp2, MULTIPLEXED),
        closed::row(&h2load::MULTIPLEXED, 8, Kind::OursHttp2, MULTIPLEXED),
        handshakes::row(&wrk::HANDSHAKES),
        served::single(),
        served::multiplexed(),
        closed::row(&hey::CLOSED, 32, Kind::Plain, RICH),
        closed::row(&oha::CLOSED, 32, Kind::Plain, RICH),
        closed::row(&fortio::CLOSED, 32, Kind::Plain, RICH),
        rate_cpu::row(&k6::RATE),
        rate_cpu::row(&oha::RATE),
        rate_cpu::row(&h2load::RATE),
        rate_cpu::row(&fortio::RATE),
        rate_cpu::burst(&oha::RATE, 4),
        rate_cpu::burst(&h2load::RATE, 16),
        rate_cpu::late_reads(&k6::RATE, 1),
        rate_cpu::late_reads(&oha::RATE, 1),
        rate_cpu::late_reads(&h2load::RATE, 1),
        rate_cpu::late_reads(&fortio::RATE, 1),
        rate_cpu::late_reads(&oha::RATE, 4),
        rate_cpu::late_reads(&h2load::RATE, 16),
        rate_exact::alone(Pacing::Sleep, rate_exact::SLEEP_GOALS),
        rate_exact::alone(Pacing::Spin, rate_exact::SPIN_GOALS),
        rate_exact::beside(&k6::RATE),
        rate_exact::beside(&oha::RATE),
        rate_exact::beside(&h2load::RATE),
        rate_exact::beside(&fortio::RATE_EXACT),
        rate_limit::row(&k6::RATE),
        rate_limit::row(&oha::RATE),
        rate_limit::row(&h2load::RATE),
        rate_limit::row(&fortio::RATE),
        grpc::closed(&ghz::CALLS, grpc::GHZ),
        grpc::closed(&k6::CALLS, grpc::K6),
        grpc::rate(Pacing::Sleep, grpc::SLEEP),
        grpc::rate(Pacing::Spin, grpc::SPIN),
        memory::idle::row(),
        memory::connections::row(),
        memory::tls::row(),
        memory::streams::row(),
        memory::many::row(),
        start::row(),
        profile::stream(),
        profile::rr(),
        profile::http(),
    ]
}

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
            assert!(rows().iter().any(|row| of(stem, &row.name)), "{stem} is in no row");
        }
        for row in rows() {
            assert!(stems.iter().any(|stem| of(stem, &row.name)), "{} is in no file", row.name);
        }
    }

    #[test]
    fn names_are_unique_and_every_row_asks_for_something_or_shows_a_peer() {
        let names: BTreeSet<String> = rows().into_iter().map(|row| row.name).collect();
        assert_eq!(names.len(), rows().len());
        for row in rows() {
            let asks = row.goals.iter().any(|goal| goal.reach != Reach::Shown);
            let shows = !row.goals.is_empty() && !row.against.is_empty();
            assert!(asks || shows, "{} has no goal and no peer", row.name);
            assert_eq!(row.theirs.is_some(), !row.against.is_empty(), "{}", row.name);
        }
    }

    #[test]
    fn the_goals_of_ours_alone_are_judged_once_a_pacing_and_not_once_a_peer() {
        for figure in ["achieved_share", "unsent", "lateness_p99_ns"] {
            let asks = |row: &Row| {
                let mut goals = row.goals.iter();
                goals.any(|goal| goal.figure == figure && goal.reach != Reach::Shown)
            };
            let rows = rows().into_iter().filter(asks);
            let rows: Vec<String> = rows.map(|row| row.name).collect();
            let expected = [
                "http-rate-exact-sleep",
                "http-rate-exact-spin",
                "grpc-rate-sleep",
                "grpc-rate-spin",
                "memory-many",
            ];
            let asked = if figure == "lateness_p99_ns" { 5 } else { 2 };
            assert_eq!(rows, expected[..asked], "{figure}");
        }
    }
}
