//! The testbed of a plan: a lab, a cluster or hosts.

use serde::{Deserialize, Serialize};

use super::cluster::ClusterSpec;
use super::subject::NodeSettings;
use crate::Nanos;

/// The testbed of a scenario, resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestbedSpec {
    /// Network namespaces on this machine.
    Lab(LabSpec),
    /// Pods of a Kubernetes cluster.
    Kubernetes(Box<ClusterSpec>),
    /// Agents that somebody started.
    Hosts(HostsSpec),
}

impl TestbedSpec {
    /// Its name in scenarios.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Lab(_) => "lab",
            Self::Kubernetes(_) => "kubernetes",
            Self::Hosts(_) => "hosts",
        }
    }

    /// Names of its nodes.
    pub fn nodes(&self) -> Vec<&str> {
        match self {
            Self::Lab(lab) => lab.nodes.iter().map(|node| node.name.as_str()).collect(),
            Self::Kubernetes(cluster) => {
                cluster.nodes.iter().map(|node| node.name.as_str()).collect()
            }
            Self::Hosts(hosts) => hosts.nodes.iter().map(|host| host.name.as_str()).collect(),
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

/// The longest time that a server may work before each answer, ns.
pub const MOST_SERVER_WORK: Nanos = 10_000_000;

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
    /// How long the servers of its agents spin before each answer of `rr` and `http`, ns; absent:
    /// not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_work_ns: Option<Nanos>,
    /// The node in whose place it stands for another subject, with the same CPUs; absent: it stands
    /// for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_for: Option<String>,
    /// What its subject changes on it.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub settings: NodeSettings,
}

/// Machines on which somebody started agents (`hopbench serve --both-ends`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostsSpec {
    /// The machines, at least one; none where [`is_imported`](crate::Plan::is_imported).
    pub nodes: Vec<Host>,
    /// The file that holds the token of the agents that have none of their own; absent: these take
    /// anybody (`--insecure`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<String>,
}

/// A machine with an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Its name in the scenario.
    pub name: String,
    /// Name or address of the agent's control port, with the port number where it is not 7474.
    pub control: String,
    /// Address that the traffic goes to, with the port number where it is not that of `control`;
    /// absent: that of `control`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The file that holds this agent's own token; absent: it has that of
    /// [`HostsSpec::token_file`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<String>,
}
