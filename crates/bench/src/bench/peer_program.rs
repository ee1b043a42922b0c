//! A program that ours is measured against, and that must be installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::text::word_after;

/// A program that must be installed for a row.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The name of its binary.
    pub(crate) name: &'static str,
    /// How its version is found out.
    pub(crate) version: Version,
    /// The way to get it.
    pub(crate) source: &'static str,
}

/// The source of the version of a program.
#[derive(Debug)]
pub(crate) enum Version {
    /// In what it prints with this argument: the first word behind this text.
    Printed(&'static str, &'static str),
    /// Only in what Go writes into every program: the version of this module.
    GoModule(&'static str),
}

/// The [`Peer::source`] of what the script installs.
pub(crate) const INSTALLED: &str = "scripts/install-peers.sh installs it";

impl Peer {
    /// Looks for the binary: where `make bench` installs, then `PATH`, then where servers live.
    pub(crate) fn find(&self) -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        cache_bin()
            .into_iter()
            .chain(std::env::split_paths(&path))
            .chain([PathBuf::from("/usr/sbin"), PathBuf::from("/usr/local/bin")])
            .map(|directory| directory.join(self.name))
            .find(|file| file.is_file())
    }

    /// The version that the binary at this path names, `unknown` where it does not.
    pub(crate) fn version_of(&self, binary: &Path) -> String {
        let version = match &self.version {
            Version::Printed(argument, before) => {
                printed(binary, argument).and_then(|text| word_after(&text, before))
            }
            Version::GoModule(module) => {
                std::fs::read(binary).ok().and_then(|bytes| module_version(&bytes, module))
            }
        };
        version.unwrap_or_else(|| "unknown".to_owned())
    }
}

fn printed(binary: &Path, argument: &str) -> Option<String> {
    let output = Command::new(binary).arg(argument).output().ok()?;
    Some(format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ))
}

/// The version behind a line `mod MODULE vVERSION` in a Go program.
fn module_version(program: &[u8], module: &str) -> Option<String> {
    let line = format!("\nmod\t{module}\tv");
    let at = program.windows(line.len()).position(|window| window == line.as_bytes())? + line.len();
    let rest = program[at..].split(|byte| byte.is_ascii_whitespace()).next()?;
    String::from_utf8(rest.to_vec()).ok()
}

/// The folder in which `scripts/install-peers.sh` puts programs without a package.
fn cache_bin() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    Some(cache.join("hopbench/bin"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_go_program_is_that_of_its_module() {
        let program =
            b"\x7fELF..path\tgithub.com/rakyll/hey\nmod\tgithub.com/rakyll/hey\tv0.1.5\th1:oc3Q=\n\
              dep\tx\tv1\n";
        assert_eq!(module_version(program, "github.com/rakyll/hey").as_deref(), Some("0.1.5"));
        assert_eq!(module_version(program, "github.com/rakyll/boom"), None);
    }
}
