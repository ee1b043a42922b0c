//! The link of a path, as the testbed describes it in the settings of a record.

use hopbench_model::{LINK_RATE_SETTING, Record};

/// The setting that says the largest packet that the ends send, bytes.
const LINK_MTU: &str = "link_mtu_bytes";

/// The setting that says what tunnels add to each packet, bytes.
const TUNNEL: &str = "tunnel_bytes";

/// A fact about the link by the name of its setting; `None` if the testbed did not say it.
pub(crate) fn link(record: &Record, setting: &str) -> Option<u64> {
    record.settings.get(setting)?.parse().ok()
}

/// Facts about a path's links, from its records.
#[derive(Debug, Default, Clone)]
pub(crate) struct LinkFacts {
    /// Rate of the slowest, bits/s.
    pub(crate) bits_per_s: Option<u64>,
    /// The largest packet that the ends send, bytes.
    pub(crate) mtu_bytes: Option<u64>,
    /// Bytes that tunnels add to each packet.
    pub(crate) tunnel_bytes: Option<u64>,
}

impl LinkFacts {
    pub(crate) fn add(&mut self, record: &Record) {
        self.bits_per_s = link(record, LINK_RATE_SETTING).or(self.bits_per_s);
        self.mtu_bytes = link(record, LINK_MTU).or(self.mtu_bytes);
        self.tunnel_bytes = link(record, TUNNEL).or(self.tunnel_bytes);
    }
}
