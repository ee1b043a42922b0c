//! The setup of each process of the mesh: its program, and the task of a proxy.

use std::net::{Ipv4Addr, SocketAddr};

use hopbench_control::authority::Authority;
use hopbench_mesh::{
    AdminAddress, Listener, MARK, POLICY_PORT, ProxyIdentity, ProxySpec, SPIFFE, TELEMETRY_PORT,
};
use hopbench_model::{Fault, IpFamily};
use hopbench_testbed::placement::{MeshProcess, MeshRole, Placement, PodId};

use super::listeners;
use super::proxies::MeshProgram;

/// The admin endpoint of a proxy: a name in its pod's network namespace.
const ADMIN: &str = "@hopbench-admin";
/// The access log of a proxy, which has folders of its own.
const ACCESS_LOG: &str = "/tmp/access.log";

/// A process of the mesh, and its task if it is a proxy.
#[derive(Debug, Clone)]
pub(crate) struct ProcessSetup {
    pub(crate) process: MeshProcess,
    proxy: Option<ProxySpec>,
}

impl ProcessSetup {
    /// The program that is to be started.
    pub(crate) fn program(&self) -> MeshProgram {
        match &self.proxy {
            Some(proxy) => MeshProgram::Envoy(Box::new(proxy.clone())),
            None if self.process.role == MeshRole::Policy => {
                MeshProgram::Policy { port: POLICY_PORT }
            }
            None => MeshProgram::Telemetry { port: TELEMETRY_PORT },
        }
    }
}

/// The setups of all that a plan needs: first the services that are asked. `address` is that of a
/// pod; `families` are those of the lab.
pub(crate) fn setups(
    placement: &Placement,
    authority: &Authority,
    families: &[IpFamily],
    address: impl Fn(&PodId) -> Option<Ipv4Addr> + Copy,
) -> Result<Vec<ProcessSetup>, Fault> {
    let setup = |process: MeshProcess| -> Result<ProcessSetup, Fault> {
        let listeners = match process.role {
            MeshRole::Policy | MeshRole::Telemetry => {
                return Ok(ProcessSetup { process, proxy: None });
            }
            MeshRole::Sidecar => listeners::listeners(&process.pod, placement, families, address),
            MeshRole::Gateway => {
                let mut all = placement.paths.values();
                let entered = all.find(|ends| ends.gateways.contains(&process.pod));
                entered.map(|ends| listeners::gateway(ends, address)).unwrap_or_default()
            }
        };
        let policy = placement.policy_of(&process.pod).and_then(address);
        let policy = policy.map(|address| SocketAddr::from((address, POLICY_PORT)));
        let proxy = Some(proxy(&process, authority, policy, listeners)?);
        Ok(ProcessSetup { process, proxy })
    };
    placement.mesh_processes().into_iter().map(setup).collect()
}

/// The task of a proxy. `policy` is the service that it asks.
fn proxy(
    process: &MeshProcess,
    authority: &Authority,
    policy: Option<SocketAddr>,
    listeners: Vec<Listener>,
) -> Result<ProxySpec, Fault> {
    let MeshProcess { role, pod, variant } = process;
    Ok(ProxySpec {
        name: pod.to_string(),
        variant: variant.clone(),
        admin: AdminAddress::Pipe(ADMIN.to_owned()),
        ready: None,
        listeners,
        mark: if *role == MeshRole::Sidecar { Some(MARK) } else { None },
        identity: Some(identity(authority, pod)?),
        access_log: ACCESS_LOG.to_owned(),
        policy,
    })
}

/// The identity that the proxy of a pod proves to others: `spiffe://hopbench/pod/NAME`.
fn identity(authority: &Authority, pod: &PodId) -> Result<ProxyIdentity, Fault> {
    let issued = authority.issue(&format!("{SPIFFE}pod/{pod}"))?;
    Ok(ProxyIdentity {
        certificate: issued.certificate,
        key: issued.key,
        authority: issued.authority,
    })
}
