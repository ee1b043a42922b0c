//! What the nodes of a trial were busy with.

use hopbench_model::{Cost, NodeCost};

use super::cell::Cell;
use super::kind::Busy;
use super::spread::Spread;
use super::summary::NodeSummary;

/// How busy the CPUs of a machine were, in cores.
#[derive(Debug)]
pub(crate) struct Node {
    /// The name of the node, or of the first where all are one machine.
    name: String,
    busy: f64,
    softirq: f64,
    steal: f64,
}

impl Node {
    /// Each machine once; those whose CPUs could not be read are left out.
    pub(crate) fn all(cost: &Cost) -> Box<[Self]> {
        let of = |node: &NodeCost| Self {
            name: node.name.clone(),
            busy: node.busy_cores,
            softirq: node.softirq_cores,
            steal: node.steal_cores,
        };
        // All of one machine read the same CPUs, a moment apart.
        let most = if cost.one_machine { 1 } else { cost.nodes.len() };
        cost.nodes.iter().filter(|node| is_known(node)).take(most).map(of).collect()
    }

    /// What the nodes of a cell were busy with over its rounds, one by one; nothing where one machine is all there is.
    pub(crate) fn summary(cell: &Cell) -> Vec<NodeSummary> {
        let mut names: Vec<&str> = Vec::new();
        for node in cell.rounds.iter().flat_map(|round| &round.nodes) {
            if !names.contains(&node.name.as_str()) {
                names.push(&node.name);
            }
        }
        let one = |name: &str| {
            let nodes = || cell.rounds.iter().flat_map(|round| &round.nodes).filter(|node| node.name == name);
            Some(NodeSummary {
                name: name.to_owned(),
                busy_cores: Spread::of(nodes().map(|node| node.busy))?,
                softirq_cores: Spread::of(nodes().map(|node| node.softirq))?,
                steal_cores: Spread::of(nodes().map(|node| node.steal))?,
            })
        };
        if names.len() > 1 { names.into_iter().filter_map(one).collect() } else { Vec::new() }
    }
}

/// Cores of all nodes together that were busy; `None` where one of them is not known, or there is none.
pub(crate) fn cores(cost: &Cost, busy: Busy) -> Option<f64> {
    let of = |node: &Node| match busy {
        Busy::All => node.busy,
        Busy::Softirq => node.softirq,
        Busy::Steal => node.steal,
    };
    let unknown = !cost.one_machine && !cost.nodes.iter().all(is_known);
    let nodes = Node::all(cost);
    (!unknown && !nodes.is_empty()).then(|| nodes.iter().map(of).sum())
}

/// Whether its CPUs were read.
fn is_known(node: &NodeCost) -> bool {
    !node.per_cpu_busy.is_empty()
}
