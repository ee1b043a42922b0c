//! The attachment of the pods of a place: their network and their RuntimeClass.

use hopbench_model::{ClusterSpec, Place, PodNetwork};
use hopbench_testbed::placement::PodId;
use serde_json::Value;

/// The RuntimeClass of a runtime that scenarios call otherwise, where they do not say it.
const USUAL: [(&str, &str); 1] = [("runsc", "gvisor")];

/// Network kinds that are the cluster's own pod network, unless the scenario says otherwise.
const OWN: [&str; 2] = ["pod", "bridge"];

/// The field of a pod's `spec` by which its containers share a PID namespace.
pub(crate) const SHARED: &str = "shareProcessNamespace";

/// The attachment of a pod.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Attachment {
    /// In its node's own network.
    pub(crate) host_network: bool,
    pub(crate) runtime_class: Option<String>,
    pub(crate) network: PodNetwork,
}

/// Why a place cannot be had: what is missing, why, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unattached {
    pub(crate) what: String,
    pub(crate) why: String,
    pub(crate) remedy: String,
}

impl Attachment {
    /// The attachment of the pods of a place, as the scenario maps its words.
    pub(crate) fn of(spec: &ClusterSpec, place: &Place) -> Result<Self, Unattached> {
        let name = place.network.as_str();
        let runtime = place.runtime.as_deref().map(|runtime| runtime_class(spec, runtime));
        if name == "host" {
            return match &place.runtime {
                None => Ok(Self { host_network: true, ..Self::default() }),
                Some(runtime) => Err(Unattached {
                    what: "a pod network".to_owned(),
                    why: format!("{place}: {runtime} would take the node's own network over"),
                    remedy: "leave the runtime out, or take another network".to_owned(),
                }),
            };
        }
        let network = match spec.networks.get(name) {
            Some(network) => network.clone(),
            None if OWN.contains(&name) => PodNetwork::default(),
            None => {
                let mut known: Vec<&str> = ["host"].into_iter().chain(OWN).collect();
                known.extend(
                    spec.networks.keys().map(String::as_str).filter(|name| !OWN.contains(name)),
                );
                return Err(Unattached {
                    what: format!("network {name}"),
                    why: format!(
                        "{place}: nothing says what `{name}` is on the cluster, which has {}",
                        known.join(", ")
                    ),
                    remedy: format!(
                        "say how pods get it, like `networks: {{{name}: {{runtime-class: NAME}}}}` \
                         or `networks: {{{name}: {{annotations: {{...}}, interface: net1}}}}` \
                         under `testbed: kubernetes:`"
                    ),
                });
            }
        };
        let runtime_class = match (network.runtime_class.clone(), runtime) {
            (Some(of_network), Some(of_runtime)) if of_network != of_runtime => {
                return Err(Unattached {
                    what: "one RuntimeClass for both".to_owned(),
                    why: format!(
                        "{place}: pods of `{name}` have the RuntimeClass {of_network}, and those \
                         in {} have {of_runtime}; a pod has one only",
                        place.runtime.as_deref().unwrap_or_default()
                    ),
                    remedy: format!(
                        "make a RuntimeClass that is both and name it under `networks: {name}:` \
                         and under `runtimes:`"
                    ),
                });
            }
            (of_network, of_runtime) => of_network.or(of_runtime),
        };
        Ok(Self { host_network: false, runtime_class, network })
    }

    /// Whether the containers of a pod can share a PID namespace that its agent sees as the node
    /// does. In a kernel of the pod's own, CPU time is not that of the node.
    pub(crate) fn shares_processes(&self) -> bool {
        !self.runtime_class.as_deref().is_some_and(has_own_kernel)
    }
}

/// Whether there is an agent in a pod. An end of paths has one, and some pods have nothing else. A
/// pod that only serves a mesh has one if it sees the processes there.
pub(crate) fn has_agent(spec: &ClusterSpec, pod: &PodId) -> bool {
    pod.is_end() || pod.is_agent_alone() || sees_processes(spec, &pod.place) == Some(true)
}

/// Whether there is an agent in a pod that sees the CPUs of its node, as far as the scenario tells.
pub(crate) fn sees_node(spec: &ClusterSpec, pod: &PodId) -> bool {
    let attachment = Attachment::of(spec, &pod.place);
    has_agent(spec, pod) && attachment.is_ok_and(|attachment| attachment.shares_processes())
}

/// Whether an agent in a pod of this place sees the processes of the containers beside it, as far
/// as the scenario tells. `None`: the cluster cannot have the place.
pub(crate) fn sees_processes(spec: &ClusterSpec, place: &Place) -> Option<bool> {
    let attachment = Attachment::of(spec, place).ok()?;
    let patches = [spec.patch.as_ref(), attachment.network.patch.as_ref()];
    let refuses = |patch: &Value| patch["spec"][SHARED] == Value::Bool(false);
    Some(attachment.shares_processes() && !patches.into_iter().flatten().any(refuses))
}

