//! Where a scenario runs.

use serde::{Deserialize, Serialize};

use crate::Nanos;

/// The testbed of a scenario, resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestbedSpec {
    /// Network namespaces on this machine.
    Lab(LabSpec),
}

impl TestbedSpec {
    /// Its name in scenarios.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Lab(_) => "lab",
        }
    }

    /// Names of its nodes.
    pub fn nodes(&self) -> Vec<&str> {
        match self {
            Self::Lab(lab) => lab.nodes.iter().map(|node| node.name.as_str()).collect(),
        }
    }
}

/// A lab: nodes on a fabric, in zones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabSpec {
    /// The nodes, at least one.
    pub nodes: Vec<LabNode>,
    /// MTU of the nodes' links, bytes.
    pub mtu: u32,
    /// Rate of the link between two zones, bits/s; absent: not shaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone_link_bits_per_s: Option<u64>,
    /// One-way delay between two zones, ns; needs netem.
    pub zone_delay_ns: Nanos,
}

/// One node of a lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabNode {
    /// Its name.
    pub name: String,
    /// Its zone; nodes of one zone share a bridge.
    pub zone: String,
    /// Rate of its link to the fabric, each direction, bits/s; absent: not shaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_bits_per_s: Option<u64>,
}
