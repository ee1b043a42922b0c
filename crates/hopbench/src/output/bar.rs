//! The line on standard error that is drawn over while something runs.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hopbench_model::printable;
use hopbench_sys::terminal;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

use super::{remark, tell};

/// A line that is drawn over, where standard error is a terminal; elsewhere nothing is drawn. What
/// is drawn goes through the sanitizer, and what is said beside it stands above it.
#[derive(Debug, Clone)]
pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// Draws nothing yet.
    pub(crate) fn new() -> Self {
        let bar = if stderr().is_terminal() {
            ProgressBar::with_draw_target(
                None,
                ProgressDrawTarget::term_like_with_hz(Box::<Screen>::default(), 20),
            )
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

/// Columns at the right that stay free. The `^C` that a terminal shows has room there, and begins
/// no line of its own, which nobody would take away.
const MARGIN: usize = 4;
/// Columns of a terminal that does not say.
const COLUMNS: usize = 80;

/// Standard error as what is drawn on; everything reaches it at once.
#[derive(Debug, Default)]
struct Screen(Mutex<Vec<u8>>);

impl Screen {
    fn buffer(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the cursor so many columns or lines; `way` is the last letter of the sequence.
    fn moved(&self, n: usize, way: char) -> io::Result<()> {
        if n == 0 { Ok(()) } else { self.write_str(&format!("\u{1b}[{n}{way}")) }
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        let columns = terminal::size().map_or(COLUMNS, |(columns, _)| columns);
        u16::try_from(columns).unwrap_or(u16::MAX).max(1)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.moved(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.moved(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.moved(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.moved(n, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.buffer().extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.write_str("\r\u{1b}[2K")
    }

    fn flush(&self) -> io::Result<()> {
        let mut text = std::mem::take(&mut *self.buffer());
        // What is drawn last fills its line with blanks, up to the last column.
        let blanks = text.iter().rev().take(MARGIN).take_while(|byte| **byte == b' ').count();
        text.truncate(text.len() - blanks);
        stderr().lock().write_all(&text)
    }
}
