//! Proofs from counters of links and Services.

use std::collections::BTreeSet;

use hopbench_model::{Proof, proxy_role};
use hopbench_testbed::of_proxy;

use super::counter_names::{of_backend, of_link, of_service};
use super::facts::WayFacts;
use super::growth::Grown;
use super::trial_traffic::TrialTraffic;
use crate::services::service::translator;
use crate::topology::packet_path::{Link, PacketPath, Side, Stage, tunnels};

/// A link beside the way may carry this much all the same, bytes: address resolution, and the end
/// of the trial before. The least after a trial that moved next to nothing, and the most after any.
const STILL_BYTES: (u64, u64) = (2048, 8192);

/// Whether every connection was translated.
pub(super) fn translated(
    way: &WayFacts<'_>,
    grown: &Grown<'_>,
    traffic: TrialTraffic,
    bypassed: bool,
) -> Option<Proof> {
    let node = translator(way.endpoints)?;
    let hop = format!("dnat on {node}");
    let Some(service) = way.service else {
        return Some(Proof {
            hop,
            evidence: "the path's Service was never built".to_owned(),
            ok: false,
        });
    };
    let Some(total) = grown.by(&of_service(node, service)) else {
        return Some(Proof {
            hop,
            evidence: "the Service has no counter on this node".to_owned(),
            ok: false,
        });
    };
    let hits = |backend: usize| -> u64 {
        service
            .ports
            .iter()
            .filter_map(|port| grown.by(&of_backend(node, service, port.port, backend)))
            .sum()
    };
    let backends = service.ports[0].backends.len();
    let each: Vec<String> = (0..backends).map(|backend| hits(backend).to_string()).collect();
    let sum: u64 = (0..backends).map(hits).sum();
    let parts = each.join(" + ");
    let sidecars =
        || way.proxies.iter().filter(|proxy| proxy_role(&proxy.name) == "client-sidecar");
    if way.endpoints.path.mesh.has_client() && !bypassed {
        let made: Option<u64> =
            sidecars().map(|proxy| grown.by(&of_proxy(&proxy.name, "upstream_connections"))).sum();
        let (evidence, ok) = match made {
            _ if way.endpoints.is_routed_by_sidecar() => (
                format!("{total} connections translated: the client's sidecar chose the endpoint"),
                total == 0,
            ),
            // A late packet of a connection that the kernel has forgotten counts as one more.
            Some(made) => {
                let text = format!(
                    "{total} connections translated ({parts} to the backends), the sidecars made \
                     {made}"
                );
                (text, total >= made && sum == total)
            }
            None => ("the client's sidecar has no counters".to_owned(), false),
        };
        return Some(Proof { hop, evidence, ok });
    }
    let evidence = format!(
        "{total} connections translated ({parts} to the backends), {} were opened",
        traffic.connections
    );
    Some(Proof { hop, evidence, ok: total >= traffic.connections && sum == total })
}

/// Whether every link of the way carried the traffic, one proof for each group of links.
pub(super) fn carried(
    packet_path: &PacketPath,
    grown: &Grown<'_>,
    traffic: TrialTraffic,
) -> Vec<Proof> {
    let mut groups: Vec<(&[Link], Vec<&Stage>)> = Vec::new();
    for stage in &packet_path.stages {
        match groups.iter_mut().find(|(links, _)| *links == stage.links) {
            Some((_, stages)) => stages.push(stage),
            None => groups.push((&stage.links, vec![stage])),
        }
    }
    let proof = |(links, stages): &(&[Link], Vec<&Stage>)| {
        let seen: Vec<(String, bool)> =
            stages.iter().map(|stage| crossed(stage, stages, grown, traffic)).collect();
        let hop = match links {
            [link] => link.to_string(),
            [link, ..] => format!("{} links like {link}", links.len()),
            [] => String::new(),
        };
        let ok = seen.iter().all(|(_, ok)| *ok);
        let evidence = seen
            .into_iter()
            .map(|(text, _)| text)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>();
        Proof { hop, evidence: evidence.join("; "), ok }
    };
    groups.iter().map(proof).collect()
}

/// Whether links carried what a stage asks for. A link that several stages use on the same side,
/// like the NIC of a node that forwards, must have carried the sum.
fn crossed(
    stage: &Stage,
    all: &[&Stage],
    grown: &Grown<'_>,
    traffic: TrialTraffic,
) -> (String, bool) {
    let same: Vec<_> = all.iter().filter(|other| other.side == stage.side).collect();
    let payload: u64 = same.iter().map(|other| traffic.bytes(other.way)).sum();
    let least: u64 = same.iter().map(|other| traffic.packets(other.way)).sum();
    let sum = |unit| {
        stage
            .links
            .iter()
            .map(|link| grown.by(&of_link(link, stage.side, unit)))
            .sum::<Option<u64>>()
    };
    let verb = match stage.side {
        Side::Receives => "received",
        Side::Sends => "sent",
    };
    match (sum("bytes"), sum("packets")) {
        (Some(bytes), Some(packets)) => (
            format!("{verb} {bytes} bytes in {packets} packets (at least {payload} in {least})"),
            bytes >= payload && packets >= least,
        ),
        _ => (format!("{verb}: no counter"), false),
    }
}

/// Whether the tunnels and NICs beside the way stayed still.
pub(super) fn still(
    way: &WayFacts<'_>,
    grown: &Grown<'_>,
    traffic: TrialTraffic,
    bypassed: bool,
) -> Proof {
    let (packet_path, built) = (&way.packet_path, way.tunnels);
    // Half of the smaller part that moved: a way that was taken in one direction only shows, too.
    let moved = [traffic.out_bytes, traffic.back_bytes]
        .into_iter()
        .filter(|bytes| *bytes > 0)
        .min()
        .unwrap_or(0);
    let allowed = (moved / 2).clamp(STILL_BYTES.0, STILL_BYTES.1);
    let tunnels = tunnels();
    let there =
        |link: &Link| !tunnels.contains(link.name.as_str()) || built.contains(link.name.as_str());
    let quiet =
        |way: &&(Link, Side)| there(&way.0) && (bypassed || !packet_path.called.contains(*way));
    let seen = packet_path.still.iter().filter(quiet).map(|(link, side)| {
        let counter = of_link(link, *side, "bytes");
        let name = counter.trim_end_matches("_bytes");
        match grown.by(&counter) {
            Some(bytes) => (format!("{name} {bytes} bytes"), bytes <= allowed),
            None => (format!("{name} has no counter"), false),
        }
    });
    let seen: Vec<(String, bool)> = seen.collect();
    let loud: Vec<&str> =
        seen.iter().filter(|(_, ok)| !ok).map(|(text, _)| text.as_str()).collect();
    let evidence = match (loud.is_empty(), seen.is_empty()) {
        (true, true) => "there is no tunnel or NIC beside it".to_owned(),
        (true, false) => seen.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>().join(", "),
        (false, _) => format!("the traffic must not be there: {}", loud.join(", ")),
    };
    Proof { hop: "no other way".to_owned(), evidence, ok: loud.is_empty() }
}
