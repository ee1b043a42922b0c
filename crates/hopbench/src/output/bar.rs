//! A progress display on standard error, redrawn in place on a terminal.

use std::fmt::Display;
use std::io::{IsTerminal, Write, stderr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hopbench_model::{Nanos, SECOND, printable};
use hopbench_sys::{clock, terminal};

use super::{remark, tell};

/// Columns at the right of the last line that stay free. The `^C` that a terminal shows has room
/// there, and begins no line of its own, which nobody would take away.
const MARGIN: usize = 4;
/// Columns and lines of a terminal that does not say.
const USUAL: (usize, usize) = (80, 24);
/// Between two drawings, ns.
const EVERY: Nanos = SECOND / 20;

/// Lines that are drawn over, where standard error is a terminal; elsewhere nothing is drawn. What
/// is drawn goes through the sanitizer, and what is said beside it stands above it.
#[derive(Debug, Clone)]
pub(crate) struct Bar(Option<Arc<Mutex<Drawn>>>);

impl Bar {
    /// Draws nothing yet.
    pub(crate) fn new() -> Self {
        Self(stderr().is_terminal().then(Arc::default))
    }

    /// Whether anything is drawn at all.
    pub(crate) fn is_shown(&self) -> bool {
        self.0.is_some()
    }

    /// The columns and lines that it can take now.
    pub(crate) fn room(&self) -> (usize, usize) {
        room(size())
    }

    /// Draws this, which may have several lines; bold and dim stay so. It is left out if something
    /// was drawn just before.
    pub(crate) fn show(&self, text: &str) {
        let Some(mut drawn) = self.drawn() else { return };
        let now = clock::now();
        if drawn.at.is_some_and(|at| now.saturating_sub(at) < EVERY) {
            return;
        }
        drawn.at = Some(now);
        text.clone_into(&mut drawn.text);
        put(&drawn.over(size()));
    }

    /// A line that stays, with our name before it.
    pub(crate) fn tell(&self, text: impl Display) {
        self.beside(|| tell(text));
    }

    /// A line that stays.
    pub(crate) fn remark(&self, text: impl Display) {
        self.beside(|| remark(text));
    }

    /// Takes it away.
    pub(crate) fn clear(&self) {
        let Some(mut drawn) = self.drawn() else { return };
        put(&drawn.erased(size().0));
        *drawn = Drawn::default();
    }

    /// Says something where the drawing was, and draws it again below.
    fn beside(&self, say: impl FnOnce()) {
        let Some(mut drawn) = self.drawn() else { return say() };
        let size = size();
        put(&drawn.erased(size.0));
        say();
        put(&drawn.over(size));
    }

    fn drawn(&self) -> Option<MutexGuard<'_, Drawn>> {
        Some(self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What is drawn, and where it is on the terminal.
#[derive(Debug, Default)]
struct Drawn {
    text: String,
    /// The columns of each line that is there; the cursor is behind the last.
    lines: Vec<usize>,
    /// When it was drawn last.
    at: Option<Nanos>,
}

impl Drawn {
    /// The sequence that takes away what is there, on a terminal of so many columns. One that was
    /// made narrower has broken the lines that no longer fit.
    fn erased(&mut self, columns: usize) -> String {
        let rows = |own: usize| own.div_ceil(columns.max(1)).max(1);
        match self.lines.drain(..).map(rows).sum::<usize>() {
            0 => String::new(),
            1 => "\r\u{1b}[J".to_owned(),
            rows => format!("\r\u{1b}[{}A\u{1b}[J", rows - 1),
        }
    }

    /// The sequence that draws the text over what is there, on a terminal of this size.
    fn over(&mut self, size: (usize, usize)) -> String {
        let mut out = self.erased(size.0);
        let (columns, height) = room(size);
        let text = printable::styled(&self.text).replace('\t', " ");
        let lines: Vec<&str> = text.lines().take(height).collect();
        for (index, line) in lines.iter().enumerate() {
            let is_last = index + 1 == lines.len();
            let free = if is_last { MARGIN } else { 0 };
            let (line, own) = printable::fitted(line, columns.saturating_sub(free));
            out.push_str(&line);
            if !is_last {
                out.push('\n');
            }
            self.lines.push(own);
        }
        out
    }
}

/// The part of a terminal that is drawn on: the line above stays in sight.
fn room((columns, lines): (usize, usize)) -> (usize, usize) {
    (columns, lines.saturating_sub(1).max(1))
}

fn size() -> (usize, usize) {
    terminal::stderr_size().unwrap_or(USUAL)
}

/// Everything reaches the terminal at once. Nobody may be there to see it.
fn put(text: &str) {
    let _ = stderr().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A terminal that breaks long lines, also those that are there when it is made narrower.
    struct Terminal {
        columns: usize,
        rows: Vec<String>,
        /// The cursor's row; it is behind the last character of that row, or at its begin.
        row: usize,
        at_begin: bool,
    }

    impl Terminal {
        fn new(columns: usize) -> Self {
            Self { columns, rows: vec![String::new()], row: 0, at_begin: false }
        }

        fn write(&mut self, text: &str) {
            let mut rest = text.chars();
            while let Some(c) = rest.next() {
                match c {
                    '\r' => self.at_begin = true,
                    '\n' => {
                        self.row += 1;
                        self.at_begin = false;
                        self.rows.truncate(self.row);
                        self.rows.push(String::new());
                    }
                    '\u{1b}' => {
                        let sequence: String =
                            rest.by_ref().take_while(|c| !c.is_ascii_alphabetic()).collect();
                        // `take_while` took the letter, too: only one sequence has a number.
                        match sequence.trim_start_matches('[').parse::<usize>() {
                            Ok(up) => self.row = self.row.saturating_sub(up),
                            Err(_) => {
                                assert!(self.at_begin, "all of the row is meant");
                                self.rows.truncate(self.row);
                                self.rows.push(String::new());
                            }
                        }
                    }
                    c => {
                        if self.rows[self.row].chars().count() == self.columns {
                            self.row += 1;
                            self.rows.push(String::new());
                        }
                        self.at_begin = false;
                        self.rows[self.row].push(c);
                    }
                }
            }
        }

        fn resize(&mut self, columns: usize) {
            let broken = |row: &String| -> Vec<String> {
                let all: Vec<char> = row.chars().collect();
                if all.is_empty() {
                    vec![String::new()]
                } else {
                    all.chunks(columns).map(|part| part.iter().collect()).collect()
                }
            };
            self.rows = self.rows.iter().flat_map(broken).collect();
            (self.columns, self.row) = (columns, self.rows.len() - 1);
        }
    }

    fn drawn(text: &str) -> Drawn {
        Drawn { text: text.to_owned(), ..Drawn::default() }
    }

    #[test]
    fn what_is_drawn_over_leaves_nothing_behind_however_the_size_changes() {
        let mut terminal = Terminal::new(20);
        terminal.write("above\n");
        let mut bar = drawn("a row of 20 columns.\nsecond\nthe third row is long");
        terminal.write(&bar.over((20, 10)));
        assert_eq!(terminal.rows, ["above", "a row of 20 columns.", "second", "the third row is"]);
        bar.text = "less".to_owned();
        terminal.write(&bar.over((20, 10)));
        assert_eq!(terminal.rows, ["above", "less"]);
        bar.text = "a row of 20 columns.\nsecond\nlast".to_owned();
        terminal.write(&bar.over((20, 10)));
        for columns in [7, 12, 30] {
            terminal.resize(columns);
            terminal.write(&bar.over((columns, 10)));
            let first: String = "a row of 20 columns.".chars().take(columns).collect();
            let last: String = "last".chars().take(columns - MARGIN).collect();
            assert_eq!(terminal.rows, ["above", &first, "second", &last], "{columns} columns");
        }
        terminal.write(&bar.erased(30));
        assert_eq!(terminal.rows, ["above", ""]);
        assert_eq!(bar.erased(30), "", "nothing is there");
    }

    #[test]
    fn no_more_is_drawn_than_the_terminal_has_lines() {
        let mut bar = drawn("1\n2\n3\n4\n5\n6");
        assert_eq!(bar.over((80, 4)), "1\n2\n3");
        assert_eq!(bar.over((80, 1)), "\r\u{1b}[2A\u{1b}[J1");
        assert_eq!(bar.over((80, 0)), "\r\u{1b}[J1");
    }

    #[test]
    fn what_others_wrote_steers_nothing() {
        let mut bar = drawn("\u{1b}[1mours\u{1b}[0m\ttheirs\u{1b}[2J\u{7}\u{9b}31m");
        let shown = bar.over((80, 24));
        assert_eq!(shown, "\u{1b}[1mours\u{1b}[0m theirs\\u001b[2J\\u0007\\u009b31m");
        assert_eq!(bar.lines, [35]);
    }
}
