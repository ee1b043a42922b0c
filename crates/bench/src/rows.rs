//! Every comparison of `make bench`.

mod http_fortio;
mod http_rate_cpu;
mod http_rate_exact;
mod http_rate_limit;
mod http_wrk;
mod memory_connections;
mod memory_idle;
mod rr_qperf;
mod rr_sockperf;
mod rr_spin;
mod start;
mod stream;
mod stream_many;
mod udp;

use crate::row::Row;

/// Every row, in the order of the table.
pub(crate) const ROWS: &[&dyn Row] = &[
    &stream::Stream { connections: 1 },
    &stream::Stream { connections: 4 },
    &stream_many::StreamMany,
    &rr_sockperf::RrSockperf,
    &rr_qperf::RrQperf,
    &rr_spin::RrSpin,
    &udp::Udp,
    &http_wrk::HttpWrk { connections: 32 },
    &http_wrk::HttpWrk { connections: 256 },
    &http_fortio::HttpFortio { connections: 32 },
    &http_rate_cpu::HttpRateCpu,
    &http_rate_exact::HttpRateExact { pacing: hopbench_model::Pacing::Sleep },
    &http_rate_exact::HttpRateExact { pacing: hopbench_model::Pacing::Spin },
    &http_rate_limit::HttpRateLimit,
    &memory_idle::MemoryIdle,
    &memory_connections::MemoryConnections,
    &start::Start,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_has_a_row_and_every_row_a_file() {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rows");
        let files = std::fs::read_dir(directory).unwrap();
        let stems: BTreeSet<String> =
            files.map(|f| f.unwrap().path().file_stem().unwrap().to_string_lossy().replace('_', "-")).collect();
        let of =
            |stem: &str, name: &str| name == stem || name.strip_prefix(stem).is_some_and(|rest| rest.starts_with('-'));
        for stem in &stems {
            assert!(ROWS.iter().any(|row| of(stem, &row.name())), "{stem} is in no row");
        }
        for row in ROWS {
            assert!(stems.iter().any(|stem| of(stem, &row.name())), "{} is in no file", row.name());
        }
    }

    #[test]
    fn names_are_unique_and_every_row_asks_for_something() {
        let names: BTreeSet<String> = ROWS.iter().map(|row| row.name()).collect();
        assert_eq!(names.len(), ROWS.len());
        for row in ROWS {
            assert!(row.goals().iter().any(|g| g.reach.met_by(0.0).is_some()), "{} has no goal", row.name());
        }
    }
}
