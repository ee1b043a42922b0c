//! The needs of a plan that this machine does not meet, and the cells that cannot be measured.

use std::cell::LazyCell;
use std::collections::BTreeSet;

use hopbench_model::{CpuSet, IpFamily, LabSpec, Path, Plan, Point, Via};
use hopbench_testbed::placement::{Endpoints, Placement, Rules};
use hopbench_testbed::{Need, refusals};

use super::{peers, subject};
use crate::doctor;
use crate::mesh::proxies;
use crate::network::families::family_of;
use crate::network::namespace::Namespace;
use crate::network::stack::kernel_has_ipv6;
use crate::processes::runtimes::{RUNTIMES, runtime};
use crate::processes::servers::{SERVERS, server};
use crate::processes::tools;
use crate::topology::addresses::{MOST_NODES, MOST_PODS, MOST_SERVICES};
use crate::topology::fabric::zones;
use crate::topology::kinds::{KINDS, kind};
use crate::topology::packet_path;

/// Everything that is missing; empty when the plan can run. `starts_nothing`: as far as that can be
/// said without starting a program that the plan names.
pub(crate) fn missing(spec: &LabSpec, plan: &Plan, starts_nothing: bool) -> Vec<Need> {
    let placement = Placement::of(plan, Rules::default());
    let mut needs = whole(spec, &placement);
    // Once, if any path needs it.
    let translates_ipv6 = LazyCell::new(doctor::translates_ipv6 as fn() -> bool);
    let too_small = too_small_for_ipv6(spec, &placement);
    for endpoints in placement.paths.values() {
        needs.extend(of_path(spec, endpoints, &translates_ipv6));
        needs.extend(of_subject(spec, endpoints, starts_nothing));
        let path = Some(&endpoints.path).filter(|path| family_of(path) == IpFamily::Ipv6);
        if let (Some(path), Some((why, remedy))) = (path, &too_small) {
            needs.push(Need::new(Some(path), "room for IPv6", why.clone(), remedy));
        }
    }
    needs
}

/// Needs of the lab as a whole.
fn whole(spec: &LabSpec, placement: &Placement) -> Vec<Need> {
    let mut needs = Vec::new();
    let mut too_many = |what: &str, count: usize, most: usize| {
        if count > most {
            needs.push(Need::new(
                None,
                &format!("fewer {what}"),
                format!("{count} {what}; a lab has at most {most}"),
                "use fewer",
            ));
        }
    };
    too_many("nodes", spec.nodes.len(), MOST_NODES);
    too_many("pods", placement.pods.len(), MOST_PODS as usize);
    too_many("Services", placement.services().len(), MOST_SERVICES);
    let mut names = BTreeSet::new();
    for twice in placement.pods.iter().filter(|pod| !names.insert(pod.to_string())) {
        let why = format!("two pods would be called `{twice}`");
        needs.push(Need::new(
            None,
            "another name",
            why,
            "rename the path or the variant that it is called after",
        ));
    }
    if let Err(why) = open_files(spec, placement) {
        needs.push(Need::new(None, "open files", why, "or use fewer pods"));
    }
    if spec.zone_delay_ns > 0 && zones(spec).len() > 1 {
        needs.extend(delay());
    }
    needs
}

/// Descriptors of a pod: its namespace and its netlink socket. Those of its agent are the control
/// session, its words and, for the conductor, the meters of its process.
const FILES_OF_A_POD: usize = 8;
/// Descriptors of a node: its namespace, its netlink socket, programs that set its rules.
const FILES_OF_A_NODE: usize = 8;
/// Descriptors of a proxy or a service: its process, its words twice, its namespace, its admin
/// endpoint, the meters of its process.
const FILES_OF_A_PROXY: usize = 6;
/// Descriptors of everything else.
const FILES: usize = 128;

