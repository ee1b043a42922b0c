//! The progress of a run: the answer so far on a terminal, a line now and then elsewhere, and a log
//! of all trials.

mod lines;
mod log;
mod observer;
mod pace;
mod status;

pub(super) use self::log::Log;
pub(super) use self::observer::Progress;
pub(super) use self::pace::Pace;