/// The RuntimeClass of a runtime.
pub(crate) fn runtime_class(spec: &ClusterSpec, runtime: &str) -> String {
    let usual =
        || USUAL.iter().find(|(name, _)| *name == runtime).map(|(_, class)| (*class).to_owned());
    spec.runtimes.get(runtime).cloned().or_else(usual).unwrap_or_else(|| runtime.to_owned())
}

/// Whether what a RuntimeClass or its handler is called says that its pods have a kernel of their
/// own.
pub(crate) fn has_own_kernel(class: &str) -> bool {
    ["runsc", "gvisor", "kata", "firecracker"].iter().any(|word| class.contains(word))
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::placement::Group;

    use super::*;
    use crate::plan::fixture::{place, spec};

    fn class(spec: &ClusterSpec, text: &str) -> Option<String> {
        Attachment::of(spec, &place(text)).unwrap().runtime_class
    }

    #[test]
    fn words_are_mapped() {
        let mut spec = spec();
        let overlay = PodNetwork { runtime_class: Some("overlay".into()), ..PodNetwork::default() };
        spec.networks.insert("overlay".into(), overlay);
        spec.runtimes.insert("kata".into(), "kata-qemu".into());
        assert!(Attachment::of(&spec, &place("host@a")).unwrap().host_network);
        assert_eq!(Attachment::of(&spec, &place("bridge@a")), Ok(Attachment::default()));
        assert_eq!(class(&spec, "overlay@a").as_deref(), Some("overlay"));
        assert_eq!(class(&spec, "pod+runsc@a").as_deref(), Some("gvisor"));
        assert_eq!(class(&spec, "pod+kata@a").as_deref(), Some("kata-qemu"));
        assert_eq!(class(&spec, "pod+other@a").as_deref(), Some("other"));
        spec.runtimes.insert("runsc".into(), "overlay".into());
        assert_eq!(class(&spec, "overlay+runsc@a").as_deref(), Some("overlay"), "one that is both");
        assert!(
            has_own_kernel("kata-qemu") && has_own_kernel("gvisor") && !has_own_kernel("overlay")
        );
    }

    #[test]
    fn agents_see_processes_unless_a_sandbox_or_a_patch_keeps_them_from_it() {
        let mut spec = spec();
        let overlay = PodNetwork { runtime_class: Some("overlay".into()), ..PodNetwork::default() };
        spec.networks.insert("overlay".into(), overlay);
        let sees = |spec: &ClusterSpec| {
            ["pod@a", "overlay@a", "pod+runsc@a", "eni@a"]
                .map(|text| sees_processes(spec, &place(text)))
        };
        let unless_sandboxed = [Some(true), Some(true), Some(false), None];
        assert_eq!(sees(&spec), unless_sandboxed);
        spec.patch = Some(serde_json::json!({"spec": {"shareProcessNamespace": true}}));
        assert_eq!(sees(&spec), unless_sandboxed);
        let gateway = PodId::first(place("pod@c"), Group::Gateway("in".into()));
        let end = PodId::first(place("pod@a"), Group::Shared);
        let alone = PodId::first(place("pod@a"), Group::AgentAlone);
        let sandboxed = PodId::first(place("pod+runsc@a"), Group::Shared);
        let all = [&gateway, &end, &alone, &sandboxed];
        let have_agents = |spec: &ClusterSpec| all.map(|pod| has_agent(spec, pod));
        let see_nodes = |spec: &ClusterSpec| all.map(|pod| sees_node(spec, pod));
        assert_eq!(have_agents(&spec), [true; 4]);
        assert_eq!(see_nodes(&spec), [true, true, true, false]);
        spec.patch = Some(serde_json::json!({"spec": {"shareProcessNamespace": false}}));
        assert_eq!(sees(&spec), [Some(false), Some(false), Some(false), None]);
        assert_eq!(have_agents(&spec), [false, true, true, true]);
        assert_eq!(see_nodes(&spec), [false, true, true, false], "CPUs are no processes");
    }

    #[test]
    fn what_is_not_mapped_or_cannot_be_is_told() {
        let mut spec = spec();
        let overlay = PodNetwork { runtime_class: Some("overlay".into()), ..PodNetwork::default() };
        spec.networks.insert("overlay".into(), overlay);
        let told = |text: &str| Attachment::of(&spec, &place(text)).unwrap_err();
        let eni = told("eni@a");
        assert_eq!(eni.what, "network eni");
        assert!(eni.why.ends_with("which has host, pod, bridge, overlay"), "{}", eni.why);
        assert!(eni.remedy.contains("networks: {eni: {runtime-class: NAME}}"), "{}", eni.remedy);
        let both = told("overlay+runsc@a");
        assert!(
            both.why.contains("have the RuntimeClass overlay, and those in runsc have gvisor"),
            "{}",
            both.why
        );
        assert_eq!(told("host+runsc@a").what, "a pod network");
    }
}
