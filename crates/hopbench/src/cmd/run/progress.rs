//! What a person sees of a run: a line in place on a terminal, now and then a line elsewhere, and a
//! log of all trials.

mod lines;
mod live;
mod log;
mod observer;
mod pace;

pub(super) use self::log::Log;
pub(super) use self::observer::Progress;
