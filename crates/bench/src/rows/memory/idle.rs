//! Memory of an agent that waits.

use std::time::Duration;

use anyhow::Result;

use crate::bench::{Bench, Figures, Peer, ours};
use crate::process::{interrupt, memory};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

/// `hopbench serve` without a client.
#[derive(Debug)]
pub(crate) struct MemoryIdle;

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

    fn needs(&self) -> Vec<&'static Peer> {
        Vec::new()
    }

    fn goals(&self) -> &'static [Goal] {
        const {
            &[Goal::value(
                "rss_bytes",
                "resident memory",
                "MiB",
                1.0 / 1_048_576.0,
                Reach::AtMost(16.0),
            )]
        }
    }

    fn note(&self) -> String {
        "VmRSS of `hopbench serve`, half a second after it listens.".to_owned()
    }

    fn ours(&self, bench: &Bench) -> Result<Figures> {
        let server = ours::serve(bench)?;
        interrupt::sleep(Duration::from_millis(500))?;
        let rss = memory::bytes(&server, memory::MemoryKind::Resident)?;
        server.stop()?;
        Ok(Figures::from([("rss_bytes", rss)]))
    }

    fn theirs(&self, _: &Bench) -> Result<Option<Figures>> {
        Ok(None)
    }
}
