//! Helpers that this program starts in the lab, as hidden subcommands of itself.

pub(crate) mod answer;
pub(crate) mod get;
pub(crate) mod pacing;
pub(crate) mod plain;

use std::net::TcpListener;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::cli::Helper;

/// Runs a helper; what it prints is its result.
///
/// # Errors
/// When it fails.
pub(crate) fn run(part: Helper) -> Result<String> {
    let listen =
        |port| TcpListener::bind(("0.0.0.0", port)).with_context(|| format!("TCP port {port}"));
    match part {
        Helper::PlainSend { target, connections, size } => {
            plain::send(target, connections, size).map(|()| String::new())
        }
        Helper::PlainReceive { port, connections, size, warmup_ms, window_ms } => {
            let (warmup, window) =
                (Duration::from_millis(warmup_ms), Duration::from_millis(window_ms));
            let received = plain::receive(&listen(port)?, connections, size, warmup, window)?;
            Ok(serde_json::to_string(&received)?)
        }
        Helper::PlainPace { per_s, pacing, warmup_ms, window_ms } => {
            let (warmup, window) =
                (Duration::from_millis(warmup_ms), Duration::from_millis(window_ms));
            Ok(serde_json::to_string(&pacing::pace(per_s, pacing, warmup, window)?)?)
        }
        Helper::Answer { port } => answer::serve(&listen(port)?).map(|never| match never {}),
        Helper::Get { target, path } => get::get(target, &path),
    }
}
