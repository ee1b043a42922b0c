//! Memory of streams of HTTP/2.

use super::{BothEnds, each};
use crate::bench::Figures;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const CONNECTIONS: u32 = 10;
const FEW: u32 = 1;
const MANY: u32 = 200;

const CLIENT: &str = "client_bytes_per_stream";
const TARGET: &str = "target_bytes_per_stream";
const GOALS: &[Goal] = &[
    Goal::value(CLIENT, "memory a stream, client", "KiB", 1.0 / 1024.0, Reach::AtMost(2.0)),
    Goal::value(TARGET, "memory a stream, target", "KiB", 1.0 / 1024.0, Reach::AtMost(2.0)),
];

/// 2000 streams whose requests the target answers after 100 ms.
pub(crate) fn row() -> Row {
    Row {
        name: "memory-streams".to_owned(),
        what: "http over HTTP/2, 10 connections x 200 streams, one thread, our target".to_owned(),
        against: "",
        needs: Vec::new(),
        goals: GOALS,
        note: "Peak resident memory (VmHWM) with 200 streams a connection less that with 1, \
               divided by 1990; user memory only. The target waits for 100 ms before each answer, \
               so nearly all streams are open all the time."
            .to_owned(),
        ours: Box::new(|bench| {
            let with = |streams: u32| {
                let words = format!("--http2 --streams {streams} --schedule closed");
                BothEnds::run(bench, ("http", "/?size=16&delay=100ms"), CONNECTIONS, &words)
            };
            let more = CONNECTIONS * (MANY - FEW);
            let [client, target] = each(&with(FEW)?, &with(MANY)?, more);
            Ok(Figures::from([(CLIENT, client), (TARGET, target)]))
        }),
        theirs: None,
    }
}
