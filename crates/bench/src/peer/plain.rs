//! The plain epoll loop of [`crate::part::plain`] as a peer.

use anyhow::{Context, Result};

use crate::bench::{Bench, Figures, WARMUP};
use crate::lab::{End, SERVER_ADDRESS};
use crate::part::plain::Received;

const PORT: u16 = 7475;

/// One thread that writes, one that reads, over this many connections, `size` bytes at a time.
///
/// Figures: `received_bits_per_s` in the window after the same warm-up as ours.
///
/// # Errors
/// When one of the two fails.
pub(crate) fn stream(bench: &Bench, connections: u32, size: u32) -> Result<Figures> {
    let (warmup, window) = (WARMUP.as_millis(), bench.window().as_millis());
    let receive = format!("plain-receive {PORT} {connections} {size} {warmup} {window}");
    let receiver = bench.serve(&bench.own(End::Server, &receive)?, PORT)?;
    let send = format!("plain-send {SERVER_ADDRESS}:{PORT} {connections} {size}");
    let sender = bench.start(&bench.own(End::Client, &send)?)?;
    let finished = receiver.finish(bench.limit())?;
    sender.finish(bench.limit())?;
    let received: Received =
        serde_json::from_str(&finished.stdout).context("output of the plain epoll loop")?;
    Ok(Figures::from([("received_bits_per_s", received.bytes as f64 * 8.0 / received.window_s)]))
}
