//! The tools of others that measure beside hopbench: one file each.

mod fortio;
mod h2load;
mod iperf3;
mod k6;
mod oha;
mod ping;
mod qperf;
mod running;
mod sockperf;
mod tool;
mod wrk;

pub(crate) use running::{Ends, Outcome, Seat, find, run};
pub use tool::PeerTool;
pub(crate) use tool::{Server, Task};

/// Every tool. To add one: a file here, its `mod` line, and a line there.
pub const PEERS: &[&PeerTool] = &[
    &iperf3::TOOL,
    &qperf::TOOL,
    &sockperf::TOOL,
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
