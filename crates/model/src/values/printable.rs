//! The one sanitizer of hopbench: texts as they may be shown.
//!
//! Names, messages and bodies come from peers, clusters, files and scenarios. Some of their
//! characters steer a terminal, turn the direction of text, are invisible, or end a line where one
//! line is meant. These are spelled out, as `\u001b`. JSON has such characters only inside strings,
//! where that spelling means the same character. So JSON is sanitized like any other text, and
//! stays the same JSON.

use std::borrow::Cow;

/// The styles that our own text uses on a terminal: plain, bold, dim.
const STYLES: [&str; 3] = ["\x1b[0m", "\x1b[1m", "\x1b[2m"];

/// Whether a character shows nothing itself and changes how others are shown: controls, marks of
/// direction, invisible formats, separators of lines and paragraphs, tags.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Appends the spelling of a character: `\n`, `\u001b`; beyond 16 bits two of them, as JSON has it.
pub fn spell(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
}

/// A text of several lines: line feeds and tabs stay, whoever wrote them.
pub fn lines(text: &str) -> Cow<'_, str> {
    sanitized(text, |c| steers(c) && !matches!(c, '\n' | '\t'))
}

/// A text of one line: a line feed in it is spelled out, and makes no second line.
pub fn line(text: &str) -> Cow<'_, str> {
    sanitized(text, steers)
}

/// Whether a character may stand in the name of a file of ours: no shell, page or file system
/// takes it for anything else.
pub fn is_of_file_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.+".contains(c)
}

/// A text as the name of a file: other characters become `_`.
pub fn file_name(text: &str) -> String {
    text.chars().map(|c| if is_of_file_name(c) { c } else { '_' }).collect()
}

/// As [`lines`], for a terminal: bold, dim and their end stay.
pub fn styled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        out.push_str(&lines(&rest[..at]));
        rest = &rest[at..];
        let style = STYLES.iter().find(|style| rest.starts_with(**style));
        match style {
            Some(style) => out.push_str(style),
            None => spell(&mut out, '\x1b'),
        }
        rest = &rest[style.map_or(1, |style| style.len())..];
    }
    out.push_str(&lines(rest));
    out
}

/// As much of a line as fits into so many columns of a terminal, and the columns that it takes. The
/// styles of our own text take none, and stay. Other characters than those of our own text are
/// counted as wide ones.
pub fn fitted(line: &str, columns: usize) -> (String, usize) {
    let mut out = String::with_capacity(line.len());
    let (mut used, mut is_full) = (0, false);
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if let Some(style) = STYLES.iter().find(|style| rest.starts_with(**style)) {
            out.push_str(style);
            rest = &rest[style.len()..];
            continue;
        }
        let own = if c.is_ascii() || matches!(c, 'µ' | '×' | '±') { 1 } else { 2 };
        is_full |= used + own > columns;
        if !is_full {
            out.push(c);
            used += own;
        }
        rest = &rest[c.len_utf8()..];
    }
    (out, used)
}

/// The first `most` characters of a text as one line, `...` behind them if there are more.
pub fn excerpt(text: &str, most: usize) -> String {
    let end = text.char_indices().nth(most).map(|(at, _)| at);
    let start = line(&text[..end.unwrap_or(text.len())]);
    if end.is_some() { format!("{start}...") } else { start.into_owned() }
}

/// The last lines of a text as one line, `; ` between them: those that have at most `most`
/// characters together. Of a last line that is longer, its beginning.
pub fn last_lines(text: &str, most: usize) -> String {
    let (mut last, mut room) = (Vec::new(), most);
    for line in text.lines().rev().map(str::trim).filter(|line| !line.is_empty()) {
        let takes = line.chars().count() + if last.is_empty() { 0 } else { 2 };
        if takes > room && !last.is_empty() {
            break;
        }
        room = room.saturating_sub(takes);
        last.push(line);
    }
    last.reverse();
    excerpt(&last.join("; "), most)
}

fn sanitized(text: &str, is_spelled: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_spelled) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_spelled(c) {
            spell(&mut out, c);
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_steers_is_spelled_and_all_else_stays() {
        for (text, expected) in [
            ("plain, äöü, 日本, \\, \"", "plain, äöü, 日本, \\, \""),
            ("\u{1b}[2J\u{7}\u{7f}", "\\u001b[2J\\u0007\\u007f"),
            ("\u{9b}31m", "\\u009b31m"),
            ("a\u{202e}b\u{2066}c\u{200f}", "a\\u202eb\\u2066c\\u200f"),
            ("a\u{2028}b\u{2029}c\u{85}", "a\\u2028b\\u2029c\\u0085"),
            ("\u{e0041}", "\\udb40\\udc41"),
            ("a\rb", "a\\rb"),
        ] {
            assert_eq!(lines(text), expected);
            assert_eq!(line(text), expected);
        }
        assert_eq!((lines("a\n\tb"), line("a\n\tb")), (Cow::from("a\n\tb"), Cow::from("a\\n\\tb")));
    }

    #[test]
    fn a_terminal_keeps_our_own_styles_only() {
        assert_eq!(styled("\x1b[1mcost\x1b[0m\n"), "\x1b[1mcost\x1b[0m\n");
        assert_eq!(styled("\x1b[31mred\x1b[1\x1b"), "\\u001b[31mred\\u001b[1\\u001b");
        assert_eq!(styled("\x1b]0;title\x07"), "\\u001b]0;title\\u0007");
    }

    #[test]
    fn a_line_is_cut_at_the_last_column_and_styles_take_none() {
        assert_eq!(fitted("bridge +4 %", 11), ("bridge +4 %".to_owned(), 11));
        assert_eq!(fitted("bridge +4 %", 6), ("bridge".to_owned(), 6));
        assert_eq!(fitted("a \x1b[1m+4 %\x1b[0m b", 4), ("a \x1b[1m+4\x1b[0m".to_owned(), 4));
        assert_eq!(fitted("a日b", 2), ("a".to_owned(), 1), "a wide one is not halved");
        assert_eq!(fitted("5 µs", 4), ("5 µs".to_owned(), 4));
        assert_eq!(fitted("x", 0), (String::new(), 0));
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt("SSH-2.0\r\n", 60), "SSH-2.0\\r\\n");
        assert_eq!(excerpt("äbc", 2), "äb...");
        assert_eq!(excerpt("äb", 2), "äb");
    }

    #[test]
    fn the_last_lines_that_fit_are_told() {
        assert_eq!(last_lines("one\n\n two\r\nthree\n", 60), "one; two; three");
        assert_eq!(last_lines("one\ntwo\nthree\n", 10), "two; three");
        assert_eq!(last_lines("one\ntwo\nthree\n", 9), "three");
        assert_eq!(last_lines("one\nthree\u{1b}\n", 3), "thr...");
        assert_eq!(last_lines(" \n", 9), "");
    }

    proptest! {
        #[test]
        fn no_text_steers_and_json_stays_the_same(text in any::<String>()) {
            prop_assert!(!line(&text).chars().any(steers));
            prop_assert!(!lines(&text).chars().any(|c| steers(c) && !matches!(c, '\n' | '\t')));
            let json = serde_json::to_string(&text).unwrap();
            let read: String = serde_json::from_str(&lines(&json)).unwrap();
            prop_assert_eq!(read, text);
        }
    }
}
