//! The line on standard error that is drawn over while something runs.

use std::fmt::Display;
use std::io::{IsTerminal, stderr};

use hopbench_model::printable;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{remark, tell};

/// A line that is drawn over, where standard error is a terminal; elsewhere nothing is drawn. What
/// is drawn goes through the sanitizer, and what is said beside it stands above it.
#[derive(Debug, Clone)]
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// Draws nothing yet.
    pub(crate) fn new() -> Self {
        let bar = if stderr().is_terminal() {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Draws this, which may have several lines.
    pub(crate) fn show(&self, text: &str) {
        self.0.set_message(printable::lines(text).into_owned());
    }

    /// A line that stays, with our name before it.
    pub(crate) fn tell(&self, text: impl Display) {
        self.0.suspend(|| tell(text));
    }

    /// A line that stays.
    pub(crate) fn remark(&self, text: impl Display) {
        self.0.suspend(|| remark(text));
    }

    /// Takes it away.
    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}
