//! The CPUs of the nodes of a trial, in cores.

use hopbench_model::{Cost, NodeCost};

/// The work that keeps the cores of a node busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Busy {
    /// Anything.
    All,
    /// Processing packets.
    Softirq,
    /// Work of other machines, to which the hypervisor gave them.
    Steal,
}

/// How busy the CPUs of a machine were, in cores.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    /// The name of the node, or of the first where all are one machine.
    pub(crate) name: String,
    pub(crate) busy: f64,
    pub(crate) softirq: f64,
    pub(crate) steal: f64,
    /// CPUs that it has.
    pub(crate) cpus: usize,
}

impl Node {
    /// The share of its CPU time in which it had nothing to do.
    pub(crate) fn idle(&self) -> f64 {
        (1.0 - self.busy / self.cpus as f64).max(0.0)
    }

    /// Each machine once; those whose CPUs could not be read are left out.
    pub(crate) fn all(cost: &Cost) -> Box<[Self]> {
        let of = |node: &NodeCost| Self {
            name: node.name.clone(),
            busy: node.busy_cores,
            softirq: node.softirq_cores,
            steal: node.steal_cores,
            cpus: node.per_cpu_busy.len(),
        };
        // All of one machine read the same CPUs, a moment apart.
        let most = if cost.one_machine { 1 } else { cost.nodes.len() };
        cost.nodes.iter().filter(|node| is_known(node)).take(most).map(of).collect()
    }
}

/// Cores of all nodes together that were busy; `None` where one of them is not known, or there is
/// none.
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

/// The share of the CPU time of all nodes together in which they had nothing to do; `None` as for
/// [`cores`].
pub(crate) fn idle(cost: &Cost) -> Option<f64> {
    let busy = cores(cost, Busy::All)?;
    let cpus: usize = Node::all(cost).iter().map(|node| node.cpus).sum();
    Some((1.0 - busy / cpus as f64).max(0.0))
}

/// Whether its CPUs were read.
fn is_known(node: &NodeCost) -> bool {
    !node.per_cpu_busy.is_empty()
}
