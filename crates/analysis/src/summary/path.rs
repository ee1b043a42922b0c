//! A path of a run, with the evidence that traffic took it.

use hopbench_model::{IpFamily, MeshMode};
use serde::Serialize;

/// A path, with what was seen of it.
#[derive(Debug, Clone, Serialize)]
pub struct PathSummary {
    /// Its name.
    pub name: String,
    /// Place of the clients: `bridge@a`. Empty where other tools measured, as `to`, `via` and
    /// `way`.
    pub from: String,
    /// Place of the servers.
    pub to: String,
    /// The way between them: `direct`, `cluster-ip` ...
    pub via: String,
    /// The family of IP that the scenario asks for; absent: the testbed's first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<IpFamily>,
    /// The ends with a sidecar that the traffic passes.
    pub mesh: MeshMode,
    /// The name of the variant of its proxies; absent: it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The settings of its proxies in words: `no TLS, any HTTP, 2 workers`; absent: it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxies: Option<String>,
    /// From end to end in words: `direct, mesh both`.
    pub way: String,
    /// The subject that it was measured with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The path that it is compared with, where that is not the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<String>,
    /// Whether others are compared with it.
    #[serde(skip)]
    pub is_reference: bool,
    /// Whether it is the baseline once more (A/A): its ratio is the noise floor, and no verdict is
    /// about it.
    #[serde(skip_serializing_if = "hopbench_model::is_default")]
    pub is_twin: bool,
    /// Clients.
    pub clients: u32,
    /// Servers.
    pub backends: u32,
    /// Rate of its slowest shaped link, bits/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_bits_per_s: Option<u64>,
    /// The largest packet that its ends send, bytes with the IP header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_mtu_bytes: Option<u64>,
    /// Bytes that tunnels add to each packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tunnel_bytes: Option<u64>,
    /// The evidence that traffic took it, by hop.
    pub proof: Vec<ProofSummary>,
    /// Why evidence shows only a part of its way; absent: it shows all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partly_proved: Option<String>,
}

/// The evidence of a path's trials at one hop.
#[derive(Debug, Clone, Serialize)]
pub struct ProofSummary {
    /// The hop.
    pub hop: String,
    /// Trials in which it was as the path says.
    pub ok: u32,
    /// Trials in which it was not.
    pub failed: u32,
    /// The evidence of the last trial, or of the last that failed.
    pub evidence: String,
}
