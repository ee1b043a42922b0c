//! What a sidecar takes over in its pod, as nftables rules.
//!
//! ```text
//!   prerouting: to an exposed port with the server's sidecar? count, to the sidecar's inbound port
//!   output: to a port with the client's sidecar, and not the sidecar's own? count, to its outbound port
//! ```
//! Datagrams and ICMP are never taken. In a pod with a sidecar the kernel tracks all connections, as in a cluster's
//! meshes: all modes of a pod pay for that alike.

use std::collections::BTreeSet;

use hopbench_mesh::{INBOUND, MARK, OUTBOUND, exposed};
use hopbench_model::Via;
use serde_json::{Value, json};

use crate::demand::Demand;
use crate::nft::{TABLE, add, chain, rule, transport};
use crate::pod::PodId;
use crate::service;

/// The rules of a pod with a sidecar.
pub(crate) fn rules(pod: &PodId, demand: &Demand) -> Value {
    let inbound: BTreeSet<u16> = exposed().filter(|one| one.mode.has_server()).map(|one| one.port()).collect();
    let outbound: BTreeSet<u16> = exposed().filter(|one| one.mode.has_client()).map(|one| one.port()).collect();
    let outbound: BTreeSet<u16> = outbound.into_iter().chain(node_ports(pod, demand)).collect();
    let nat = |hook: &str| json!({"type": "nat", "hook": hook, "prio": -100, "policy": "accept"});
    let foreign = json!({"match": {"op": "!=", "left": {"meta": {"key": "mark"}}, "right": MARK}});
    let mut list = vec![json!({"add": {"table": {"family": "ip", "name": TABLE}}})];
    for (hook, name, ports, to, more) in
        [("prerouting", "inbound", inbound, INBOUND, None), ("output", "outbound", outbound, OUTBOUND, Some(foreign))]
    {
        let taken = [
            transport("tcp"),
            json!({"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": {"set": ports}}}),
        ];
        let done = [json!({"counter": name}), json!({"redirect": {"port": to}})];
        list.push(add("counter", json!({"name": name})));
        list.push(chain(hook, nat(hook)));
        list.push(rule(hook, &taken.into_iter().chain(more).chain(done).collect()));
    }
    json!({"nftables": list})
}

/// Node ports that the clients in a pod use through its sidecar.
fn node_ports(pod: &PodId, demand: &Demand) -> BTreeSet<u16> {
    let casts = demand.paths.values().filter(|cast| cast.path.mesh.has_client() && cast.clients.contains(pod));
    let through = casts.filter(|cast| matches!(cast.path.via, Via::NodePort(_)));
    through
        .filter_map(|cast| Some((cast, cast.service?)))
        .flat_map(|(cast, number)| cast.offers.iter().map(move |offer| service::port(cast, number, *offer)))
        .collect()
}
