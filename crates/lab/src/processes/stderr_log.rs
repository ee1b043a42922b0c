//! The log of what a process writes to its standard error, or to both of its outputs.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use hopbench_model::{Nanos, printable};
use hopbench_sys::clock;

/// Lines are cut after this many bytes: a log is for people.
const MOST_LINE_BYTES: u64 = 4096;
/// The last lines that are kept: they say why a process ended.
const MOST_LINES: usize = 20;
/// The longest wait for the last lines of a process that has ended.
const MOST_END_NS: Nanos = 200_000_000;
const LOOK_NS: Nanos = 1_000_000;

/// The standard error of one process, or both of its outputs, read as it comes. Characters that
/// steer a terminal are escaped. If nobody read it, the process would stop when the pipe is full.
#[derive(Debug)]
pub(crate) struct StderrLog {
    last: Arc<Mutex<VecDeque<String>>>,
    /// Ends with the process, whose end of the pipe is the only one.
    reader: JoinHandle<()>,
}

impl StderrLog {
    /// Reads from now on. Lines also go to `log`, with the process' name before them.
    pub(crate) fn follow(
        name: &str,
        stderr: impl Read + Send + 'static,
        log: Option<File>,
    ) -> io::Result<Self> {
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let (lines, name) = (Arc::clone(&last), name.to_owned());
        let reader = std::thread::Builder::new()
            .name("stderr-log".to_owned())
            .spawn(move || read(&name, stderr, log, &lines))?;
        Ok(Self { last, reader })
    }

    /// The last lines of a process that has ended.
    pub(crate) fn last(&self) -> String {
        let end = clock::now() + MOST_END_NS;
        while !self.reader.is_finished() && clock::now() < end {
            clock::sleep_until(clock::now() + LOOK_NS);
        }
        self.so_far()
    }

    /// The last lines until now.
    pub(crate) fn so_far(&self) -> String {
        let lines = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

fn read(name: &str, stderr: impl Read, mut log: Option<File>, last: &Mutex<VecDeque<String>>) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    while matches!((&mut stderr).take(MOST_LINE_BYTES).read_until(b'\n', &mut line), Ok(1..)) {
        let text = printable::line(String::from_utf8_lossy(&line).trim_end()).into_owned();
        if let Some(log) = &mut log {
            // One write: lines of several processes do not mix. A log that cannot be written must
            // not end a measurement.
            let _ = log.write_all(format!("{name}: {text}\n").as_bytes());
        }
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == MOST_LINES {
            last.pop_front();
        }
        last.push_back(text);
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_a_line_without_an_end_is_cut() {
        let mut text: String = (0..30).map(|n| format!("line {n}\n")).collect();
        text.push_str(&"x".repeat(5000));
        text.push_str("\n\u{1b}[2Jhello\u{202e}\n");
        let last = StderrLog::follow("p", io::Cursor::new(text), None).unwrap().last();
        let lines: Vec<&str> = last.lines().collect();
        assert_eq!(lines.len(), MOST_LINES);
        assert_eq!((lines[0], lines[16]), ("line 13", "line 29"));
        assert_eq!((lines[17].len(), lines[18].len()), (4096, 904));
        assert_eq!(lines[19], "\\u001b[2Jhello\\u202e");
    }
}
