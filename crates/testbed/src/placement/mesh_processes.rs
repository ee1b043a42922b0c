//! The processes of a mesh: sidecars, gateways and the services that they ask, and those of them
//! that a path meets.

use std::collections::BTreeMap;
use std::fmt::Display;

use hopbench_model::Variant;

use super::endpoints::Endpoints;
use super::of_plan::Placement;
use super::pod::PodId;

/// What a process of a mesh is; those that are asked come before those that ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MeshRole {
    /// The service that proxies ask whether they may.
    Policy,
    /// The service that proxies tell what they did.
    Telemetry,
    /// The proxy beside a client or a server.
    Sidecar,
    /// The proxy in front of servers.
    Gateway,
}

impl MeshRole {
    /// Its name on a path, where there is one only: `gateway`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Telemetry => "telemetry",
            Self::Sidecar => "sidecar",
            Self::Gateway => "gateway",
        }
    }

    /// Whether it is a proxy, and not a service that proxies ask.
    pub fn is_proxy(self) -> bool {
        matches!(self, Self::Sidecar | Self::Gateway)
    }

    /// The name of this process in a pod: `bridge@a sidecar`.
    fn in_pod(self, pod: impl Display) -> String {
        format!("{pod} {}", self.word())
    }

    /// Threads of a process of this variant that carry traffic.
    fn workers(self, variant: Option<&Variant>) -> u32 {
        variant.filter(|_| self.is_proxy()).map_or(1, |variant| variant.concurrency)
    }
}

/// A process of the mesh, its pod, and the variant that says how it is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshProcess {
    /// What it is.
    pub role: MeshRole,
    /// The pod that it is in.
    pub pod: PodId,
    /// How it is set up.
    pub variant: Variant,
}

impl MeshProcess {
    /// Its name among all of a testbed.
    pub fn name(&self) -> String {
        self.role.in_pod(&self.pod)
    }
}

/// A process of a mesh as a path sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Met {
    /// Its name on the path: `client-sidecar`, `server-sidecar#2`.
    pub name: String,
    /// What it is.
    pub role: MeshRole,
    /// The pod that it is in.
    pub pod: PodId,
    /// Whether the path names it; the others must stay still.
    pub named: bool,
    /// Threads of it that carry traffic.
    pub workers: u32,
}

impl Met {
    /// The name of the process among all of a testbed.
    pub fn process(&self) -> String {
        self.role.in_pod(&self.pod)
    }
}

impl Placement {
    /// Everything that a plan needs: first the services that are asked, then the proxies that ask
    /// them.
    pub fn mesh_processes(&self) -> Vec<MeshProcess> {
        let process = |role, pod: &PodId, variant: &Variant| MeshProcess {
            role,
            pod: pod.clone(),
            variant: variant.clone(),
        };
        let of_paths = |pods: fn(&Endpoints) -> &[PodId]| {
            let varied = self
                .paths
                .values()
                .filter_map(|endpoints| Some((endpoints, endpoints.path.variant.as_ref()?)));
            varied.flat_map(move |(endpoints, variant)| {
                pods(endpoints).iter().map(move |pod| (pod, variant))
            })
        };
        let mut processes = Vec::new();
        // Paths of one variant and place share them.
        let policies: BTreeMap<&PodId, &Variant> =
            of_paths(|endpoints| endpoints.policy.as_slice()).collect();
        for (pod, variant) in policies {
            if variant.policy_check {
                processes.push(process(MeshRole::Policy, pod, variant));
            }
            if variant.policy_report {
                processes.push(process(MeshRole::Telemetry, pod, variant));
            }
        }
        processes.extend(
            self.sidecars.iter().map(|(pod, variant)| process(MeshRole::Sidecar, pod, variant)),
        );
        let gateways = of_paths(|endpoints| &endpoints.gateways);
        processes.extend(gateways.map(|(pod, variant)| process(MeshRole::Gateway, pod, variant)));
        processes
    }

    /// The processes in a pod.
    pub fn processes_in(&self, pod: &PodId) -> Vec<MeshProcess> {
        let mut all = self.mesh_processes();
        all.retain(|process| process.pod == *pod);
        all
    }

