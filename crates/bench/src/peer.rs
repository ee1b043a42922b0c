//! The programs that ours is measured against: how each is found, started and read.

pub(crate) mod fortio;
pub(crate) mod iperf3;
pub(crate) mod nginx;
pub(crate) mod plain;
pub(crate) mod qperf;
pub(crate) mod sockperf;
pub(crate) mod wrk;

use std::path::PathBuf;
use std::process::Command;

/// A program that must be installed for a row.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The name of its binary.
    pub(crate) name: &'static str,
    /// The arguments that make it print its version.
    pub(crate) version_args: &'static [&'static str],
    /// The part of that print that is the version.
    pub(crate) version: fn(&str) -> Option<String>,
}

/// Every program that some row needs, in the order of the report.
pub(crate) const PEERS: &[&Peer] =
    &[&iperf3::PEER, &qperf::PEER, &sockperf::PEER, &wrk::PEER, &fortio::PEER, &nginx::PEER];

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
    pub(crate) fn version_of(&self, binary: &PathBuf) -> String {
        let output = Command::new(binary).args(self.version_args).output();
        let printed =
            output.map(|o| format!("{}{}", String::from_utf8_lossy(&o.stdout), String::from_utf8_lossy(&o.stderr)));
        printed.ok().and_then(|text| (self.version)(&text)).unwrap_or_else(|| "unknown".to_owned())
    }
}

/// Where `scripts/install-peers.sh` puts what has no package.
fn cache_bin() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    Some(cache.join("hopbench/bin"))
}

/// The first word after `marker` in a text.
fn word_after(text: &str, marker: &str) -> Option<String> {
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
            (&fortio::PEER, "1.68.2\n", "1.68.2"),
            (&nginx::PEER, "nginx version: nginx/1.22.1\n", "1.22.1"),
        ];
        for (peer, printed, version) in cases {
            assert_eq!((peer.version)(printed).as_deref(), Some(*version), "{}", peer.name);
        }
    }
}
