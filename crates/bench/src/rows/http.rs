//! HTTP requests against other generators.

pub(super) mod closed;
pub(super) mod rate_cpu;
pub(super) mod rate_exact;
pub(super) mod rate_limit;

use crate::bench::Peer;
use crate::bench::target::Kind;
use crate::peer::http::generator::Generator;
use crate::row::goal::{Goal, Reach};

/// Whether the target was the limit: at one core it was.
const TARGET_CORES: Goal = Goal::ratio("target_cores", "target's CPU", "cores", 1.0, Reach::Shown);

/// The programs of a row with this peer and this target.
fn needs(generator: Option<&Generator>, target: Kind) -> Vec<&'static Peer> {
    generator
        .map(|generator| generator.peer)
        .into_iter()
        .chain(target.needs().iter().copied())
        .collect()
}
