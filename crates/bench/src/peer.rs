//! The programs that ours is measured against: how each is found, started and read.

pub(crate) mod fortio;
pub(crate) mod generator;
pub(crate) mod h2load;
pub(crate) mod hey;
pub(crate) mod iperf3;
pub(crate) mod k6;
pub(crate) mod oha;
pub(crate) mod plain;
pub(crate) mod qperf;
pub(crate) mod sockperf;
pub(crate) mod wrk;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::target::nginx;

/// A program that must be installed for a row.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The name of its binary.
    pub(crate) name: &'static str,
    /// How its version is found out.
    pub(crate) version: Version,
    /// How one gets it, for who has not.
    pub(crate) source: &'static str,
}

/// Where a program has its version.
#[derive(Debug)]
pub(crate) enum Version {
    /// In what it prints with these arguments, where this finds it.
    Printed(&'static [&'static str], fn(&str) -> Option<String>),
    /// Only in what Go writes into every program: the version of this module.
    GoModule(&'static str),
}

/// The [`Peer::source`] of what the script installs.
pub(crate) const INSTALLED: &str = "scripts/install-peers.sh installs it";

/// Every program that some row needs, in the order of the report.
pub(crate) const PEERS: &[&Peer] = &[
    &iperf3::PEER,
    &qperf::PEER,
    &sockperf::PEER,
    &wrk::PEER,
    &hey::PEER,
    &oha::PEER,
    &k6::PEER,
    &h2load::PEER,
    &fortio::PEER,
    &nginx::PEER,
];

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
            Version::Printed(arguments, find) => printed(binary, arguments).and_then(|text| find(&text)),
            Version::GoModule(module) => std::fs::read(binary).ok().and_then(|bytes| module_version(&bytes, module)),
        };
        version.unwrap_or_else(|| "unknown".to_owned())
    }
}

fn printed(binary: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new(binary).args(arguments).output().ok()?;
    Some(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}

/// The version behind a line `mod MODULE vVERSION` in a Go program.
fn module_version(program: &[u8], module: &str) -> Option<String> {
    let line = format!("\nmod\t{module}\tv");
    let at = program.windows(line.len()).position(|window| window == line.as_bytes())? + line.len();
    let rest = program[at..].split(|byte| byte.is_ascii_whitespace()).next()?;
    String::from_utf8(rest.to_vec()).ok()
}

/// Where `scripts/install-peers.sh` puts what has no package.
fn cache_bin() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    Some(cache.join("hopbench/bin"))
}

/// The first word after `marker` in a text.
pub(crate) fn word_after(text: &str, marker: &str) -> Option<String> {
    let (_, rest) = text.split_once(marker)?;
    let word = rest.split_whitespace().next()?;
    Some(word.trim_end_matches([',', ';', ')']).to_owned())
}

/// The number that follows `marker` in a text.
fn number_after(text: &str, marker: &str) -> Option<f64> {
    word_after(text, marker)?.trim_end_matches('%').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_cut_out_of_what_the_tools_print() {
        let cases: &[(&Peer, &str, &str)] = &[
            (&iperf3::PEER, "iperf 3.12 (cJSON 1.7.15)\nLinux\n", "3.12"),
            (&qperf::PEER, "qperf 0.4.11\n", "0.4.11"),
            (&sockperf::PEER, "sockperf, version 3.7-no.git\n   compiled 2021-08-23 12:14:23\n", "3.7-no.git"),
            (
                &wrk::PEER,
                "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\nUsage: wrk",
                "debian/4.1.0-3+b2",
            ),
            (&oha::PEER, "oha 1.16.0\n", "1.16.0"),
            (&k6::PEER, "k6 v1.1.0 (commit/0e3fb953be, go1.24.4, linux/amd64)\n", "1.1.0"),
            (&h2load::PEER, "h2load nghttp2/1.52.0\n", "1.52.0"),
            (&fortio::PEER, "1.68.2\n", "1.68.2"),
            (&nginx::PEER, "nginx version: nginx/1.22.1\n", "1.22.1"),
        ];
        for (peer, printed, version) in cases {
            let Version::Printed(_, find) = peer.version else { panic!("{} prints no version", peer.name) };
            assert_eq!(find(printed).as_deref(), Some(*version), "{}", peer.name);
        }
    }

    #[test]
    fn the_version_of_a_go_program_is_that_of_its_module() {
        let program =
            b"\x7fELF..path\tgithub.com/rakyll/hey\nmod\tgithub.com/rakyll/hey\tv0.1.5\th1:oc3Q=\ndep\tx\tv1\n";
        assert_eq!(module_version(program, "github.com/rakyll/hey").as_deref(), Some("0.1.5"));
        assert_eq!(module_version(program, "github.com/rakyll/boom"), None);
    }
}
