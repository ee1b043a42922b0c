//! The programs that were found, and their files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::peer_program::Peer;

/// Ours and the peers that were found.
#[derive(Debug)]
pub(crate) struct Tools {
    hopbench: PathBuf,
    /// All peers, in the order of the report.
    known: &'static [&'static Peer],
    /// The files of those that were found.
    peers: BTreeMap<&'static str, PathBuf>,
}

impl Tools {
    /// Looks for all `known` peers; `given` names binaries by peer and goes before the search.
    ///
    /// # Errors
    /// When a given name is no peer or a given file does not exist.
    pub(crate) fn find(
        hopbench: PathBuf,
        known: &'static [&'static Peer],
        given: &[(String, PathBuf)],
    ) -> Result<Self> {
        for (name, file) in given {
            if !known.iter().any(|peer| peer.name == name) {
                let names: Vec<_> = known.iter().map(|peer| peer.name).collect();
                bail!("--peer `{name}` is not one of {}", names.join(", "));
            }
            if !file.is_file() {
                bail!("--peer {name}: {} is not a file", file.display());
            }
        }
        let of = |peer: &Peer| {
            let named =
                given.iter().find(|(name, _)| name == peer.name).map(|(_, file)| file.clone());
            named.or_else(|| peer.find())
        };
        let peers = known.iter().filter_map(|peer| Some((peer.name, of(peer)?))).collect();
        Ok(Self { hopbench, known, peers })
    }

    /// Our binary.
    pub(crate) fn hopbench(&self) -> &Path {
        &self.hopbench
    }

    /// A peer's binary.
    ///
    /// # Errors
    /// When it was not found.
    pub(crate) fn peer(&self, peer: &Peer) -> Result<&Path> {
        let file = self.peers.get(peer.name).map(PathBuf::as_path);
        file.with_context(|| format!("{} was not found ({})", peer.name, peer.source))
    }

    /// The peers that were found, with their versions.
    pub(crate) fn versions(&self) -> BTreeMap<String, String> {
        let found = self.known.iter().filter_map(|peer| {
            let file = self.peers.get(peer.name)?;
            Some((peer.name.to_owned(), peer.version_of(file)))
        });
        found.collect()
    }
}

/// Our binary of `make dist` in the workspace this program was built from: under the name of the
/// target first, since the workspace names one, then where cargo puts it otherwise.
///
/// # Errors
/// When there is none.
pub(crate) fn default_hopbench() -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"), PathBuf::from);
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let candidates =
        [target.join(triple).join("release/hopbench"), target.join("release/hopbench")];
    let found =
        candidates.iter().find(|file| file.is_file()).and_then(|file| file.canonicalize().ok());
    found.with_context(|| {
        format!(
            "no release build of hopbench in {}; build it with `make dist` or name it with \
             --hopbench",
            target.display()
        )
    })
}
