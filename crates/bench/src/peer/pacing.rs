//! The plain pacing loop of [`crate::part::pacing`] as a peer.

use anyhow::{Context, Result, ensure};
use hopbench_model::Pacing;

use crate::bench::{Bench, Figures, WARMUP};
use crate::lab::End;
use crate::part::pacing::Paced;

/// Its name for the table.
pub(crate) const SHOWN: &str = "plain pacing loop";
/// The fact about its run that a reader must know.
pub(crate) const NOTE: &str = "The peer is crates/bench/src/part/pacing.rs. It waits for the same \
                               rate in the same way on the client's CPU, as long as ours and with \
                               the same warm-up, and sends nothing. Where it is late, too, the \
                               machine alone is late. No goal is about it.";

/// The loop at a rate, at the client's end.
///
/// Figures: `lateness_p99_ns` in the window after the same warm-up as ours.
///
/// # Errors
/// When it fails, or did not come to every intended time.
pub(crate) fn lateness(bench: &Bench, per_s: u64, pacing: Pacing) -> Result<Figures> {
    let (warmup, window) = (WARMUP.as_millis(), bench.window().as_millis());
    let command = format!("plain-pace {per_s} {pacing} {warmup} {window}");
    let finished = bench.run(&bench.own(End::Client, &command)?)?;
    let paced: Paced =
        serde_json::from_str(&finished.stdout).context("output of the plain pacing loop")?;
    let expected = per_s * u64::from(bench.seconds());
    ensure!(
        paced.steps == expected,
        "the plain pacing loop made {} steps, expected {expected}",
        paced.steps
    );
    Ok(Figures::from([("lateness_p99_ns", paced.lateness_p99_ns as f64)]))
}
