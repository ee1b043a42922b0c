//! The formats of tools: one file each, and one line in `FORMATS`. A format is found by the content
//! of a file.

mod fortio;
mod h2load;
mod hey;
mod iperf3;
mod k6;
mod oha;
mod ping;
mod qperf;
mod sockperf;
mod wrk;
mod wrk2;

use hopbench_model::{Problem, printable};
use serde_json::Value;

use crate::reading::{Json, Text, plain};
use crate::stated::Stated;

/// Every format, in the order in which they are tried.
const FORMATS: &[Format] = &[
    json("iperf3", iperf3::is_it, iperf3::read),
    json("fortio", fortio::is_it, fortio::read),
    json("oha", oha::is_it, oha::read),
    json("k6", k6::is_it, k6::read),
    // Where wrk2 says that it is one, wrk would be wrong.
    text("wrk2", wrk2::is_it, wrk2::read),
    text("wrk", wrk::is_it, wrk::read),
    text("hey", hey::is_it, hey::read),
    text("h2load", h2load::is_it, h2load::read),
    text("sockperf", sockperf::is_it, sockperf::read),
    text("qperf", qperf::is_it, qperf::read),
    text("ping", ping::is_it, ping::read),
];

/// A format.
struct Format {
    /// The tool's name.
    tool: &'static str,
    reader: Reader,
}

/// How a format is known, and how it is read.
enum Reader {
    Json(fn(&Json<'_>) -> bool, fn(&Json<'_>) -> Result<Stated, Problem>),
    Text(fn(&Text<'_>) -> bool, fn(&Text<'_>) -> Result<Stated, Problem>),
}

const fn json(
    tool: &'static str,
    is_it: fn(&Json<'_>) -> bool,
    read: fn(&Json<'_>) -> Result<Stated, Problem>,
) -> Format {
    Format { tool, reader: Reader::Json(is_it, read) }
}

const fn text(
    tool: &'static str,
    is_it: fn(&Text<'_>) -> bool,
    read: fn(&Text<'_>) -> Result<Stated, Problem>,
) -> Format {
    Format { tool, reader: Reader::Text(is_it, read) }
}

/// The names of the tools whose files are read.
pub fn tools() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.tool)
}

/// Reads a file: the tool that wrote it, and what it states. `tool`: it is of this one, whatever it
/// looks like.
pub(crate) fn read(
    file: &str,
    content: &str,
    tool: Option<&str>,
) -> Result<(&'static str, Stated), Problem> {
    let content = plain(content.trim_start_matches('\u{feff}'));
    let asked = || FORMATS.iter().filter(|format| tool.is_none_or(|tool| format.tool == tool));
    if content.trim_start().starts_with(['{', '[']) {
        let root: Value = serde_json::from_str(&content).map_err(|error| broken(file, &error))?;
        let json = Json::new(file, &root);
        for format in asked() {
            if let Reader::Json(is_it, read) = format.reader
                && (tool.is_some() || is_it(&json))
            {
                return Ok((format.tool, read(&json)?));
            }
        }
    } else {
        let text = Text::new(file, &content);
        for format in asked() {
            if let Reader::Text(is_it, read) = format.reader
                && (tool.is_some() || is_it(&text))
            {
                return Ok((format.tool, read(&text)?));
            }
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
