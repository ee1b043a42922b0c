//! Our own program as `make build` builds it.

use crate::bench::{Peer, Version};

/// Found where `make bench` says that it is (`--peer`).
pub(crate) const PEER: Peer = Peer {
    name: "hopbench-quick",
    version: Version::Printed("--version", "hopbench "),
    source: "`make bench` builds it",
};