/// Lets this process have as many files open as a lab and its agents need.
pub(crate) fn open_files(spec: &LabSpec, placement: &Placement) -> Result<(), String> {
    let (nodes, pods, proxies) =
        (spec.nodes.len(), placement.pods.len(), placement.mesh_processes().len());
    let wanted =
        (FILES + nodes * FILES_OF_A_NODE + pods * FILES_OF_A_POD + proxies * FILES_OF_A_PROXY)
            as u64;
    let of_mesh =
        if proxies == 0 { String::new() } else { format!(" and {proxies} proxies and services") };
    let what = format!("a lab of {nodes} nodes and {pods} pods{of_mesh} needs {wanted} open files");
    match hopbench_sys::limits::raise_open_files(wanted) {
        Ok(limit) if limit >= wanted => Ok(()),
        Ok(limit) => Err(format!(
            "{what}; the limit is {limit}: raise the hard limit (`ulimit -Hn`, LimitNOFILE=)"
        )),
        Err(error) => Err(format!("{what}; the limit cannot be read: {error}")),
    }
}

/// The smallest MTU of a link with IPv6, bytes (RFC 8200, section 5).
const LEAST_IPV6_MTU: u32 = 1280;

/// Why the links of a lab are too small for IPv6, and what helps. With one IPv6 path all interfaces
/// have addresses of IPv6.
fn too_small_for_ipv6(spec: &LabSpec, placement: &Placement) -> Option<(String, String)> {
    let networks = placement.pods.iter().filter_map(|pod| kind(&pod.place.network));
    let header_bytes = networks.map(|kind| kind.header_bytes()).max().unwrap_or_default();
    let least = LEAST_IPV6_MTU + header_bytes;
    let set = spec.nodes.iter().filter_map(|node| node.settings.mtu);
    let mtu = set.chain([spec.mtu]).min().unwrap_or(spec.mtu);
    let why = format!("an MTU of {mtu} bytes, of which tunnels take {header_bytes}");
    let remedy = format!("`mtu: {least}` or more, or leave `family` out");
    (mtu < least).then_some((why, remedy))
}

/// Delay is tried, where namespaces can be had at all: outside the lab's sandbox an ordinary user
/// cannot tell.
fn delay() -> Option<Need> {
    Namespace::create("probe").ok()?;
    let check = doctor::CHECKS.iter().find(|check| check.name == "netem")?;
    let finding = (check.run)();
    match finding.state {
        doctor::State::Missing => Some(Need::new(
            None,
            "netem",
            format!("`zone-delay`: {}", finding.found),
            &finding.remedy,
        )),
        _ => None,
    }
}

