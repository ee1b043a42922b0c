//! The formats of tools: one file each in `json/` or `text/`, and one line in `FORMATS`, of
//! `json.rs` or of `text.rs`. A format is found by the content of a file.

mod json;
mod text;

use hopbench_model::{Problem, printable};
use serde_json::Value;

use crate::reading::{Json, Text, plain};
use crate::stated::Stated;

/// The names of the tools whose files are read.
pub fn tools() -> impl Iterator<Item = &'static str> {
    let of_json = json::FORMATS.iter().map(|format| format.tool);
    of_json.chain(text::FORMATS.iter().map(|format| format.tool))
}

/// Reads a file: the tool that wrote it, and what it states. `tool`: it is of this one, whatever it
/// looks like.
pub(crate) fn read(
    file: &str,
    content: &str,
    tool: Option<&str>,
) -> Result<(&'static str, Stated), Problem> {
    let content = plain(content.trim_start_matches('\u{feff}'));
    if content.trim_start().starts_with(['{', '[']) {
        let root: Value = serde_json::from_str(&content).map_err(|error| broken(file, &error))?;
        let fields = Json::new(file, &root);
        let found = json::FORMATS.iter().find(|format| match tool {
            Some(tool) => format.tool == tool,
            None => (format.is_it)(&fields),
        });
        if let Some(format) = found {
            return Ok((format.tool, (format.read)(&fields)?));
        }
    } else {
        let lines = Text::new(file, &content);
        let found = text::FORMATS.iter().find(|format| match tool {
            Some(tool) => format.tool == tool,
            None => (format.is_it)(&lines),
        });
        if let Some(format) = found {
            return Ok((format.tool, (format.read)(&lines)?));
        }
    }
    Err(unknown(file, &content, tool))
}

/// The problem with a file that is not JSON although it begins so.
fn broken(file: &str, error: &serde_json::Error) -> Problem {
    let at = format!("{file} line {} column {}", error.line(), error.column());
    let told = error.to_string();
    let found = told.split(" at line ").next().unwrap_or(&told);
    let expected = "one whole result as JSON; the file may be cut off, or have several";
    Problem::new(at, found, expected)
}

/// The problem with a file that no tool wrote.
fn unknown(file: &str, content: &str, tool: Option<&str>) -> Problem {
    let mut lines = (1..).zip(content.lines()).filter(|(_, line)| !line.trim().is_empty());
    let (number, first) = lines.next().unwrap_or((1, "nothing"));
    let expected = match tool {
        Some(tool) => format!("the output of {tool}; without --tool it is found by its content"),
        None => {
            let known: Vec<&str> = tools().collect();
            format!("the output of {}; if it is, say which with --tool", known.join(", "))
        }
    };
    Problem::new(format!("{file} line {number}"), printable::excerpt(first.trim(), 80), expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_no_tool_is_refused_with_its_place() {
        let said = |content: &str, tool: Option<&str>| {
            read("a", content, tool).map(|(tool, _)| tool).unwrap_err().to_string()
        };
        assert!(said("", None).starts_with("a line 1: found `nothing`, expected the output of"));
        assert!(said("\n\nhello\n", None).starts_with("a line 3: found `hello`, expected"));
        assert!(said("{\n  \"a\": [1,", None).starts_with("a line 2 column "));
        assert!(said("{\"a\": 1}", None).contains("say which with --tool"));
        assert!(said("{\"a\": 1}", Some("wrk")).contains("expected the output of wrk"));
        assert!(said("hello", Some("iperf3")).contains("expected the output of iperf3"));
    }
}
