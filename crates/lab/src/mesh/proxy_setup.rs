//! The processes of the mesh that a plan needs: sidecars, gateways, and the services that they ask.

use std::net::{Ipv4Addr, SocketAddr};

use hopbench_control::authority::Authority;
pub(crate) use hopbench_mesh::Role;
use hopbench_mesh::{Admin, Identity, MARK, PathPods, Proxy, SPIFFE};
use hopbench_model::{Fault, Variant};

use crate::cast::Cast;
use crate::demand::Demand;
use crate::pod::PodId;
use crate::proxies::Program;
use crate::sidecar::{self, TELEMETRY_PORT};

/// The port of the policy service in its pod.
const POLICY_PORT: u16 = 15_010;
/// The admin endpoint of a proxy: a name in its pod's network namespace.
const ADMIN: &str = "@hopbench-admin";
/// The access log of a proxy, which has folders of its own.
const ACCESS_LOG: &str = "/tmp/access.log";

/// A process of the mesh as a path sees it.
pub(crate) type Met = hopbench_mesh::Met<PodId>;

/// A process of the mesh, and the pod that it is in.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    pub(crate) role: Role,
    pub(crate) pod: PodId,
    pub(crate) variant: Variant,
    /// What it is to do, where it is a proxy.
    proxy: Option<Proxy>,
}

impl Post {
    /// Its name among all of the lab.
    pub(crate) fn name(&self) -> String {
        self.role.in_pod(&self.pod)
    }

    /// What is to be started.
    pub(crate) fn program(&self) -> Program {
        match &self.proxy {
            Some(proxy) => Program::Envoy(Box::new(proxy.clone())),
            None if self.role == Role::Policy => Program::Policy { port: POLICY_PORT },
            None => Program::Telemetry { port: TELEMETRY_PORT },
        }
    }

    /// Threads of it that carry traffic.
    pub(crate) fn workers(&self) -> u32 {
        if self.proxy.is_some() { self.variant.concurrency } else { 1 }
    }
}

/// Everything that a plan needs, those that are asked first. `address` knows where pods are.
pub(crate) fn all(
    demand: &Demand,
    authority: &Authority,
    address: impl Fn(&PodId) -> Option<Ipv4Addr> + Copy,
) -> Result<Vec<Post>, Fault> {
    let mut posts = Vec::new();
    for (pod, variant) in &demand.policies() {
        let post = |role| Post { role, pod: (*pod).clone(), variant: (*variant).clone(), proxy: None };
        posts.extend(variant.policy_check.then(|| post(Role::Policy)));
        posts.extend(variant.policy_report.then(|| post(Role::Telemetry)));
    }
    // `asked` is one of the paths for which this proxy checks: they end at the same place.
    let proxy = |role: Role, pod: &PodId, variant: &Variant, asked: Option<&Cast>, listeners| -> Result<Post, Fault> {
        let policy = asked.filter(|_| variant.policy_check).and_then(|cast| address(cast.policy.as_ref()?));
        let proxy = Proxy {
            name: pod.to_string(),
            variant: variant.clone(),
            admin: Admin::Pipe(ADMIN.to_owned()),
            ready: None,
            listeners,
            mark: (role == Role::Sidecar).then_some(MARK),
            identity: Some(identity(authority, pod)?),
            access_log: ACCESS_LOG.to_owned(),
            policy: policy.map(|address| SocketAddr::from((address, POLICY_PORT))),
        };
        Ok(Post { role, pod: pod.clone(), variant: variant.clone(), proxy: Some(proxy) })
    };
    for (pod, variant) in &demand.sidecars {
        let mut paths = demand.paths.values();
        let asked = paths.find(|cast| cast.path.mesh.has_server() && cast.servers.contains(pod));
        posts.push(proxy(Role::Sidecar, pod, variant, asked, sidecar::listeners(pod, demand, address))?);
    }
    for cast in demand.paths.values() {
        if let (Some(pod), Some(variant)) = (&cast.gateway, &cast.path.variant) {
            posts.push(proxy(Role::Gateway, pod, variant, Some(cast), sidecar::gateway(cast, address))?);
        }
    }
    Ok(posts)
}

/// What the proxy of a pod proves to others: `spiffe://hopbench/pod/NAME`.
fn identity(authority: &Authority, pod: &PodId) -> Result<Identity, Fault> {
    let issued = authority.issue(&format!("{SPIFFE}pod/{pod}"))?;
    Ok(Identity { certificate: issued.certificate, key: issued.key, authority: issued.authority })
}

/// Those in the pods of a path, and those that its proxies ask, in the order of the traffic. `bypassed`: what is sent
/// passes by all of them.
pub(crate) fn met(cast: &Cast, demand: &Demand, bypassed: bool) -> Vec<Met> {
    let Cast { path, clients, servers, gateway, policy, .. } = cast;
    let pods = PathPods { clients, servers, gateway: gateway.as_ref(), policy: policy.as_ref() };
    pods.meet(path, |pod| demand.sidecars.contains_key(pod), bypassed)
}
