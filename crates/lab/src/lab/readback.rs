//! The settings of a lab, read back: rates, MTUs, kinds of links, versions of programs.

use std::collections::BTreeMap;
use std::io;

use hopbench_model::LabSpec;
use hopbench_model::units::BitRate;
use hopbench_peer::peer;
use hopbench_testbed::placement::Placement;

use super::built::Built;
use super::named::Named;
use super::peers::version_fact;
use crate::network::stack::Stack;
use crate::processes::peers::version as version_of;
use crate::processes::servers::server;
use crate::processes::tools;
use crate::topology::kind::Reach;
use crate::topology::kinds::kind;

/// Facts about links, by name: what the kernel has, and what was asked for where that is something
/// else.
pub(crate) fn links(spec: &LabSpec, built: &mut Built) -> io::Result<BTreeMap<String, String>> {
    let mut facts = BTreeMap::new();
    let fabric = &mut built.fabric.stack;
    for node in &mut built.nodes {
        let (name, port) = (&node.spec.name, format!("n{}", node.number));
        let rates = [
            ("of the node", rate(&mut node.stack, "eth0")?),
            ("of the fabric", rate(fabric, &port)?),
        ];
        facts.insert(format!("node {name} link"), shaped(node.spec.link_bits_per_s, &rates));
        let nic = node.stack.netlink.look("eth0")?;
        facts.insert(format!("node {name} mtu_bytes"), differing(node.mtu, nic.mtu_bytes));
        let kind = nic.kind.as_deref().unwrap_or("no virtual link");
        let offloads = format!(
            "{kind}, GSO to {} bytes, GRO to {} bytes",
            nic.gso_max_bytes, nic.gro_max_bytes
        );
        facts.insert(format!("node {name} nic"), offloads);
    }
    for (zone, name) in
        built.fabric.zones.iter().enumerate().filter(|_| built.fabric.zones.len() > 1)
    {
        let rates = [
            ("up", rate(fabric, &format!("up{zone}"))?),
            ("down", rate(fabric, &format!("down{zone}"))?),
        ];
        facts.insert(format!("zone {name} link"), shaped(spec.zone_link_bits_per_s, &rates));
    }
    let pods: Vec<_> = built.pods.keys().filter(|id| !id.is_host()).cloned().collect();
    for id in pods {
        let of_node = spec
            .nodes
            .iter()
            .find(|node| node.name == id.place.node)
            .and_then(|node| node.link_bits_per_s);
        let Some(stack) = built.pod_stack(&id) else { continue };
        facts.insert(
            format!("pod {id} mtu_bytes"),
            stack.netlink.look("eth0")?.mtu_bytes.to_string(),
        );
        if kind(&id.place.network).is_some_and(|kind| kind.reach() == Reach::OwnNic) {
            let rates = [("of the pod", rate(stack, "eth0")?)];
            facts.insert(format!("pod {id} link"), shaped(of_node, &rates));
        }
    }
    Ok(facts)
}

fn rate(stack: &mut Stack, link: &str) -> io::Result<Option<u64>> {
    stack.netlink.rate(link)
}

/// `1Gbit`; `1Gbit asked for; of the node 999Mbit`. The kernel counts whole bytes a second.
fn shaped(asked: Option<u64>, found: &[(&str, Option<u64>)]) -> String {
    let text = |rate: Option<u64>| {
        rate.map_or_else(|| "not shaped".to_owned(), |rate| BitRate(rate).to_string())
    };
    let bytes = |rate: Option<u64>| rate.map(|rate| (rate / 8).max(1));
    let others = found.iter().filter(|(_, rate)| bytes(*rate) != bytes(asked));
    let others: Vec<String> = others.map(|(end, rate)| format!("{end} {}", text(*rate))).collect();
    if others.is_empty() {
        text(asked)
    } else {
        format!("{} asked for; {}", text(asked), others.join(", "))
    }
}

fn differing(asked: u32, found: u32) -> String {
    if asked == found { found.to_string() } else { format!("{asked} asked for; {found}") }
}

/// Versions of the programs that a plan uses besides agents and their runtimes.
pub(crate) fn programs(named: &Named, placement: &Placement) -> BTreeMap<String, String> {
    let mut used = BTreeMap::new();
    for spec in &named.programs {
        used.extend(
            server(&spec.program)
                .map(|server| (server.name(), (tools::find(server.name()), server.version()))),
        );
    }
    if !placement.services().is_empty() {
        used.insert("nft", (tools::find("nft"), "--version"));
    }
    if placement.is_proxied() {
        used.insert("envoy", (tools::envoy().ok().map(|envoy| envoy.path), "--version"));
    }
    let version = |(name, (program, argument)): (&str, (Option<std::path::PathBuf>, &str))| {
        let found = program.ok_or_else(|| io::Error::other("it is not there"));
        let value = match found.and_then(|program| tools::version(&program, argument)) {
            // Some say their name or their path first.
            Ok(line) => line
                .split_once("version:")
                .map_or(line.as_str(), |(_, told)| told)
                .trim()
                .to_owned(),
            Err(error) => format!("not known: {error}"),
        };
        (format!("{name} version"), value)
    };
    let peers = named.peers.iter().filter_map(|name| peer(name));
    let peers = peers.map(|tool| (version_fact(tool.name), version_of(tool)));
    used.into_iter().map(version).chain(peers).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_told_with_both_values() {
        let gbit = Some(1_000_000_000);
        assert_eq!(shaped(gbit, &[("up", gbit), ("down", gbit)]), "1Gbit");
        assert_eq!(shaped(None, &[("up", None)]), "not shaped");
        assert_eq!(
            shaped(gbit, &[("up", gbit), ("down", Some(500_000_000)), ("x", None)]),
            "1Gbit asked for; down 500Mbit, x not shaped"
        );
        // A byte a second is the kernel's unit.
        assert_eq!(
            shaped(Some(1_000_000_007), &[("up", gbit)]),
            BitRate(1_000_000_007).to_string()
        );
        assert_eq!(
            (differing(1500, 1500).as_str(), differing(9000, 1500).as_str()),
            ("1500", "9000 asked for; 1500")
        );
    }
}
