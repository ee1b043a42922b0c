//! A Service.

use std::collections::BTreeMap;

use hopbench_model::Via;
use serde_json::{Value, json};

use crate::labels::{Run, behind};
use crate::objects::pod::{AGENT, DATAGRAMS, PROGRAM};
use crate::pod::AGENT_PORT;

/// The Service of a path, for the agents or for the server program on `program_port`. Its pods are those with its label.
/// `sidecars`: ports that the servers' sidecars take, by name.
pub(crate) fn service(
    run: &Run,
    name: &str,
    via: &Via,
    program_port: Option<u16>,
    datagrams: bool,
    sidecars: &BTreeMap<&'static str, u16>,
) -> Value {
    let port = |name: &str, port: u16, protocol: &str| json!({"name": name, "port": port, "targetPort": name, "protocol": protocol});
    let mut ports = vec![match program_port {
        Some(program) => port(PROGRAM, program, "TCP"),
        None => port(AGENT, AGENT_PORT, "TCP"),
    }];
    if datagrams && program_port.is_none() {
        ports.push(port(DATAGRAMS, AGENT_PORT, "UDP"));
    }
    // Meshes take a port for what its name begins with, or for what `appProtocol` says.
    ports.extend(sidecars.iter().map(|(name, number)| {
        let protocol = name.split_once('-').map_or(*name, |(protocol, _)| protocol);
        json!({"name": name, "port": number, "targetPort": number, "protocol": "TCP", "appProtocol": protocol})
    }));
    let kind = match via {
        Via::NodePort(_) => "NodePort",
        Via::LoadBalancer => "LoadBalancer",
        _ => "ClusterIP",
    };
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": run.metadata(name),
        "spec": {"type": kind, "selector": {behind(name): ""}, "ports": ports},
    })
}
