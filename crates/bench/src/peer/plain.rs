//! The plain epoll loop of [`crate::part::plain`] as a peer.

use anyhow::{Context, Result};

use crate::bench::{Bench, Figures, WARMUP};
use crate::lab::{End, SERVER_ADDRESS};
use crate::part::plain::Received;
use crate::process::listening;

const PORT: u16 = 7475;

/// One thread that writes, one that reads, over this many connections, `size` bytes at a time.
///
/// Figures: `received_bits_per_s` in the window after the same warm-up as ours.
///
/// # Errors
/// When one of the two fails.
pub(crate) fn stream(bench: &Bench, connections: u32, size: u32) -> Result<Figures> {
    let number = |value: u128| value.to_string();
    let (port, c, size) = (PORT.to_string(), connections.to_string(), size.to_string());
    let (warmup, window) = (number(WARMUP.as_millis()), number(bench.window().as_millis()));
    let mut receiver = bench
        .own(End::Server, &["plain-receive", &port, &c, &size, &warmup, &window])?
        .start(bench.scratch())?;
    listening::wait(&mut receiver, PORT)?;
    let target = format!("{SERVER_ADDRESS}:{PORT}");
    let sender =
        bench.own(End::Client, &["plain-send", &target, &c, &size])?.start(bench.scratch())?;
    let finished = receiver.finish(bench.limit())?;
    sender.finish(bench.limit())?;
    let received: Received =
        serde_json::from_str(&finished.stdout).context("output of the plain epoll loop")?;
    Ok(Figures::from([("received_bits_per_s", received.bytes as f64 * 8.0 / received.window_s)]))
}
