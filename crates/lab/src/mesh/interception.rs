//! The nftables rules that bring the traffic of a pod to its sidecar.
//!
//! ```text
//!   prerouting: to an exposed port with the server's sidecar? count, to the sidecar's inbound port
//!   output: to a port with the client's sidecar, not its own? count, to its outbound port
//! ```
//!
//! Datagrams and ICMP are never taken. In a pod with a sidecar the kernel tracks all connections,
//! as it does in the meshes of clusters. All modes of a pod pay for that alike.

use std::collections::BTreeSet;

use hopbench_mesh::{INBOUND, MARK, OUTBOUND, exposed};
use hopbench_model::{IpFamily, Via};
use hopbench_testbed::placement::{Placement, PodId};
use serde_json::{Value, json};

use crate::services::nft_json::{Table, transport};
use crate::services::service;

/// The rules of a pod with a sidecar, for traffic of these families.
pub(crate) fn rules(pod: &PodId, placement: &Placement, families: &[IpFamily]) -> Value {
    let inbound: BTreeSet<u16> =
        exposed().filter(|one| one.mode.has_server()).map(|one| one.port()).collect();
    let outbound: BTreeSet<u16> =
        exposed().filter(|one| one.mode.has_client()).map(|one| one.port()).collect();
    let outbound: BTreeSet<u16> = outbound.into_iter().chain(node_ports(pod, placement)).collect();
    let nat = |hook: &str| json!({"type": "nat", "hook": hook, "prio": -100, "policy": "accept"});
    let foreign = json!({"match": {"op": "!=", "left": {"meta": {"key": "mark"}}, "right": MARK}});
    let hooks = [
        ("prerouting", "inbound", inbound, INBOUND, None),
        ("output", "outbound", outbound, OUTBOUND, Some(foreign)),
    ];
    let mut list = Vec::new();
    for table in families.iter().map(|family| Table(*family)) {
        list.push(table.make());
        for (hook, name, ports, to, more) in &hooks {
            let taken = [
                transport("tcp"),
                json!({
                    "match": {
                        "op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}},
                        "right": {"set": ports},
                    },
                }),
            ];
            let done = [json!({"counter": name}), json!({"redirect": {"port": to}})];
            list.push(table.add("counter", json!({"name": name})));
            list.push(table.chain(hook, nat(hook)));
            list.push(
                table.rule(hook, &taken.into_iter().chain(more.clone()).chain(done).collect()),
            );
        }
    }
    json!({"nftables": list})
}

/// Node ports that the clients in a pod use through its sidecar.
fn node_ports(pod: &PodId, placement: &Placement) -> BTreeSet<u16> {
    let paths = placement
        .paths
        .values()
        .filter(|endpoints| endpoints.path.mesh.has_client() && endpoints.clients.contains(pod));
    paths
        .filter(|endpoints| matches!(endpoints.path.via, Via::NodePort(_)))
        .filter_map(|endpoints| Some((endpoints, endpoints.service?)))
        .flat_map(|(endpoints, number)| {
            endpoints.asks.iter().map(move |ask| service::port(endpoints, number, ask.offer))
        })
        .collect()
}
