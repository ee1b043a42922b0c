//! `testbed:`, where a scenario runs.
//!
//! ```yaml
//! testbed: kubernetes
//!
//! testbed:               # several: the first is the usual one, `--testbed NAME` takes another
//!   lab: {nodes: 3, link: 1Gbit}
//!   kubernetes: {nodes: {a: {name: worker-1}, b: {zone: z2}}}
//! ```

mod hosts;
mod kubernetes;
mod lab;
mod names;
mod nodes;
pub(crate) mod reach;

use std::collections::BTreeSet;

use hopbench_model::{MeshProvider, TestbedSpec};

use self::hosts::Hosts;
pub(crate) use self::hosts::{HOST_KEYS, HOSTS_KEYS};
use self::kubernetes::Cluster;
pub(crate) use self::kubernetes::{
    CLUSTER_KEYS, CONSTRAINT_KEYS, GATEWAY_KEYS, IMAGE, MESH_KEYS, NETWORK_KEYS, PEER_KEYS,
    PROMETHEUS_KEYS, PULL_POLICIES, SERVER_KEYS, annotations,
};
use self::lab::Lab;
pub(crate) use self::lab::{LAB_KEYS, MOST_NODES, MTU, NODE_KEYS, is_node_name};
pub(crate) use self::names::{ENDPOINT, IMAGE as IMAGE_FORM, LABEL, endpoint, is_image, is_label};
pub(crate) use self::nodes::Nodes;
use self::reach::ClusterOverrides;
use crate::document::fields::{Fields, joined};
use crate::document::node::{At, Kind, Node, quoted};
use crate::document::problem::Problems;
use crate::vocabulary::{Vocabularies, Vocabulary};

/// The names of testbeds.
pub(crate) const TESTBEDS: &[&str] = &["lab", "kubernetes", "hosts"];

const FORM: &str = "lab, kubernetes, or a mapping like {lab: {nodes: 3}}";
const NO_HOSTS: &str =
    "the machines with their agents, like testbed: {hosts: {nodes: {a: 10.0.0.1, b: 10.0.0.2}}}";

/// What a scenario says of testbeds; each of them at most once.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// The names of those that it says something of, in its order.
    named: Vec<String>,
    lab: Option<Lab>,
    kubernetes: Option<Cluster>,
    hosts: Option<Hosts>,
}

/// The testbed that was chosen.
#[derive(Debug)]
enum Chosen {
    Lab(Lab),
    Kubernetes(Box<Cluster>),
    Hosts(Hosts),
}

/// The testbed of a scenario, but for nodes that only its paths name.
#[derive(Debug)]
pub(crate) struct Testbed {
    chosen: Chosen,
    /// The scenario's lab, where it runs elsewhere.
    replaced: Option<Lab>,
}

impl Blocks {
    /// Reads `testbed:`, which stands at `path`.
    pub(crate) fn read(node: &Node, path: &str, problems: &mut Problems) -> Self {
        let mut out = Self::default();
        match &node.kind {
            Kind::Scalar(name) if name == "hosts" => {
                out.named.push(name.clone());
                problems.add(node.at, path, quoted(name), NO_HOSTS);
            }
            Kind::Scalar(name) if TESTBEDS.contains(&name.as_str()) => {
                let nothing = Node::new(node.at, Kind::Null);
                out.block(name, &nothing, path, problems);
            }
            Kind::Scalar(name) => problems.unknown(node.at, path, name, TESTBEDS),
            Kind::Map(map) if !map.is_empty() => {
                let is_file = path.is_empty();
                let misplaced = |key: &str| misplaced(key, is_file);
                if let Some(fields) =
                    Fields::read_or_say(node, path, TESTBEDS, FORM, misplaced, problems)
                {
                    for (name, _, block) in fields.entries() {
                        out.block(name, block, &joined(path, name), problems);
                    }
                }
            }
            Kind::Map(_) => problems.add(node.at, path, "an empty mapping", FORM),
            Kind::Null | Kind::List(_) => problems.add(node.at, path, node.shown(), FORM),
        }
        out
    }

    /// Whether it names no testbed, so that nobody knows which words hold.
    pub(crate) fn are_none(&self) -> bool {
        self.named.is_empty()
    }

    fn block(&mut self, name: &str, block: &Node, path: &str, problems: &mut Problems) {
        self.named.push(name.to_owned());
        match name {
            "lab" => self.lab = Some(Lab::read(block, path, problems)),
            "kubernetes" => self.kubernetes = Some(Cluster::read(block, path, problems)),
            _ => self.hosts = Hosts::read(block, path, problems),
        }
    }

    /// The testbed called `name`; without a name the first, and a lab where there is none.
    /// `instead` are blocks that hold in place of these.
    pub(crate) fn choose(
        mut self,
        name: Option<&str>,
        instead: Option<Self>,
        problems: &mut Problems,
    ) -> Testbed {
        let (mut blocks, replaced) = match instead {
            Some(instead) => (instead, self.lab.take()),
            None => (self, None),
        };
        let name = name.or_else(|| blocks.named.first().map(String::as_str)).unwrap_or("lab");
        let chosen = match name {
            "lab" => Chosen::Lab(blocks.lab.take().unwrap_or_default()),
            "kubernetes" => {
                Chosen::Kubernetes(Box::new(blocks.kubernetes.take().unwrap_or_default()))
            }
            "hosts" if blocks.named.iter().any(|said| said == "hosts") => {
                Chosen::Hosts(blocks.hosts.take().unwrap_or_default())
            }
            "hosts" => {
                problems.add(
                    At::default(),
                    "--testbed",
                    "`hosts`",
                    format!("a scenario that says {NO_HOSTS}"),
                );
                Chosen::Lab(Lab::default())
            }
            other => {
                problems.unknown(At::default(), "--testbed", other, TESTBEDS);
                Chosen::Lab(Lab::default())
            }
        };
        Testbed { chosen, replaced: replaced.or(blocks.lab) }
    }
}

