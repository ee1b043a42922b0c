//! `--format text|json` of the commands that print for people or for programs.

use clap::{Arg, ArgAction, ArgMatches, Args};

/// The names of both formats; the first is the usual one.
const FORMATS: [&str; 2] = ["text", "json"];

/// Whether a command prints text or JSON.
#[derive(Debug, Clone, Args)]
pub(in crate::cmd) struct FormatArgument {
    /// Text for people, or json for programs
    #[arg(short, long, value_name = "FORMAT", default_value = FORMATS[0], value_parser = FORMATS)]
    format: String,
    /// The same as --format json
    #[arg(long, hide = true, conflicts_with = "format")]
    json: bool,
}

impl FormatArgument {
    /// Whether it is JSON.
    pub(in crate::cmd) fn is_json(&self) -> bool {
        self.json || self.format == FORMATS[1]
    }
}

/// `--json` of a command with formats of its own, `json` among them.
pub(in crate::cmd) fn json_alias() -> Arg {
    Arg::new("json").long("json").action(ArgAction::SetTrue).conflicts_with("format").hide(true)
}

/// The format that the command line names by either flag; `usual` where it names none.
pub(in crate::cmd) fn named<'a>(matches: &'a ArgMatches, usual: &'static str) -> &'a str {
    if matches.get_flag("json") {
        FORMATS[1]
    } else {
        matches.get_one::<String>("format").map_or(usual, String::as_str)
    }
}
