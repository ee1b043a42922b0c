//! The processes of a mesh that a path meets.

use std::fmt::Display;

use hopbench_model::Path;

/// What a process of a mesh is; those that are asked come before those that ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The service that proxies ask whether they may.
    Policy,
    /// The service that proxies tell what they did.
    Telemetry,
    /// The proxy beside a client or a server.
    Sidecar,
    /// The proxy in front of servers.
    Gateway,
}

impl Role {
    /// Its name on a path, where there is one only: `gateway`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Telemetry => "telemetry",
            Self::Sidecar => "sidecar",
            Self::Gateway => "gateway",
        }
    }

    /// The name of this process in a pod: `bridge@a sidecar`.
    pub fn in_pod(self, pod: impl Display) -> String {
        format!("{pod} {}", self.word())
    }
}

/// A process of a mesh as a path sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Met<P> {
    /// Its name on the path: `client-sidecar`, `server-sidecar#2`.
    pub name: String,
    /// What it is.
    pub role: Role,
    /// The pod that it is in.
    pub pod: P,
    /// Whether the path names it; the others must stay still.
    pub named: bool,
}

impl<P: Display> Met<P> {
    /// The name of the process among all of a testbed.
    pub fn process(&self) -> String {
        self.role.in_pod(&self.pod)
    }
}

/// The pods of a path.
#[derive(Debug, Clone, Copy)]
pub struct PathPods<'a, P> {
    /// Those of its clients.
    pub clients: &'a [P],
    /// Those of who answers.
    pub servers: &'a [P],
    /// That of its gateway, if it has one of ours.
    pub gateway: Option<&'a P>,
    /// That with the services that its proxies ask.
    pub policy: Option<&'a P>,
}

impl<P: Clone> PathPods<'_, P> {
    /// The processes in these pods, in the order of the traffic, and last those that are asked.
    /// `bypassed`: what is sent passes by all of them.
    pub fn meet(&self, path: &Path, has_sidecar: impl Fn(&P) -> bool, bypassed: bool) -> Vec<Met<P>> {
        let mode = path.mesh;
        let met =
            |name: String, role, pod: &P, named: bool| Met { name, role, pod: pod.clone(), named: named && !bypassed };
        let sidecars = |end: &str, pods: &[P], named: bool| -> Vec<Met<P>> {
            let pods = (1..).zip(pods).filter(|(_, pod)| has_sidecar(pod));
            let name = |number: usize| if number == 1 { end.to_owned() } else { format!("{end}#{number}") };
            pods.map(|(number, pod)| met(name(number), Role::Sidecar, pod, named)).collect()
        };
        let one = |role: Role, pod: Option<&P>, named: bool| Some(met(role.word().to_owned(), role, pod?, named));
        let variant = path.variant.as_ref();
        let mut all = sidecars("client-sidecar", self.clients, mode.has_client());
        all.extend(one(Role::Gateway, self.gateway, true));
        all.extend(sidecars("server-sidecar", self.servers, mode.has_server()));
        if variant.is_some_and(|variant| variant.policy_check) {
            // Clients' sidecars do not ask.
            all.extend(one(Role::Policy, self.policy, mode.has_server() || self.gateway.is_some()));
        }
        if variant.is_some_and(|variant| variant.policy_report) {
            all.extend(one(Role::Telemetry, self.policy, true));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{MeshMode, Variant, fixture};

    use super::*;

    fn path(mesh: MeshMode, variant: &str) -> Path {
        let variant = Variant::known().into_iter().find(|known| known.name == variant);
        Path { backends: 2, mesh, variant, ..fixture::path("p") }
    }

    /// `NAME`, in brackets where the path does not name it.
    fn names(pods: PathPods<'_, &str>, path: &Path, bypassed: bool) -> Vec<String> {
        let met = pods.meet(path, |pod| *pod != "b2", bypassed);
        met.into_iter().map(|met| if met.named { met.name } else { format!("({})", met.name) }).collect()
    }

    #[test]
    fn what_is_in_the_pods_is_met_and_what_the_mode_says_is_named() {
        let pods = PathPods { clients: &["a"], servers: &["b1", "b2", "b3"], gateway: None, policy: None };
        let plain = |mode| names(pods, &path(mode, "plain"), false);
        assert_eq!(plain(MeshMode::None), ["(client-sidecar)", "(server-sidecar)", "(server-sidecar#3)"]);
        assert_eq!(plain(MeshMode::Server), ["(client-sidecar)", "server-sidecar", "server-sidecar#3"]);
        assert_eq!(
            names(pods, &path(MeshMode::Both, "plain"), true),
            ["(client-sidecar)", "(server-sidecar)", "(server-sidecar#3)"],
            "datagrams"
        );
    }

    #[test]
    fn services_are_named_where_a_proxy_of_the_path_asks_them() {
        let pods = PathPods { clients: &[], servers: &["b1"], gateway: None, policy: Some(&"asked") };
        assert_eq!(names(pods, &path(MeshMode::Client, "policy-check"), false), ["(server-sidecar)", "(policy)"]);
        assert_eq!(names(pods, &path(MeshMode::Client, "policy-report"), false), ["(server-sidecar)", "telemetry"]);
        let entered = PathPods { gateway: Some(&"gate"), ..pods };
        let checked = path(MeshMode::None, "policy-check");
        assert_eq!(names(entered, &checked, false), ["gateway", "(server-sidecar)", "policy"]);
        assert_eq!(entered.meet(&checked, |_| false, false)[0].process(), "gate gateway");
    }
}
