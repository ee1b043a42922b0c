//! The nftables rules of Services.
//!
//! ```text
//!   prerouting ┐                                         ┌► svc0-0-0: count, to the first backend
//!   output     ┴► services: this address and port? count ┴► svc0-0-1: count, to the second
//!   postrouting: marked? masquerade
//! ```
//! A chain for address translation sees the first packet of a connection only, so its counters
//! count connections.

use std::net::IpAddr;

use hopbench_model::{Affinity, IpFamily};
use serde_json::{Value, json};

use super::nft_json::{Table, nft_word, transport};
use super::service::{Front, Service};

/// The mark of connections whose source becomes a node's address.
const MASQUERADE: u32 = 0x4000;

/// Chains of backends in one batch: the kernel limits the size of a batch without real root.
const MOST_IN_BATCH: usize = 64;

/// The rules of these Services of a family for a node with this address, in batches to be set one
/// after another.
pub(crate) fn batches<'a>(
    services: impl Iterator<Item = &'a Service>,
    family: IpFamily,
    node: IpAddr,
) -> Vec<Value> {
    let mut batches = vec![frame(Table(family))];
    let mut filled = 0;
    for service in services {
        let more: usize = service.ports.iter().map(|port| port.backends.len()).sum();
        if filled > 0 && filled + more > MOST_IN_BATCH {
            batches.push(Vec::new());
            filled = 0;
        }
        filled += more;
        if let Some(batch) = batches.last_mut() {
            batch.extend(rules(Table(family), service, node));
        }
    }
    batches.into_iter().map(|list| json!({"nftables": list})).collect()
}

/// The table, and the chains that are there without any Service.
fn frame(table: Table) -> Vec<Value> {
    vec![
        table.make(),
        table.chain("services", json!({})),
        table.chain(
            "prerouting",
            json!({"type": "nat", "hook": "prerouting", "prio": -100, "policy": "accept"}),
        ),
        table.chain(
            "output",
            json!({"type": "nat", "hook": "output", "prio": -100, "policy": "accept"}),
        ),
        table.chain(
            "postrouting",
            json!({"type": "nat", "hook": "postrouting", "prio": 100, "policy": "accept"}),
        ),
        table.rule("prerouting", &json!([{"jump": {"target": "services"}}])),
        table.rule("output", &json!([{"jump": {"target": "services"}}])),
        table.rule(
            "postrouting",
            &json!([
                {"match": {"op": "==", "left": {"meta": {"key": "mark"}}, "right": MASQUERADE}},
                {"match": {"op": "!=", "left": {"meta": {"key": "oifname"}}, "right": "lo"}},
                {"masquerade": null}
            ]),
        ),
    ]
}

/// The rules of one Service.
fn rules(table: Table, service: &Service, node: IpAddr) -> Vec<Value> {
    let mut list = vec![table.add("counter", json!({"name": service.counter()}))];
    for (at, port) in service.ports.iter().enumerate() {
        let mut targets = Vec::new();
        for (number, backend) in port.backends.iter().enumerate() {
            let name = service.backend_counter(at, number);
            list.push(table.add("counter", json!({"name": name})));
            list.push(table.chain(&name, json!({})));
            let mut expressions = Vec::new();
            if service.masquerades {
                expressions.push(
                    json!({"mangle": {"key": {"meta": {"key": "mark"}}, "value": MASQUERADE}}),
                );
            }
            expressions.push(json!({"counter": name}));
            list.push(table.rule(&name, &Value::Array(expressions)));
            // A translation with a port needs to know which protocol has it.
            for (protocol, port) in [("tcp", backend.tcp.port()), ("udp", backend.udp_port)] {
                let to = json!({"dnat": {"addr": backend.tcp.ip().to_string(), "port": port}});
                list.push(table.rule(&name, &json!([transport(protocol), to])));
            }
            targets.push(json!([number, {"goto": {"target": name}}]));
        }
        if !targets.is_empty() {
            list.push(table.rule("services", &entry(service, port.port, node, &targets)));
        }
    }
    list
}

/// The rule that leads from a port of a Service to one of its backends. It is chosen at random, or
/// with affinity by the client's address, so that all its connections meet the same one.
fn entry(service: &Service, port: u16, node: IpAddr, targets: &[Value]) -> Value {
    let address = match service.front {
        Front::Address(address) => address,
        Front::Nodes => node,
    };
    let choice = match service.affinity {
        Affinity::None => json!({"numgen": {"mode": "random", "mod": targets.len(), "offset": 0}}),
        Affinity::ClientIp => {
            let client =
                json!({"payload": {"protocol": nft_word(service.family), "field": "saddr"}});
            json!({"jhash": {"mod": targets.len(), "expr": client}})
        }
    };
    json!([
        {
            "match": {
                "op": "==",
                "left": {"payload": {"protocol": nft_word(service.family), "field": "daddr"}},
                "right": address.to_string(),
            },
        },
        transports(),
        {
            "match": {
                "op": "==", "left": {"payload": {"protocol": "th", "field": "dport"}},
                "right": port,
            },
        },
        {"counter": service.counter()},
        {"vmap": {"key": choice, "data": {"set": targets}}}
    ])
}

/// TCP and UDP.
fn transports() -> Value {
    json!({
        "match": {
            "op": "==", "left": {"meta": {"key": "l4proto"}}, "right": {"set": ["tcp", "udp"]},
        },
    })
}
