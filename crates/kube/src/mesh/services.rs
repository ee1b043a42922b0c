//! Containers of the services that proxies ask: hopbench's own program.

use std::net::SocketAddr;

use hopbench_mesh::{POLICY_PORT, TELEMETRY_PORT};
use hopbench_model::{ClusterSpec, IpFamily};
use hopbench_testbed::placement::MeshRole;
use serde_json::{Value, json};

use crate::objects::security::unprivileged;

/// The distance from a service's port to the port of its totals.
const TOTALS: u16 = 10;

/// The port of a service's totals, on the loopback of its pod.
pub(crate) fn totals_port(role: MeshRole) -> u16 {
    port(role) + TOTALS
}

fn port(role: MeshRole) -> u16 {
    if role == MeshRole::Policy { POLICY_PORT } else { TELEMETRY_PORT }
}

/// The container of a service.
pub(crate) fn container(spec: &ClusterSpec, role: MeshRole) -> Value {
    let (name, port) = (role.word(), port(role));
    // All addresses are the pod's own, or the loopback; which the pod will have, and of which
    // families, is not known before it runs. Even a pod without IPv4 has the loopback of IPv4.
    let listen = SocketAddr::new(IpFamily::Ipv6.wildcard(), port).to_string();
    let admin = SocketAddr::new(IpFamily::Ipv4.loopback(), totals_port(role)).to_string();
    json!({
        "name": name,
        "image": spec.image,
        "imagePullPolicy": spec.pull_policy,
        "args": [name, "--listen", listen, "--admin", admin],
        "ports": [{"name": name, "containerPort": port, "protocol": "TCP"}],
        "startupProbe": {"tcpSocket": {"port": port}, "periodSeconds": 1, "failureThreshold": 120},
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
        "securityContext": unprivileged(),
    })
}
