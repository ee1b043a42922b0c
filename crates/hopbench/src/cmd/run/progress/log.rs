//! The file that has a line for each trial.

use std::fs::File;
use std::io::Write;

use hopbench_model::printable;
use hopbench_run::Event;

use super::lines::{Line, Lines};

/// Writes what happens in words into a file.
#[derive(Debug)]
pub(in crate::cmd::run) struct Log {
    lines: Lines,
    file: File,
}

impl Log {
    /// Appends to this file.
    pub(in crate::cmd::run) fn new(file: File) -> Self {
        Self { lines: Lines::default(), file }
    }

    /// Writes the event down; nobody needs to read it for the run to go on.
    pub(in crate::cmd::run) fn write(&mut self, event: &Event<'_>) {
        drop(self.line(event));
    }

    /// The same; what was written.
    pub(super) fn line(&mut self, event: &Event<'_>) -> Option<Line> {
        let line = self.lines.of(event)?;
        // Others' words make no line of ours.
        let text = line.text.trim_end().replace('\n', "\n  ");
        let _ = writeln!(self.file, "{}", printable::lines(&text));
        Some(line)
    }
}
