//! Text by its lines.

use hopbench_model::{Problem, printable};

use super::MOST_SHOWN;

/// A line, or what is left of one, without blanks around it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// From 1.
    pub(crate) number: usize,
    /// Its text.
    pub(crate) text: &'a str,
}

/// A file of text.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    file: &'a str,
    text: &'a str,
}

/// The test of a line.
type Wanted<'f> = &'f dyn Fn(&str) -> bool;

impl<'a> Text<'a> {
    /// `text` must be [`plain`].
    pub(crate) fn new(file: &'a str, text: &'a str) -> Self {
        Self { file, text }
    }

    /// All lines.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'a>> + use<'a> {
        let all = self.text.lines().enumerate();
        all.map(|(index, text)| Line { number: index + 1, text: text.trim() })
    }

    /// The lines behind another one.
    pub(crate) fn behind(&self, line: Line<'_>) -> impl Iterator<Item = Line<'a>> + use<'a> {
        self.lines().skip(line.number)
    }

    /// The first such line.
    pub(crate) fn find(&self, is_it: Wanted<'_>) -> Option<Line<'a>> {
        self.lines().find(|line| is_it(line.text))
    }

    /// The first such line, which the format always has.
    pub(crate) fn needed(&self, is_it: Wanted<'_>, expected: &str) -> Result<Line<'a>, Problem> {
        self.find(is_it).ok_or_else(|| self.missing(expected))
    }

    /// The rest of the first line that begins so.
    pub(crate) fn field(&self, start: &str) -> Option<Line<'a>> {
        let line = self.find(&|text| text.starts_with(start))?;
        Some(Line { text: line.text[start.len()..].trim(), ..line })
    }

    /// The same of a line that the format always has.
    pub(crate) fn needed_field(&self, start: &str) -> Result<Line<'a>, Problem> {
        self.field(start).ok_or_else(|| self.missing(&format!("a line `{start}`")))
    }

    /// The line with which an output begins. A second one means that several outputs are mixed.
    pub(crate) fn only(&self, is_it: Wanted<'_>, expected: &str) -> Result<Line<'a>, Problem> {
        let mut found = self.lines().filter(|line| is_it(line.text));
        let first = found.next().ok_or_else(|| self.missing(expected))?;
        match found.next() {
            None => Ok(first),
            Some(second) => Err(self.wrong(second, "one result; put each into a file of its own")),
        }
    }

    /// Refuses a last line without its end: a number in it may be cut off.
    pub(crate) fn whole(&self) -> Result<(), Problem> {
        match self.lines().last().filter(|_| !self.text.ends_with('\n')) {
            Some(last) => Err(self.wrong(last, "a line with an end; the file may be cut off")),
            None => Ok(()),
        }
    }

    /// A value that was read from a line, or the problem with the line.
    pub(crate) fn value<T>(
        &self,
        line: Line<'_>,
        value: Option<T>,
        expected: &str,
    ) -> Result<T, Problem> {
        value.ok_or_else(|| self.wrong(line, expected))
    }

    /// The problem with a line.
    pub(crate) fn wrong(&self, line: Line<'_>, expected: &str) -> Problem {
        let at = format!("{} line {}", self.file, line.number);
        Problem::new(at, printable::excerpt(line.text, MOST_SHOWN), expected)
    }

    /// The problem that something is not there.
    pub(crate) fn missing(&self, expected: &str) -> Problem {
        let at = format!("{} line {}", self.file, self.text.lines().count());
        Problem::new(at, "the end of the file", format!("{expected}; the file may be cut off"))
    }
}

/// A text without the sequences that colour a terminal.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, sequence)) = rest.split_once('\u{1b}') {
        out.push_str(before);
        rest = match sequence.strip_prefix('[') {
            // It ends with its first letter.
            Some(codes) => match codes.find(|c: char| c.is_ascii_alphabetic()) {
                Some(at) => &codes[at + 1..],
                None => "",
            },
            None => sequence,
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_name_the_line() {
        let text = Text::new("a.txt", "head\n  total: 5\nhead\n");
        assert_eq!(text.field("total:").map(|line| (line.number, line.text)), Some((2, "5")));
        let twice = text.only(&|line| line == "head", "a head").unwrap_err().to_string();
        assert_eq!(
            twice,
            "a.txt line 3: found `head`, expected one result; put each into a file of its own"
        );
        let missing = text.needed_field("rate:").unwrap_err().to_string();
        assert!(missing.starts_with("a.txt line 3: found `the end of the file`, expected"));
        assert_eq!((text.whole(), Text::new("a.txt", "").whole()), (Ok(()), Ok(())));
        let cut = Text::new("a.txt", "head\nrate: 12").whole().unwrap_err().to_string();
        assert!(cut.starts_with("a.txt line 2: found `rate: 12`, expected a line with an end"));
    }

    #[test]
    fn colours_are_left_out() {
        assert_eq!(plain("a\u{1b}[2;35mb\u{1b}[0m\nc"), "ab\nc");
        assert_eq!(plain("a\u{1b}"), "a");
        assert_eq!(plain(&"\u{1b}".repeat(1 << 20)), "");
        assert_eq!(plain("\u{1b}[12\nx"), "", "an endless one takes the rest up to a letter");
    }
}
