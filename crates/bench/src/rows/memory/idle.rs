//! Memory of an agent that waits.

use std::time::Duration;

use crate::bench::{Figures, ours};
use crate::process::{interrupt, memory};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const MIB: f64 = 1_048_576.0;
const GOALS: &[Goal] =
    &[Goal::value("rss_bytes", "resident memory", "MiB", 1.0 / MIB, Reach::AtMost(16.0))];

/// `hopbench serve` without a client.
pub(crate) fn row() -> Row {
    Row {
        name: "memory-idle".to_owned(),
        what: "agent, idle".to_owned(),
        against: "",
        needs: Vec::new(),
        goals: GOALS,
        note: "VmRSS of `hopbench serve`, half a second after it listens.".to_owned(),
        ours: Box::new(|bench| {
            let server = ours::serve(bench)?;
            interrupt::sleep(Duration::from_millis(500))?;
            let rss = memory::bytes(&server, memory::MemoryKind::Resident)?;
            server.stop()?;
            Ok(Figures::from([("rss_bytes", rss)]))
        }),
        theirs: None,
    }
}
