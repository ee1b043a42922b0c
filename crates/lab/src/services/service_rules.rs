//! Services as nftables rules, in the JSON that the `nft` program reads and writes.
//!
//! ```text
//!   prerouting ┐                                            ┌─► svc0-0-0: count, to the first backend
//!   output     ┴─► services: this address and port? count ──┴─► svc0-0-1: count, to the second
//!   postrouting: marked? masquerade
//! ```
//! A chain for address translation sees the first packet of a connection only, so its counters count connections.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use serde_json::{Value, json};

use crate::service::{Front, Service};

/// The table that holds all rules of the lab on a node.
pub(crate) const TABLE: &str = "hopbench";
/// The mark of connections whose source is to be a node's.
const MASQUERADE: u32 = 0x4000;

/// Chains of backends that are set up in one go: the kernel takes a batch of limited size from who is not really root.
const MOST_IN_BATCH: usize = 64;

/// The rules of these Services for a node with this address, in batches: one after the other.
pub(crate) fn batches<'a>(services: impl Iterator<Item = &'a Service>, node: Ipv4Addr) -> Vec<Value> {
    let mut batches = vec![frame()];
    let mut filled = 0;
    for service in services {
        let more: usize = service.ports.iter().map(|port| port.backends.len()).sum();
        if filled > 0 && filled + more > MOST_IN_BATCH {
            batches.push(Vec::new());
            filled = 0;
        }
        filled += more;
        if let Some(batch) = batches.last_mut() {
            batch.extend(rules(service, node));
        }
    }
    batches.into_iter().map(|list| json!({"nftables": list})).collect()
}

/// The table and what is there without any Service.
fn frame() -> Vec<Value> {
    vec![
        json!({"add": {"table": {"family": "ip", "name": TABLE}}}),
        chain("services", json!({})),
        chain("prerouting", json!({"type": "nat", "hook": "prerouting", "prio": -100, "policy": "accept"})),
        chain("output", json!({"type": "nat", "hook": "output", "prio": -100, "policy": "accept"})),
        chain("postrouting", json!({"type": "nat", "hook": "postrouting", "prio": 100, "policy": "accept"})),
        rule("prerouting", &json!([{"jump": {"target": "services"}}])),
        rule("output", &json!([{"jump": {"target": "services"}}])),
        rule(
            "postrouting",
            &json!([
                {"match": {"op": "==", "left": {"meta": {"key": "mark"}}, "right": MASQUERADE}},
                {"match": {"op": "!=", "left": {"meta": {"key": "oifname"}}, "right": "lo"}},
                {"masquerade": null}
            ]),
        ),
    ]
}

/// What a Service adds.
fn rules(service: &Service, node: Ipv4Addr) -> Vec<Value> {
    let mut list = vec![add("counter", json!({"name": service.counter()}))];
    for (at, port) in service.ports.iter().enumerate() {
        let mut targets = Vec::new();
        for (number, backend) in port.backends.iter().enumerate() {
            let name = service.backend_counter(at, number);
            list.push(add("counter", json!({"name": name})));
            list.push(chain(&name, json!({})));
            let mut expressions = Vec::new();
            if service.masquerades {
                expressions.push(json!({"mangle": {"key": {"meta": {"key": "mark"}}, "value": MASQUERADE}}));
            }
            expressions.push(json!({"counter": name}));
            list.push(rule(&name, &Value::Array(expressions)));
            // A translation with a port needs to know which protocol has it.
            for (protocol, port) in [("tcp", backend.tcp.port()), ("udp", backend.udp_port)] {
                let to = json!({"dnat": {"addr": backend.tcp.ip().to_string(), "port": port}});
                list.push(rule(&name, &json!([transport(protocol), to])));
            }
            targets.push(json!([number, {"goto": {"target": name}}]));
        }
        if !targets.is_empty() {
            list.push(rule("services", &entry(service, port.port, node, &targets)));
        }
    }
    list
}

/// Whoever comes to a port of a Service goes on to one of its backends, by chance.
fn entry(service: &Service, port: u16, node: Ipv4Addr, targets: &[Value]) -> Value {
    let address = match service.front {
        Front::Address(address) => address,
        Front::Nodes => node,
    };
    let chance = json!({"numgen": {"mode": "random", "mod": targets.len(), "offset": 0}});
    json!([
        {"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "daddr"}}, "right": address.to_string()}},
        transports(),
        {"match": {"op": "==", "left": {"payload": {"protocol": "th", "field": "dport"}}, "right": port}},
        {"counter": service.counter()},
        {"vmap": {"key": chance, "data": {"set": targets}}}
    ])
}

/// TCP and UDP.
fn transports() -> Value {
    json!({"match": {"op": "==", "left": {"meta": {"key": "l4proto"}}, "right": {"set": ["tcp", "udp"]}}})
}

/// One of them.
pub(crate) fn transport(protocol: &str) -> Value {
    json!({"match": {"op": "==", "left": {"meta": {"key": "l4proto"}}, "right": protocol}})
}

pub(crate) fn add(object: &str, mut properties: Value) -> Value {
    properties["family"] = "ip".into();
    properties["table"] = TABLE.into();
    json!({"add": {object: properties}})
}

pub(crate) fn chain(name: &str, mut properties: Value) -> Value {
    properties["name"] = name.into();
    add("chain", properties)
}

pub(crate) fn rule(chain: &str, expressions: &Value) -> Value {
    add("rule", json!({"chain": chain, "expr": expressions}))
}

/// Packets by counter, from what `nft -j list counters` printed; a connection is one packet here.
pub(crate) fn packets(listing: &[u8]) -> Result<BTreeMap<String, u64>, String> {
    let listing: Value = serde_json::from_slice(listing).map_err(|e| format!("nft printed no JSON: {e}"))?;
    let objects = listing["nftables"].as_array().ok_or("nft printed no list `nftables`")?;
    let counters = objects.iter().filter_map(|object| object.get("counter"));
    counters
        .map(|counter| {
            let name = counter["name"].as_str().ok_or("nft printed a counter without a name")?;
            let packets = counter["packets"].as_u64().ok_or("nft printed a counter without packets")?;
            Ok((name.to_owned(), packets))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_from_what_nft_prints() {
        let listing = br#"{"nftables": [{"metainfo": {"version": "1.0.6"}},
            {"counter": {"family": "ip", "name": "svc0", "table": "hopbench", "handle": 1, "packets": 7, "bytes": 420}}]}"#;
        assert_eq!(packets(listing), Ok(BTreeMap::from([("svc0".to_owned(), 7)])));
        assert!(packets(b"Error: No such file").is_err());
        assert!(packets(br#"{"nftables": [{"counter": {"name": "x"}}]}"#).is_err());
    }
}
