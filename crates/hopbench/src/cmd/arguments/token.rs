//! The token of both ends: from a flag, a file or the environment.

use std::env::VarError;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command};
use hopbench_control::secret::Secret;
use hopbench_model::Fault;

/// The environment variable that holds the token, on both sides.
pub(in crate::cmd) const VARIABLE: &str = "HOPBENCH_TOKEN";

/// The client's side of the token.
#[derive(Debug, Args)]
pub(in crate::cmd) struct TokenArgs {
    /// The token that `hopbench serve` printed; in the environment or a file nobody else on this
    /// machine can read it
    #[arg(
        long,
        value_name = "TOKEN",
        env = VARIABLE,
        hide_env_values = true,
        help_heading = "Connection"
    )]
    token: Option<String>,
    /// A file that holds the token
    #[arg(long, value_name = "FILE", conflicts_with_all = ["token"], help_heading = "Connection")]
    token_file: Option<PathBuf>,
    /// No token: for an agent that was started with --insecure
    #[arg(long, conflicts_with_all = ["token_file"], help_heading = "Connection")]
    insecure: bool,
}

impl TokenArgs {
    /// Refuses a token beside `--insecure`, which would not be used; one from the environment gives
    /// way.
    pub(in crate::cmd) fn check(&self, matches: &ArgMatches) -> Result<(), Fault> {
        if self.insecure && matches.value_source("token") == Some(ValueSource::CommandLine) {
            return Err(Fault::input(
                "--token: found together with --insecure, expected one of them: an agent that \
                 printed a token needs --token, one that was started with --insecure has none",
            ));
        }
        Ok(())
    }

    /// Makes them those of a command that measures any server. The environment is for commands that
    /// need an agent.
    pub(in crate::cmd) fn of_any_server(command: Command) -> Command {
        command.mut_arg("token", |arg| {
            arg.env(None::<&'static str>).help(
                "Measure an agent that has no --http, by its token; the environment is not asked",
            )
        })
    }

    /// Whether they say how to get into an agent.
    pub(in crate::cmd) fn is_given(&self) -> bool {
        self.insecure || self.token_file.is_some() || self.token.is_some()
    }

    /// The secret that they name; without any of them the well-known one.
    pub(in crate::cmd) fn secret(&self) -> Result<Secret, Fault> {
        match (&self.token, &self.token_file) {
            _ if self.insecure => Ok(Secret::insecure()),
            (Some(text), _) => text
                .trim()
                .parse()
                .map_err(|e| Fault::input(format!("--token or HOPBENCH_TOKEN: {e}"))),
            (None, Some(file)) => from_file(file),
            (None, None) => Ok(Secret::insecure()),
        }
    }

    /// Says of a refused token what this side did.
    pub(in crate::cmd) fn explain(&self, fault: Fault) -> Fault {
        if !fault.text.contains("has another token") {
            return fault;
        }
        let (who, _) = fault.text.split_once(" has another token").unwrap_or((&fault.text, ""));
        let text = match (self.insecure, self.token.is_some() || self.token_file.is_some()) {
            (true, _) => {
                format!(
                    "{who} was not started with --insecure; give the token that it printed \
                     ({VARIABLE}, --token-file)"
                )
            }
            (_, false) => {
                format!(
                    "{who} needs a token and none was given; give the one that it printed \
                     ({VARIABLE}, --token-file)"
                )
            }
            _ => return fault,
        };
        Fault { kind: fault.kind, text }
    }
}

/// The token of the environment, if there is one.
pub(in crate::cmd) fn from_environment() -> Result<Option<Secret>, Fault> {
    let found = match std::env::var(VARIABLE) {
        Err(VarError::NotPresent) => return Ok(None),
        Err(VarError::NotUnicode(_)) => Err("no text".to_owned()),
        Ok(text) => text.trim().parse().map_err(|error| format!("{error}")),
    };
    found.map(Some).map_err(|error: String| Fault::input(format!("{VARIABLE}: {error}")))
}

/// The token of a file.
pub(in crate::cmd) fn from_file(file: &std::path::Path) -> Result<Secret, Fault> {
    Secret::from_file(file).map_err(|e| Fault::input(format!("--token-file: {e}")))
}