fn of_path(spec: &LabSpec, endpoints: &Endpoints, translates_ipv6: &LazyCell<bool>) -> Vec<Need> {
    let path = &endpoints.path;
    let mut needs = Vec::new();
    let mut add = |what: &str, why: String, remedy: &str| {
        needs.push(Need::new(Some(path), what, why, remedy));
    };
    if matches!(path.via, Via::LoadBalancer | Via::Address(_)) {
        let why = format!(
            "`via {}`: a lab has neither load balancers nor anything outside of it",
            path.via
        );
        add(
            Need::IMPOSSIBLE,
            why,
            "run this path on a cluster (`--testbed kubernetes`), or leave it out",
        );
    }
    for node in path.nodes() {
        if !spec.nodes.iter().any(|known| known.name == node) {
            add(
                &format!("node {node}"),
                "the lab has no such node".to_owned(),
                "name it under `nodes:`",
            );
        }
    }
    for place in [&path.from, &path.to] {
        if kind(&place.network).is_none() {
            let known: Vec<_> = KINDS.iter().map(|kind| kind.name()).collect();
            let why = format!("the lab has no network kind `{}`", place.network);
            add(
                &format!("network {}", place.network),
                why,
                &format!("one of {}", known.join(", ")),
            );
        }
    }
    // Once a path, also where both its ends are in it.
    for name in [&path.from, &path.to]
        .into_iter()
        .filter_map(|place| place.runtime.as_deref())
        .collect::<BTreeSet<_>>()
    {
        match runtime(name) {
            Some(runtime) if runtime.find().is_some() => {}
            Some(runtime) => add(name, looked(name), runtime.remedy()),
            None => {
                let known: Vec<_> = RUNTIMES.iter().map(|runtime| runtime.name()).collect();
                add(
                    name,
                    format!("the lab has no runtime `{name}`"),
                    &format!("{}, or none", known.join(", ")),
                );
            }
        }
    }
    for place in [&path.from, &path.to].into_iter().filter(|place| place.network == "host") {
        if let Some(name) = &place.runtime {
            add(
                "a pod",
                format!("{place}: {name} would take the node's own network over"),
                "leave the runtime out",
            );
        }
    }
    let has_service = path.has_service();
    if (has_service || !path.mesh.is_none()) && tools::find("nft").is_none() {
        let what = if has_service { "Services are" } else { "what brings traffic to sidecars is" };
        add(
            "nft",
            format!("{what} nftables rules; {}", looked("nft")),
            "install nftables (`apt-get install nftables`)",
        );
    }
    needs.extend(of_mesh(endpoints));
    let mut add = |what: &str, why: String, remedy: &str| {
        needs.push(Need::new(Some(path), what, why, remedy));
    };
    if family_of(path) == IpFamily::Ipv6 && !kernel_has_ipv6() {
        let why = "this kernel has no IPv6 (no /proc/sys/net/ipv6)".to_owned();
        add("IPv6", why, "start it without `ipv6.disable=1`, or leave `family` out");
    } else if family_of(path) == IpFamily::Ipv6
        && (has_service || !path.mesh.is_none())
        && !**translates_ipv6
    {
        let why =
            "this kernel does not translate addresses of IPv6 (nftables, table ip6)".to_owned();
        add("NAT of IPv6", why, "`modprobe nft_chain_nat nft_nat`, or leave `family` out");
    }
    if let Some((why, remedy)) = packet_path::impossible(endpoints) {
        add(Need::IMPOSSIBLE, why, remedy);
    }
    needs
}

/// The needs of what a subject changes.
fn of_subject(spec: &LabSpec, endpoints: &Endpoints, starts_nothing: bool) -> Vec<Need> {
    let path = &endpoints.path;
    let mut needs = Vec::new();
    for node in &spec.nodes {
        if !path.nodes().any(|name| name == node.name) {
            continue;
        }
        if let Some(pod) = subject::out_of_reach(endpoints, &node.settings) {
            let why = format!("pod {pod} has a network stack of its own, in its runtime");
            needs.push(Need::new(
                Some(path),
                "a stack that sysctl and offloads reach",
                why,
                "leave the runtime out, or the subject's sysctl and offloads",
            ));
            break;
        }
        let named = node.settings.envoy.as_deref().filter(|_| path.is_proxied());
        if let Some(absent) = named.and_then(|named| tools::lacking_envoy(named, starts_nothing)) {
            needs.push(Need::new(Some(path), "the subject's envoy", absent.why, absent.remedy));
            break;
        }
    }
    needs
}

/// The needs of the proxies of a path.
fn of_mesh(endpoints: &Endpoints) -> Vec<Need> {
    let path = &endpoints.path;
    if !path.is_proxied() {
        return Vec::new();
    }
    let mut needs: Vec<Need> = proxies::missing()
        .map(|(why, remedy)| Need::new(Some(path), "envoy", why, &remedy))
        .into_iter()
        .chain(refusals::lacks_variant(path))
        .chain(refusals::annotates_in_vain(path))
        .collect();
    let mut impossible = |why: String, remedy: &str| {
        needs.push(Need::new(Some(path), Need::IMPOSSIBLE, why, remedy));
    };
    for place in endpoints.sidecar_places() {
        if place.network == "host" {
            let why = format!(
                "{place}: a sidecar takes over what its pod sends and gets, and would do so for \
                 the node"
            );
            impossible(why, "place this end in a pod, or leave `mesh` out");
        }
        if let Some(name) = &place.runtime {
            let why = format!(
                "{place}: {name} takes packets past the rules that bring them to a sidecar"
            );
            impossible(why, "leave the runtime or `mesh` out");
        }
    }
    if matches!(path.via, Via::Gateway(_)) && path.to.network == "host" {
        let why = "a gateway is a pod of its servers' network kind, and `host` has none".to_owned();
        impossible(why, "place the servers in pods");
    }
    needs.extend(refusals::has_sidecar_before_gateway(path));
    needs
}