    /// The processes in the pods of a path, in the order of the traffic, and last those that its
    /// proxies ask. `servers` are the pods that answer. `bypassed`: the traffic passes by all of
    /// them.
    pub fn met(&self, endpoints: &Endpoints, servers: &[PodId], bypassed: bool) -> Vec<Met> {
        let Endpoints { path, clients, gateways, policy, .. } = endpoints;
        let (mode, variant) = (path.mesh, path.variant.as_ref());
        let met =
            |name: String, role: MeshRole, pod: &PodId, variant: Option<&Variant>, named: bool| {
                Met {
                    name,
                    role,
                    pod: pod.clone(),
                    named: named && !bypassed,
                    workers: role.workers(variant),
                }
            };
        // The first of several has no number.
        let name = |end: &str, number: usize| {
            if number == 1 { end.to_owned() } else { format!("{end}#{number}") }
        };
        let sidecars = |end: &str, pods: &[PodId], named: bool| -> Vec<Met> {
            let pods = (1..)
                .zip(pods)
                .filter_map(|(number, pod)| Some((number, pod, self.sidecars.get(pod)?)));
            pods.map(|(number, pod, variant)| {
                met(name(end, number), MeshRole::Sidecar, pod, Some(variant), named)
            })
            .collect()
        };
        let all_of = |role: MeshRole, pods: &[PodId], named: bool| -> Vec<Met> {
            let pods = (1..).zip(pods);
            pods.map(|(number, pod)| met(name(role.word(), number), role, pod, variant, named))
                .collect()
        };
        let (has_gateway, policy) = (!gateways.is_empty(), policy.as_slice());
        let mut all = sidecars("client-sidecar", clients, mode.has_client());
        all.extend(all_of(MeshRole::Gateway, gateways, true));
        all.extend(sidecars("server-sidecar", servers, mode.has_server()));
        if variant.is_some_and(|variant| variant.policy_check) {
            // Clients' sidecars do not ask.
            all.extend(all_of(MeshRole::Policy, policy, mode.has_server() || has_gateway));
        }
        if variant.is_some_and(|variant| variant.policy_report) {
            all.extend(all_of(MeshRole::Telemetry, policy, true));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{MeshMode, Path, Via, fixture};

    use super::*;
    use crate::placement::rules::Rules;

    /// A path from pods of node a to three servers on node b.
    fn path(name: &str, mesh: MeshMode, variant: &str) -> Path {
        let variant = Variant::known().into_iter().find(|known| known.name == variant);
        let (from, to) = (fixture::place("bridge", "a"), fixture::place("bridge", "b"));
        Path { from, to, backends: 3, mesh, variant, ..fixture::path(name) }
    }

    /// `NAME`, in brackets where the path does not name it; the second server has no sidecar.
    fn names(placement: &Placement, path: &str, bypassed: bool) -> Vec<String> {
        let endpoints = &placement.paths[path];
        let mut lacking = placement.clone();
        lacking.sidecars.remove(&endpoints.servers[1]);
        let met = lacking.met(endpoints, &endpoints.servers, bypassed);
        met.into_iter()
            .map(|met| if met.named { met.name } else { format!("({})", met.name) })
            .collect()
    }

    fn placement(paths: Vec<Path>) -> Placement {
        Placement::of(&fixture::plan(paths, vec![]), Rules::default())
    }

    #[test]
    fn what_is_in_the_pods_is_met_and_what_the_mode_says_is_named() {
        let placement = placement(vec![
            path("none", MeshMode::None, "plain"),
            path("server", MeshMode::Server, "plain"),
            path("both", MeshMode::Both, "plain"),
        ]);
        let plain = |path| names(&placement, path, false);
        assert_eq!(plain("none"), ["(client-sidecar)", "(server-sidecar)", "(server-sidecar#3)"]);
        assert_eq!(plain("server"), ["(client-sidecar)", "server-sidecar", "server-sidecar#3"]);
        assert_eq!(
            names(&placement, "both", true),
            ["(client-sidecar)", "(server-sidecar)", "(server-sidecar#3)"],
            "datagrams"
        );
    }

    #[test]
    fn services_are_named_where_a_proxy_of_the_path_asks_them() {
        let met = |mode: MeshMode, variant: &str, via: Via| {
            let both = path("both", MeshMode::Both, variant);
            let placement = placement(vec![both, Path { via, ..path("p", mode, variant) }]);
            names(&placement, "p", false)
        };
        let all = ["(client-sidecar)", "(server-sidecar)", "(server-sidecar#3)"];
        let client = [&["client-sidecar"][..], &all[1..]].concat();
        assert_eq!(
            met(MeshMode::Client, "policy-check", Via::Direct),
            [&client[..], &["(policy)"]].concat()
        );
        assert_eq!(
            met(MeshMode::Client, "policy-report", Via::Direct),
            [&client[..], &["telemetry"]].concat()
        );
        let entered =
            ["(client-sidecar)", "gateway", "(server-sidecar)", "(server-sidecar#3)", "policy"];
        assert_eq!(met(MeshMode::None, "policy-check", Via::Gateway("c".to_owned())), entered);
    }

    #[test]
    fn processes_have_names_and_proxies_have_workers() {
        let heavy =
            Variant { concurrency: 4, policy_check: true, policy_report: true, ..Variant::plain() };
        let entered =
            Path { via: Via::Gateway("c".to_owned()), ..path("p", MeshMode::Server, "plain") };
        let placement = placement(vec![Path { backends: 1, variant: Some(heavy), ..entered }]);
        let endpoints = &placement.paths["p"];
        let met = placement.met(endpoints, &endpoints.servers, false);
        let met: Vec<(String, u32)> = met.iter().map(|met| (met.process(), met.workers)).collect();
        let proxies =
            [("bridge@c/gateway-p gateway".to_owned(), 4), ("bridge@b sidecar".to_owned(), 4)];
        let asked =
            [("bridge@b/policy policy".to_owned(), 1), ("bridge@b/policy telemetry".to_owned(), 1)];
        assert_eq!(met, [&proxies[..], &asked].concat());
        let all: Vec<String> = placement.mesh_processes().iter().map(MeshProcess::name).collect();
        assert_eq!(
            all,
            [&asked[0].0, &asked[1].0, &proxies[1].0, &proxies[0].0].map(String::clone)
        );
        let in_policy = placement.processes_in(endpoints.policy.as_ref().unwrap());
        assert_eq!(
            in_policy.iter().map(|process| process.role).collect::<Vec<_>>(),
            [MeshRole::Policy, MeshRole::Telemetry]
        );
    }
}
