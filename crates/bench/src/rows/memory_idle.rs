//! Memory of an agent that waits.

use std::time::Duration;

use anyhow::Result;

use crate::bench::Bench;
use crate::figures::Figures;
use crate::goal::{Goal, Reach};
use crate::peer::Peer;
use crate::row::Row;
use crate::{interrupt, memory, ours};

/// `hopbench serve` without a client.
#[derive(Debug)]
pub(super) struct MemoryIdle;

impl Row for MemoryIdle {
    fn name(&self) -> String {
        "memory-idle".to_owned()
    }

    fn what(&self) -> String {
        "agent, idle".to_owned()
    }

    fn against(&self) -> &'static str {
        ""
    }

    fn needs(&self) -> &'static [&'static Peer] {
        &[]
    }

    fn goals(&self) -> &'static [Goal] {
        const { &[Goal::value("rss_bytes", "resident memory", "MiB", 1.0 / 1_048_576.0, Reach::AtMost(16.0))] }
    }

    fn note(&self) -> &'static str {
        "VmRSS of `hopbench serve`, half a second after it listens."
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let server = ours::serve(bench)?;
        interrupt::sleep(Duration::from_millis(500))?;
        let rss = memory::bytes(&server, memory::Kind::Resident)?;
        server.stop()?;
        Ok(Figures::from([("rss_bytes", rss)]))
    }

    fn theirs(&self, _: &Bench) -> Result<Option<Figures>> {
        Ok(None)
    }
}