/// Why a server program cannot answer, and what to do about it.
fn lacking(program: &str) -> Option<String> {
    let Some(server) = server(program) else {
        let known: Vec<_> = SERVERS.iter().map(|server| server.name()).collect();
        return Some(format!(
            "the lab has no server program `{program}`; one of {}",
            known.join(", ")
        ));
    };
    match tools::find(program) {
        Some(_) => None,
        None => Some(format!("{program} is missing: {}; {}", looked(program), server.remedy())),
    }
}

/// CPUs that a job names and that an agent cannot be held to.
fn unheld(path: &Path, point: &Point) -> Option<String> {
    let ends = [
        ("client", &point.job.client_cpus, &path.from),
        ("server", &point.job.server_cpus, &path.to),
    ];
    let allowed = hopbench_sys::cpu::allowed().ok()?;
    ends.into_iter().find_map(|(end, asked, place)| {
        let asked = asked.as_ref()?;
        if let Some(runtime) = &place.runtime {
            return Some(format!(
                "`cpu` holds no {end} in {runtime}, whose CPUs are not the machine's ({place})"
            ));
        }
        let absent: Vec<usize> =
            asked.0.iter().copied().filter(|cpu| !allowed.contains(cpu)).collect();
        let list = |cpus: Vec<usize>| CpuSet(cpus).to_string();
        if absent.is_empty() {
            return None;
        }
        let (absent, allowed) = (list(absent), list(allowed.clone()));
        Some(format!("CPU {absent} of the {end}: this process may use {allowed}; change `cpu`"))
    })
}

fn looked(program: &str) -> String {
    format!("no program `{program}` in PATH or the folders of system programs")
}

