//! The surroundings of a run: programs, targets, and the figures that come out.

mod context;
mod figures;
pub(crate) mod ours;
mod peer_program;
pub(crate) mod target;
mod text;
pub(crate) mod tools;

pub(crate) use context::{Bench, WARMUP};
pub(crate) use figures::{Figures, Spread};
pub(crate) use peer_program::{INSTALLED, Peer, Version};
#[cfg(test)]
pub(crate) use text::word_after;
pub(crate) use text::{number_after, split};
