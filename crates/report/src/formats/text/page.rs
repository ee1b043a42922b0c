//! A page of 80 columns: labels on the left, text on the right.

use crate::WIDTH;
use crate::text::wrap::{columns, plain, wrap};

/// Columns of the label with its indent and the blank after it.
const LABEL: usize = 18;

/// Text as it grows.
#[derive(Debug)]
pub(super) struct Page {
    out: String,
    terminal: bool,
}

#[derive(Debug, Clone, Copy)]
enum Style {
    Bold,
    Dim,
}

impl Page {
    pub(super) fn new(terminal: bool) -> Self {
        Self { out: String::new(), terminal }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    pub(super) fn blank(&mut self) {
        self.put("");
    }

    /// Starts a group.
    pub(super) fn heading(&mut self, text: &str) {
        self.blank();
        for line in wrap(&plain(text), WIDTH) {
            let line = self.styled(Style::Bold, &line);
            self.put(&line);
        }
    }

    /// A title at the left edge with text after it, continued under the text.
    pub(super) fn title(&mut self, title: &str, text: &str) {
        self.labelled("", title, text, Style::Bold);
    }

    /// A labelled figure or fact; nothing where there is no text.
    pub(super) fn field(&mut self, label: &str, text: &str) {
        self.labelled("  ", label, text, Style::Dim);
    }

    /// Several facts under one label, a line each.
    pub(super) fn fields<T: AsRef<str>>(&mut self, label: &str, texts: &[T]) {
        let mut label = label;
        for text in texts {
            self.field(label, text.as_ref());
            label = "";
        }
    }

    /// All that there is of several phrases under one label, in one sentence.
    pub(super) fn join(&mut self, label: &str, parts: impl IntoIterator<Item = Option<String>>) {
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        self.field(label, &parts.join(", "));
    }

    /// Something that must not be overlooked.
    pub(super) fn alarm(&mut self, text: &str) {
        for (i, line) in wrap(&plain(text), WIDTH - 3).iter().enumerate() {
            let line =
                self.styled(Style::Bold, &format!("{} {line}", if i == 0 { "!!" } else { "  " }));
            self.put(&line);
        }
    }

    /// A line of a table, which fits already.
    pub(super) fn row(&mut self, line: &str) {
        self.put(line.trim_end());
    }

    fn labelled(&mut self, indent: &str, label: &str, text: &str, style: Style) {
        let label = format!("{indent}{}", plain(label));
        let mut lines = wrap(&plain(text), WIDTH - LABEL).into_iter();
        let used = columns(&label);
        if used >= LABEL {
            // A long label has lines of its own.
            for line in wrap(label.trim_start(), WIDTH - indent.len()) {
                let line = format!("{indent}{}", self.styled(style, &line));
                self.put(&line);
            }
        } else if let Some(first) = lines.next() {
            let label = if label.trim().is_empty() { label } else { self.styled(style, &label) };
            self.put(&format!("{label}{:pad$}{first}", "", pad = LABEL - used));
        }
        for line in lines {
            self.put(&format!("{:LABEL$}{line}", ""));
        }
    }

    fn put(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn styled(&self, style: Style, text: &str) -> String {
        if !self.terminal {
            return text.to_owned();
        }
        let code = match style {
            Style::Bold => 1,
            Style::Dim => 2,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_and_texts_stay_within_the_page() {
        let mut page = Page::new(false);
        page.field("short", &"word ".repeat(40));
        page.field("a label that is longer than its column", &"x".repeat(200));
        page.title(&"t".repeat(100), "after");
        page.alarm(&"y".repeat(200));
        page.field("nothing", "");
        let text = page.finish();
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert!(!text.contains("nothing"));
        assert_eq!(text.matches('x').count(), 200);
    }

    #[test]
    fn styles_are_for_terminals_and_change_no_text() {
        let write = |terminal| {
            let mut page = Page::new(terminal);
            page.heading("cost");
            page.field("client", "1 core");
            page.alarm("broken");
            page.finish()
        };
        let styled = write(true);
        assert!(styled.contains("\x1b[1mcost\x1b[0m") && styled.contains("\x1b[2m  client"));
        let bare = styled.replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[0m", "");
        assert_eq!(bare, write(false));
    }
}
