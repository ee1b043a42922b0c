//! The words by which this program was called: `hopbench`, or `kubectl hopbench` as a plugin.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

/// The name of the file by which kubectl finds its plugin.
const PLUGIN: &str = "kubectl-hopbench";

/// The words.
pub(crate) fn words() -> &'static str {
    static WORDS: OnceLock<&str> = OnceLock::new();
    WORDS.get_or_init(|| {
        let file = std::env::args_os().next();
        let name = file.as_deref().map(Path::new).and_then(Path::file_name);
        if name == Some(OsStr::new(PLUGIN)) { "kubectl hopbench" } else { "hopbench" }
    })
}

/// A text with its commands (`` `hopbench run` ``, or a line that begins so) as they have to be
/// typed.
pub(crate) fn typed(text: &str) -> Cow<'_, str> {
    by(words(), text)
}

fn by<'a>(words: &str, text: &'a str) -> Cow<'a, str> {
    if words == "hopbench" {
        return Cow::Borrowed(text);
    }
    let quoted = text.replace("`hopbench ", &format!("`{words} "));
    Cow::Owned(quoted.replace("\nhopbench ", &format!("\n{words} ")))
}

#[cfg(test)]
mod tests {
    use super::by;

    #[test]
    fn only_commands_have_other_words_in_a_plugin() {
        let text = "hopbench 1 does what `hopbench plan` says:\nhopbench run x";
        assert_eq!(by("hopbench", text), text);
        assert_eq!(
            by("kubectl hopbench", text),
            "hopbench 1 does what `kubectl hopbench plan` says:\nkubectl hopbench run x"
        );
    }
}
