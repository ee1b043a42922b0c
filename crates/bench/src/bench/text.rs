//! Words: those of a command, and those that are searched for in what programs print.

/// The words of a command that needs no quotes.
pub(crate) fn split(command: &str) -> Vec<String> {
    command.split_whitespace().map(str::to_owned).collect()
}

/// The first word after `marker` in a text.
pub(crate) fn word_after(text: &str, marker: &str) -> Option<String> {
    let (_, rest) = text.split_once(marker)?;
    let word = rest.split_whitespace().next()?;
    Some(word.trim_end_matches([',', ';', ')']).to_owned())
}

/// The number that follows `marker` in a text.
pub(crate) fn number_after(text: &str, marker: &str) -> Option<f64> {
    word_after(text, marker)?.trim_end_matches('%').parse().ok()
}
