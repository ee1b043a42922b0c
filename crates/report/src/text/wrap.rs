//! Plain text in lines of a given width, and columns beside each other.

use std::ops::Range;

use hopbench_model::printable::spell;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// The text in printable ASCII besides `µ`, `×` and `±`, on one line. What comes from the other end
/// or from a name must not steer a terminal, and every character then takes one column.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' '..='~' | 'µ' | '×' | '±' => out.push(c),
            '\n' | '\r' | '\t' => out.push(' '),
            other => spell(&mut out, other),
        }
    }
    out
}

/// The words of a plain text in lines of at most `width` columns (at least 1). A number stays with
/// its unit; what is longer than a line is cut.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let options = Options::new(width.max(1))
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let text = chunks(text).join(" ");
    let lines = textwrap::wrap(&text, options).into_iter();
    lines.map(|line| line.replace(TIED, " ").trim().to_owned()).filter(|l| !l.is_empty()).collect()
}

/// A space at which no line ends.
const TIED: char = '\u{a0}';

/// The parts that must stay whole: words, and numbers with their unit.
fn chunks(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut number = false;
    for word in text.split_whitespace() {
        match out.last_mut() {
            Some(last) if number && is_unit(word) => {
                last.push(TIED);
                last.push_str(word);
                number = false;
            }
            _ => {
                number = word.trim_start_matches('(').parse::<f64>().is_ok();
                out.push(word.to_owned());
            }
        }
    }
    out
}

fn is_unit(word: &str) -> bool {
    let word = word.trim_end_matches([',', ';', ':', ')', '.']);
    let prefixed = |unit: &str| word.strip_suffix(unit).is_some_and(|prefix| prefix.len() <= 2);
    matches!(word, "%" | "s" | "ms" | "us" | "ns")
        || prefixed("B")
        || prefixed("B/s")
        || prefixed("bit/s")
}

/// Columns of a plain text.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// A text in at most so many columns, `~` at its end where there was more.
pub(crate) fn cut(text: &str, most: usize) -> String {
    let text = plain(text);
    if columns(&text) <= most {
        return text;
    }
    let start: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{start}~")
}

/// A text in at most so many columns, `~` in its middle where there was more: of a function's long
/// name the end says most.
pub(crate) fn cut_middle(text: &str, most: usize) -> String {
    cut_after(text, most.saturating_sub(1) / 2, most)
}

/// The same with so many characters before the `~`, fewer than `most`.
pub(crate) fn cut_after(text: &str, start: usize, most: usize) -> String {
    let text = plain(text);
    let all = columns(&text);
    if all <= most {
        return text;
    }
    let end = most.saturating_sub(start + 1);
    let begins: String = text.chars().take(start).collect();
    let ends: String = text.chars().skip(all - end).collect();
    format!("{begins}~{ends}")
}

/// Blanks before each column of a table.
pub(crate) const GAP: usize = 2;

/// Columns of these widths behind what takes `start`, in blocks of those that fit beside each
/// other. One that is too wide by itself is a block all the same.
pub(crate) fn blocks(
    widths: impl IntoIterator<Item = usize>,
    start: usize,
    width: usize,
) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut used = start;
    for (index, own) in widths.into_iter().enumerate() {
        used += GAP + own;
        match out.last_mut() {
            Some(block) if used <= width => block.end = index + 1,
            _ => {
                out.push(index..index + 1);
                used = start + GAP + own;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_whole_where_they_fit() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("a abcdefgh i", 4), ["a", "abcd", "efgh", "i"]);
        assert_eq!(wrap("ab", 0), ["a", "b"]);
        assert!(wrap("  ", 5).is_empty());
        assert_eq!(wrap("about 4.81 MB, 3 x", 10), ["about", "4.81 MB, 3", "x"]);
        assert_eq!(wrap("4.81 MB", 4), ["4.81", "MB"]);
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        assert_eq!([cut("abcdef", 6), cut("abcdefg", 6)], ["abcdef", "abcde~"]);
        let middle = ["abcdef", "abcdefg", "abcdefgh"].map(|text| cut_middle(text, 6));
        assert_eq!(middle, ["abcdef", "ab~efg", "ab~fgh"]);
        assert_eq!([cut_middle("abc", 1), cut_middle("abc", 2)], ["~", "~c"]);
    }

    #[test]
    fn columns_stand_beside_each_other_where_they_fit() {
        assert_eq!(blocks([3, 4, 5, 20, 1], 2, 13), [0..2, 2..3, 3..4, 4..5]);
        assert_eq!(blocks([], 2, 13), []);
    }

    #[test]
    fn a_terminal_cannot_be_steered() {
        assert_eq!(plain("a\x1b[2Jb\n5 µs ×2 ü"), "a\\u001b[2Jb 5 µs ×2 \\u00fc");
    }
}
