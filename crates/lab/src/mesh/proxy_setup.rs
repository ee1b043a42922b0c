//! The setup of each process of the mesh: its program, and the task of a proxy.

use std::net::{Ipv4Addr, SocketAddr};

use hopbench_control::authority::Authority;
use hopbench_mesh::{Admin, Identity, Listener, MARK, Proxy, Role, SPIFFE};
use hopbench_model::Fault;

use super::listeners::{self, TELEMETRY_PORT};
use super::proxies::Program;
use crate::placement::mesh_processes::all;
use crate::placement::{Endpoints, MeshProcess, Placement, PodId};

/// The port of the policy service in its pod.
const POLICY_PORT: u16 = 15_010;
/// The admin endpoint of a proxy: a name in its pod's network namespace.
const ADMIN: &str = "@hopbench-admin";
/// The access log of a proxy, which has folders of its own.
const ACCESS_LOG: &str = "/tmp/access.log";

/// A process of the mesh, and its task if it is a proxy.
#[derive(Debug, Clone)]
pub(crate) struct ProcessSetup {
    pub(crate) process: MeshProcess,
    proxy: Option<Proxy>,
}

impl ProcessSetup {
    /// The program that is to be started.
    pub(crate) fn program(&self) -> Program {
        match &self.proxy {
            Some(proxy) => Program::Envoy(Box::new(proxy.clone())),
            None if self.process.role == Role::Policy => Program::Policy { port: POLICY_PORT },
            None => Program::Telemetry { port: TELEMETRY_PORT },
        }
    }
}

/// The setups of all that a plan needs: first the services that are asked. `address` is that of a
/// pod.
///
/// # Errors
/// Certificates that cannot be made.
pub(crate) fn setups(
    placement: &Placement,
    authority: &Authority,
    address: impl Fn(&PodId) -> Option<Ipv4Addr> + Copy,
) -> Result<Vec<ProcessSetup>, Fault> {
    let setup = |process: MeshProcess| -> Result<ProcessSetup, Fault> {
        let proxy = match process.role {
            Role::Policy | Role::Telemetry => None,
            Role::Sidecar => {
                let mut all = placement.paths.values();
                // One of the paths for which it checks: they end at the same place.
                let asking = all.find(|ends| ends.path.mesh.has_server() && ends.servers.contains(&process.pod));
                let listeners = listeners::listeners(&process.pod, placement, address);
                Some(proxy(&process, authority, asking, listeners, address)?)
            }
            Role::Gateway => {
                let mut all = placement.paths.values();
                let entered = all.find(|ends| ends.gateway.as_ref() == Some(&process.pod));
                let listeners = entered.map(|ends| listeners::gateway(ends, address)).unwrap_or_default();
                Some(proxy(&process, authority, entered, listeners, address)?)
            }
        };
        Ok(ProcessSetup { process, proxy })
    };
    all(placement).into_iter().map(setup).collect()
}

/// The task of a proxy. `asking` is a path for which it asks the policy service.
fn proxy(
    process: &MeshProcess,
    authority: &Authority,
    asking: Option<&Endpoints>,
    listeners: Vec<Listener>,
    address: impl Fn(&PodId) -> Option<Ipv4Addr>,
) -> Result<Proxy, Fault> {
    let MeshProcess { role, pod, variant } = process;
    let policy = asking.filter(|_| variant.policy_check).and_then(|endpoints| address(endpoints.policy.as_ref()?));
    Ok(Proxy {
        name: pod.to_string(),
        variant: variant.clone(),
        admin: Admin::Pipe(ADMIN.to_owned()),
        ready: None,
        listeners,
        mark: if *role == Role::Sidecar { Some(MARK) } else { None },
        identity: Some(identity(authority, pod)?),
        access_log: ACCESS_LOG.to_owned(),
        policy: policy.map(|address| SocketAddr::from((address, POLICY_PORT))),
    })
}

/// The identity that the proxy of a pod proves to others: `spiffe://hopbench/pod/NAME`.
fn identity(authority: &Authority, pod: &PodId) -> Result<Identity, Fault> {
    let issued = authority.issue(&format!("{SPIFFE}pod/{pod}"))?;
    Ok(Identity { certificate: issued.certificate, key: issued.key, authority: issued.authority })
}