/// Why a cell cannot be measured although its path can be built.
pub(crate) fn unsupported(path: &Path, point: &Point) -> Option<String> {
    if let Some(why) = refusals::unsupported(path, point) {
        return Some(why);
    }
    if let Some(why) = peers::unsupported(path, point) {
        return Some(why);
    }
    if path.to.runtime.is_some() && !point.server.is_agent() {
        return Some(format!(
            "the lab starts {} outside of runtimes only ({})",
            point.server.program, path.to
        ));
    }
    if !point.server.is_agent()
        && let Some(why) = lacking(&point.server.program)
    {
        return Some(why);
    }
    let runtimes =
        [&path.from, &path.to].into_iter().filter_map(|place| runtime(place.runtime.as_deref()?));
    runtimes
        .into_iter()
        .find_map(|runtime| runtime.unsupported(point))
        .or_else(|| unheld(path, point))
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Gateways, fixture};

    use super::*;

    fn cell(
        program: &str,
        cpus: (Option<usize>, Option<usize>),
        runtime: Option<&str>,
    ) -> (Path, Point) {
        let mut path = Path {
            from: fixture::place("bridge", "a"),
            to: fixture::place("bridge", "a"),
            ..fixture::path("p")
        };
        path.to.runtime = runtime.map(str::to_owned);
        let set = |cpu: Option<usize>| cpu.map(|cpu| CpuSet(vec![cpu]));
        let mut job = fixture::job("http", serde_json::Value::Null);
        (job.client_cpus, job.server_cpus) = (set(cpus.0), set(cpus.1));
        let mut point = fixture::point("w", job);
        point.server.program = program.to_owned();
        (path, point)
    }

    fn why(program: &str, cpus: (Option<usize>, Option<usize>), runtime: Option<&str>) -> String {
        let (path, point) = cell(program, cpus, runtime);
        unsupported(&path, &point).unwrap_or_default()
    }

    #[test]
    fn sets_of_nodes_with_one_in_common_are_told_as_they_were_written() {
        let told = |gateways: &[&str]| {
            let mut path = Path {
                from: fixture::place("bridge", "a"),
                to: fixture::place("bridge", "b"),
                via: Via::Gateway(gateways[0].to_owned()),
                backends: 2,
                ..fixture::path("p")
            };
            path.to.more_nodes = vec!["c".to_owned()];
            let more_nodes = gateways[1..].iter().map(|node| (*node).to_owned()).collect();
            path.gateways = Some(Gateways { count: gateways.len() as u32, more_nodes });
            let point = fixture::point("w", fixture::job("rr", serde_json::Value::Null));
            let spec = fixture::lab(&["a", "b", "c", "d", "e"]);
            let needs = missing(&spec, &fixture::plan(vec![path], vec![point]), false);
            let need = needs.into_iter().find(|need| need.what == Need::IMPOSSIBLE);
            need.map(|need| (need.why, need.remedy))
        };
        let why = "a lab knows the way of traffic between sets of nodes that have no node in \
                   common: found gateway@[c, d] and bridge@[b, c]";
        let remedy = "take other nodes for one of the two";
        assert_eq!(told(&["c", "d"]), Some((why.to_owned(), remedy.to_owned())));
        assert_eq!(told(&["d", "e"]), None);
    }

    #[test]
    fn ipv6_needs_room_for_its_packets() {
        let path = |name: &str, kind: &str, family| Path {
            from: fixture::place(kind, "a"),
            to: fixture::place(kind, "b"),
            family,
            ..fixture::path(name)
        };
        let told = |mtu: u32, kind: &str| -> Vec<String> {
            let spec = LabSpec { mtu, ..fixture::lab(&["a", "b"]) };
            let paths = vec![path("four", kind, None), path("six", "bridge", Some(IpFamily::Ipv6))];
            let job = fixture::job("rr", serde_json::Value::Null);
            let plan = fixture::plan(paths, vec![fixture::point("w", job)]);
            let needs = missing(&spec, &plan, false).into_iter();
            let needs = needs.filter(|need| need.what == "room for IPv6");
            needs
                .map(|need| format!("{}: {}", need.path.unwrap_or_default(), need.remedy))
                .collect()
        };
        assert!(told(1280, "bridge").is_empty());
        // All interfaces get addresses, also those of tunnels.
        let remedy = "six: `mtu: 1330` or more, or leave `family` out";
        assert_eq!(told(1300, "overlay"), [remedy]);
        assert!(told(1330, "overlay").is_empty());
    }

    #[test]
    fn a_server_program_that_is_not_there_concerns_its_cells_only() {
        assert_eq!(why("hopbench", (None, None), None), "");
        assert_eq!(
            why("ngnix", (None, None), None),
            "the lab has no server program `ngnix`; one of nginx"
        );
        assert_eq!(lacking("nginx").is_some(), tools::find("nginx").is_none());
    }

    #[test]
    fn cpus_that_nobody_can_be_held_to_are_told() {
        let cpu = hopbench_sys::cpu::allowed().unwrap()[0];
        assert_eq!(why("hopbench", (Some(cpu), Some(cpu)), None), "");
        let told = why("hopbench", (Some(cpu), Some(8000)), None);
        assert!(
            told.starts_with("CPU 8000 of the server: this process may use ")
                && told.contains("change"),
            "{told}"
        );
        assert!(why("hopbench", (Some(8000), None), None).starts_with("CPU 8000 of the client"));
        let told = why("hopbench", (Some(cpu), Some(cpu)), Some("runsc"));
        assert!(told.contains("no server in runsc") && told.contains("bridge+runsc@a"), "{told}");
    }
}