/// What to do with a key that stands where names of testbeds do.
fn misplaced(key: &str, is_file: bool) -> Option<&'static str> {
    if is_file && key == "testbed" {
        return Some(
            "the name of a testbed: a file begins with `kubernetes:`, without `testbed:` above it",
        );
    }
    let is_inside = [CLUSTER_KEYS, LAB_KEYS, HOSTS_KEYS].iter().any(|keys| keys.contains(&key));
    is_inside.then_some("the name of its testbed above it, like kubernetes: {image: NAME}")
}

impl Testbed {
    /// Takes what the command line says of the cluster.
    pub(crate) fn reached(&mut self, over: &ClusterOverrides, problems: &mut Problems) {
        let is_cluster = if let Chosen::Kubernetes(cluster) = &mut self.chosen {
            cluster.reached(over);
            if let Some(remedy) = cluster.lacks_namespace() {
                problems.add(At::default(), "--namespace", "none", remedy);
            }
            true
        } else {
            false
        };
        for (flag, found, expected) in over.said() {
            if !is_cluster {
                problems.add(At::default(), flag, quoted(found), expected);
            }
        }
        if let Some(name) = over.namespace.as_ref().filter(|name| !is_label(name)) {
            problems.add(At::default(), "--namespace", quoted(name), LABEL);
        }
    }

    /// Its words.
    pub(crate) fn vocabulary(&self, all: &Vocabularies) -> Vocabulary {
        match &self.chosen {
            Chosen::Lab(_) => all.lab.clone(),
            Chosen::Kubernetes(cluster) => cluster.vocabulary(&all.kubernetes),
            Chosen::Hosts(_) => all.hosts.clone(),
        }
    }

    /// Whether it is a lab: a trial begins within milliseconds.
    pub(crate) fn is_lab(&self) -> bool {
        matches!(self.chosen, Chosen::Lab(_))
    }

    /// Whether it is machines on which somebody started agents.
    pub(crate) fn is_hosts(&self) -> bool {
        matches!(self.chosen, Chosen::Hosts(_))
    }

    /// Whether commands of subjects may run.
    pub(crate) fn allows_commands(&self) -> bool {
        match &self.chosen {
            Chosen::Lab(_) => true,
            Chosen::Kubernetes(cluster) => cluster.allows_commands(),
            Chosen::Hosts(_) => false,
        }
    }

    /// The mesh of a cluster, whose sidecars paths name.
    pub(crate) fn provider(&self) -> Option<MeshProvider> {
        match &self.chosen {
            Chosen::Kubernetes(cluster) => Some(cluster.provider()),
            Chosen::Lab(_) | Chosen::Hosts(_) => None,
        }
    }

    /// Whether it is a lab with a link that has a rate.
    pub(crate) fn has_shaped_links(&self) -> bool {
        matches!(&self.chosen, Chosen::Lab(lab) if lab.has_shaped_links())
    }

    /// The nodes that paths may name.
    pub(crate) fn nodes(&self) -> Nodes<'_> {
        let of_lab = || self.replaced.as_ref().and_then(Lab::listed);
        match &self.chosen {
            Chosen::Lab(lab) => {
                Nodes { listed: lab.listed(), others: lab.listed().is_none(), domains: false }
            }
            // The lab's first, so that the same paths lead between the same nodes.
            Chosen::Kubernetes(cluster) => {
                Nodes { listed: of_lab().or_else(|| cluster.listed()), others: true, domains: true }
            }
            Chosen::Hosts(hosts) => {
                Nodes { listed: hosts.listed(), others: hosts.listed().is_none(), domains: true }
            }
        }
    }

    /// Whether there is a gateway that no path has to place.
    pub(crate) fn has_gateway(&self) -> bool {
        matches!(&self.chosen, Chosen::Kubernetes(cluster) if cluster.has_gateway())
    }

    /// Whether runs make further objects, of the scenario.
    pub(crate) fn has_objects(&self) -> bool {
        matches!(&self.chosen, Chosen::Kubernetes(cluster) if cluster.has_objects())
    }

    /// The names of further ones.
    pub(crate) fn gateways(&self) -> Vec<String> {
        match &self.chosen {
            Chosen::Kubernetes(cluster) => cluster.gateways(),
            _ => Vec::new(),
        }
    }

    /// With the nodes that the paths name, where the scenario lists none; and what of the scenario
    /// does not hold there.
    pub(crate) fn with(self, named: &BTreeSet<&str>) -> (TestbedSpec, Vec<String>) {
        let Self { chosen, replaced } = self;
        let mut notes = Vec::new();
        let shaped = replaced.as_ref().map_or(&[][..], Lab::shaped);
        let spec = match chosen {
            Chosen::Lab(lab) => return (TestbedSpec::Lab(lab.with(named)), notes),
            Chosen::Kubernetes(cluster) => {
                let (spec, idle) = cluster.with(named, replaced.as_ref());
                notes.extend(idle);
                TestbedSpec::Kubernetes(Box::new(spec))
            }
            Chosen::Hosts(hosts) => TestbedSpec::Hosts(hosts.spec()),
        };
        if !shaped.is_empty() {
            let (keys, name) = (shaped.join(", "), spec.name());
            notes.push(format!(
                "{keys} of the lab: not on the testbed {name}, whose network is as it is"
            ));
        }
        (spec, notes)
    }
}
