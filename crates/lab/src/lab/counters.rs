//! The reading of the counters that can prove a route.

use std::collections::BTreeMap;

use hopbench_model::Fault;
use hopbench_testbed::Counters;
use hopbench_testbed::placement::Endpoints;

use super::built::Built;
use crate::network::refused;
use crate::proof::counter_names::{of_backend, of_link, of_service};
use crate::services::nft_program;
use crate::services::service::Service;
use crate::topology::packet_path::{PacketPath, Side, tunnels};

/// Reads all counters of a path.
pub(crate) fn read(
    built: &mut Built,
    endpoints: &Endpoints,
    packet_path: &PacketPath,
) -> Result<Counters, Fault> {
    let tunnels = tunnels();
    let mut counters = Counters::new();
    for link in packet_path.links() {
        // A tunnel exists only where some path of the plan needs it.
        if tunnels.contains(link.name.as_str()) && !built.tunnels.contains(link.name.as_str()) {
            continue;
        }
        let failed = refused(format!("cannot read the counters of {link}"));
        let read = match built.stack_of(link) {
            Some(stack) => stack.netlink.counters(&link.name).map_err(failed)?,
            None => return Err(Fault::input(format!("{link} is not part of the lab"))),
        };
        for (side, unit, value) in [
            (Side::Receives, "bytes", read.rx_bytes),
            (Side::Receives, "packets", read.rx_packets),
            (Side::Sends, "bytes", read.tx_bytes),
            (Side::Sends, "packets", read.tx_packets),
        ] {
            counters.insert(of_link(link, side, unit), value);
        }
    }
    let Some(service) = built.services.get(&endpoints.path.name) else { return Ok(counters) };
    let name = service.node.as_str();
    let node =
        built.node(name).ok_or_else(|| Fault::input(format!("the lab has no node `{name}`")))?;
    let hits = nft_program::counters(&node.stack, service.family)
        .map_err(refused(format!("cannot read the Services' counters on {name}")))?;
    counters.extend(named(name, service, &hits));
    Ok(counters)
}

fn named(node: &str, service: &Service, hits: &BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let hit = |name: String, counter: String| hits.get(&counter).map(|count| (name, *count));
    let total = hit(of_service(node, service), service.counter());
    let backends = service.ports.iter().enumerate().flat_map(|(at, port)| {
        (0..port.backends.len()).filter_map(move |backend| {
            hit(of_backend(node, service, port.port, backend), service.backend_counter(at, backend))
        })
    });
    total.into_iter().chain(backends).collect()
}
