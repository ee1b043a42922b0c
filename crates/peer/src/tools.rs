//! The tools: one file each.

mod fortio;
mod h2load;
mod iperf3;
mod k6;
mod netperf;
mod oha;
mod ping;
mod qperf;
mod sockperf;
mod wrk;

use crate::tool::PeerTool;

/// Every tool. To add one: a file here, its `mod` line, and a line there.
pub const PEERS: &[&PeerTool] = &[
    &iperf3::TOOL,
    &qperf::TOOL,
    &sockperf::TOOL,
    &netperf::TOOL,
    &ping::TOOL,
    &wrk::TOOL,
    &h2load::TOOL,
    &oha::TOOL,
    &k6::TOOL,
    &fortio::TOOL,
];

/// The tool of this name.
pub fn peer(name: &str) -> Option<&'static PeerTool> {
    PEERS.iter().copied().find(|tool| tool.name == name)
}
