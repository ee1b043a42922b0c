//! Memory of connections over TLS.

use super::{BothEnds, each};
use crate::bench::Figures;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const FEW: u32 = 10;
const MANY: u32 = 2000;
/// Connections rest most of the time, and none waits for a turn.
const PER_S: u32 = 2000;

const CLIENT: &str = "client_bytes_per_connection";
const TARGET: &str = "target_bytes_per_connection";
const GOALS: &[Goal] = &[
    Goal::value(CLIENT, "memory a connection, client", "KiB", 1.0 / 1024.0, Reach::AtMost(24.0)),
    Goal::value(TARGET, "memory a connection, target", "KiB", 1.0 / 1024.0, Reach::AtMost(24.0)),
];

/// 2000 connections with a request a second each.
pub(crate) fn row() -> Row {
    Row {
        name: "memory-tls".to_owned(),
        what: "https, 2000 connections, one thread, our target".to_owned(),
        against: "",
        needs: Vec::new(),
        goals: GOALS,
        note: "Peak resident memory (VmHWM) with 2000 connections less that with 10, divided by \
               1990; user memory only. 2000 requests a second."
            .to_owned(),
        ours: Box::new(|bench| {
            let words = format!("--insecure-tls --schedule rate --rate {PER_S}");
            let with =
                |connections| BothEnds::run(bench, ("https", "/?size=16"), connections, &words);
            let [client, target] = each(&with(FEW)?, &with(MANY)?, MANY - FEW);
            Ok(Figures::from([(CLIENT, client), (TARGET, target)]))
        }),
        theirs: None,
    }
}
