//! The progress of a run: a line in place on a terminal, a line now and then elsewhere, and a log
//! of all trials.

mod lines;
mod live;
mod log;
mod observer;
mod pace;

pub(super) use self::log::Log;
pub(super) use self::observer::Progress;
