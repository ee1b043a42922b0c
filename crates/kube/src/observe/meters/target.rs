//! The containers and nodes that meters are asked about.

use hopbench_testbed::MeteredKind;

/// A container or a node to ask the meters about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterTarget {
    /// Its name in the record: of a proxy of the route, of an agent, or of a node of the scenario.
    pub who: String,
    /// Its kind.
    pub what: MeteredKind,
    /// The name of the cluster's node that it is on, or that it is.
    pub node: String,
    /// The container; absent: the node.
    pub container: Option<Container>,
}

/// A container of a pod.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Container {
    /// Its namespace.
    pub namespace: String,
    /// Its pod.
    pub pod: String,
    /// Its name there; empty: all of the pod.
    pub name: String,
}

/// The pod of a container, if it is the only one of it that is asked about: a container that has no
/// cgroup of its own is metered as its pod.
pub(super) fn pod_of(target: &MeterTarget, targets: &[MeterTarget]) -> Option<Container> {
    let container = target.container.as_ref()?;
    let same_pod = |other: &&MeterTarget| {
        let other = other.container.as_ref();
        other.is_some_and(|other| {
            (&other.namespace, &other.pod) == (&container.namespace, &container.pod)
        })
    };
    let is_alone = targets.iter().filter(same_pod).count() == 1;
    is_alone.then(|| Container { name: String::new(), ..container.clone() })
}
