//! JSON as text that may be printed.

use std::borrow::Cow;

use hopbench_model::printable;
use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::PrettyFormatter;

/// One value on several lines, with a line feed behind it. A level is one space: of a large run
/// with more, half of the text would be spaces.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    let formatter = PrettyFormatter::with_indent(b" ");
    let written = value.serialize(&mut Serializer::with_formatter(&mut out, formatter));
    ended(written.map(|()| String::from_utf8(out).unwrap_or_default()))
}

/// One value on one line, with a line feed behind it.
pub(crate) fn line(value: &impl Serialize) -> String {
    ended(serde_json::to_string(value))
}

/// JSON lets DEL and the controls beyond it stand as they are, and terminals obey some of them.
fn ended(text: serde_json::Result<String>) -> String {
    // Every key is a string and every figure finite, so that there is nothing that cannot be
    // written.
    let mut text = text.unwrap_or_default();
    if let Cow::Owned(spelled) = printable::lines(&text) {
        text = spelled;
    }
    text.push('\n');
    text
}
