//! `host`: no pod at all, the node's own namespace.

use std::io;

use crate::topology::kind::{NetworkKind, Reach, Site};

#[derive(Debug)]
pub(super) struct Host;

impl NetworkKind for Host {
    fn name(&self) -> &'static str {
        "host"
    }

    fn summary(&self) -> &'static str {
        "the node's own network"
    }

    fn reach(&self) -> Reach {
        Reach::Node
    }

    fn attach(&self, _site: &mut Site<'_>) -> io::Result<()> {
        Ok(())
    }
}
