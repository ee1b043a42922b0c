//! The needs of a plan that the cluster does not meet, and the cells that cannot be measured.

mod closed;
mod family;

use std::collections::BTreeSet;

use hopbench_model::{ClusterSpec, EngineKind, Job, MeshProvider, Path, Place, Plan, Point, Via};
use hopbench_testbed::placement::{AGENT_PORT, Endpoints, Placement, PodId};
use hopbench_testbed::{Need, refusals};
use serde_json::Value;

pub(crate) use self::closed::Closed;
use crate::api::access::Access;
use crate::api::labels::RunIdentity;
use crate::api::rights::{self, Right};
use crate::mesh;
use crate::objects::blueprint::{self, Ground};
use crate::plan::assign::Assigned;
use crate::plan::attachment::{Attachment, runtime_class};
use crate::plan::discovery::Discovery;
use crate::plan::gateways::{self, Demand, Routing};
use crate::plan::peers;
use crate::plan::placement::placement;
use crate::plan::traffic::Traffic;
use crate::provision::objects;

/// Whether only some scenarios need a right to a resource.
pub(crate) fn is_optional(resource: &str) -> bool {
    resource == NETWORK_POLICIES || OF_PATHS.contains(&resource)
}

const NETWORK_POLICIES: &str = "networkpolicies";
/// Those of them that only some paths need.
const OF_PATHS: [&str; 8] = [
    SECRETS,
    EXEC,
    GATEWAYS,
    Traffic::Http.resource(),
    Traffic::Grpc.resource(),
    Traffic::Tls.resource(),
    Traffic::Tcp.resource(),
    INGRESSES,
];
pub(super) const EXEC: &str = "pods/exec";
const SECRETS: &str = "secrets";
const GATEWAYS: &str = "gateways";
const INGRESSES: &str = "ingresses";

/// Everything that is missing; empty when the plan can run.
pub(crate) fn missing(
    spec: &ClusterSpec,
    placement: &Placement,
    discovery: &Discovery,
    assigned: &Assigned,
) -> Vec<Need> {
    let mut needs: Vec<Need> = placement
        .paths
        .values()
        .flat_map(|ends| of_path(spec, ends, discovery, assigned))
        .collect();
    if needs.is_empty()
        && let Err(fault) = patched(spec, placement, assigned)
    {
        needs.push(Need::new(
            None,
            "a patch that fits",
            fault.text,
            "mend it under `testbed: kubernetes:`",
        ));
    }
    needs
}

/// What is wrong with the paths wherever the cluster is, and whether it is there or not.
pub(crate) fn without_cluster(spec: &ClusterSpec, plan: &Plan) -> Vec<Need> {
    placement(plan).paths.values().flat_map(|ends| of_scenario(spec, ends)).collect()
}

/// Needs for the rights that this user lacks. Rights for everything stop the whole testbed; others
/// stop the paths that use them.
pub(crate) fn of_rights(
    spec: &ClusterSpec,
    placement: &Placement,
    discovery: &Discovery,
    demand: &Demand,
    lacking: &[(&'static Right, &'static str)],
) -> Vec<Need> {
    let need = |path: Option<&Path>, used: &dyn Fn(&Right) -> bool| {
        let used: Vec<_> = lacking.iter().filter(|(right, _)| used(right)).collect();
        let (first, _) = used.first()?;
        let rights: Vec<String> =
            used.iter().map(|(right, verb)| format!("{verb} {}", right.resource)).collect();
        let only_for = if first.only_for.is_empty() {
            String::new()
        } else {
            format!(" (for {})", first.only_for)
        };
        let why = format!("this user may not {}{only_for}", rights.join(", "));
        Some(Need::new(
            path,
            "a right",
            why,
            "`hopbench kube manifests` prints the rights that hopbench uses",
        ))
    };
    let mut needs: Vec<Need> = need(None, &|right| right.only_for.is_empty()).into_iter().collect();
    // It is made for the whole run.
    let isolated = |right: &Right| spec.network_policy && right.resource == NETWORK_POLICIES;
    needs.extend(need(None, &isolated));
    for ends in placement.paths.values() {
        let sent = demand.get(&ends.path.name);
        let sends = |resource: &str| {
            sent.into_iter().flatten().any(|traffic| traffic.resource() == resource)
        };
        for resource in OF_PATHS {
            let of_path = |right: &Right| {
                right.resource == resource && uses(spec, ends, discovery, right, &sends)
            };
            needs.extend(need(Some(&ends.path), &of_path));
        }
    }
    needs
}

/// Needs of the paths through proxies on the nodes: that there are some, and that the run may make
/// what leads to them.
pub(crate) fn of_node_mesh(
    access: &Access,
    spec: &ClusterSpec,
    placement: &Placement,
    namespace: Option<&str>,
) -> Vec<Need> {
    if placement.sidecars.is_empty() {
        return Vec::new();
    }
    let policy = mesh::objects(spec, placement)
        .iter()
        .find_map(|policy| objects::scenario::lacking(access, namespace, policy));
    let policy = policy.map(|why| (why, "let this user create it, or leave `mesh` out"));
    let lacking = mesh::on_nodes::lacking(access, spec.mesh.provider).or(policy);
    let Some((why, remedy)) = lacking else { return Vec::new() };
    let meshed = placement.paths.values().filter(|ends| !ends.path.mesh.is_none());
    meshed.map(|ends| Need::new(Some(&ends.path), "a mesh", why.clone(), remedy)).collect()
}

/// Whether a path needs this right, which only some paths need. `sends`: whether routes of a kind
/// lead its traffic.
fn uses(
    spec: &ClusterSpec,
    ends: &Endpoints,
    discovery: &Discovery,
    right: &Right,
    sends: &dyn Fn(&str) -> bool,
) -> bool {
    let has_own_kernel = |pod: &PodId| {
        let attachment = Attachment::of(spec, &pod.place).ok();
        attachment
            .and_then(|attachment| attachment.runtime_class)
            .is_some_and(|class| discovery.is_sandbox(&class))
    };
    let routing = gateways::of_path(spec, &ends.path);
    match right.resource {
        _ if right.only_for.is_empty() => false,
        SECRETS => {
            let ours = spec.mesh.provider == MeshProvider::Envoy && !ends.enters_existing_gateway();
            ours && ends.path.is_proxied()
        }
        EXEC => ends.pods().any(has_own_kernel),
        GATEWAYS => match right.only_for {
            rights::ROUTE => matches!(routing, Some(Routing::Route(_))),
            rights::CLASS => routing.is_some_and(|routing| routing.makes_gateway()),
            _ => false,
        },
        INGRESSES => matches!(routing, Some(Routing::Ingress(_))),
        routes => matches!(routing, Some(Routing::Route(_))) && sends(routes),
    }
}

/// Whether the scenario's patches fit its pods.
fn patched(
    spec: &ClusterSpec,
    placement: &Placement,
    assigned: &Assigned,
) -> Result<(), hopbench_model::Fault> {
    let run = RunIdentity {
        name: "check".to_owned(),
        namespace: "check".to_owned(),
        is_guest: false,
        owner: String::new(),
    };
    let sidecars = mesh::sidecars(spec, placement);
    let ground = Ground {
        spec,
        placement,
        nodes: &assigned.nodes,
        sidecars: &sidecars,
        host_port: AGENT_PORT,
    };
    blueprint::typed_pods(&ground, &run).map(drop)
}

fn of_path(
    spec: &ClusterSpec,
    ends: &Endpoints,
    discovery: &Discovery,
    assigned: &Assigned,
) -> Vec<Need> {
    let path = &ends.path;
    let mut needs = Vec::new();
    let mut add = |what: &str, why: String, remedy: &str| {
        needs.push(Need::new(Some(path), what, why, remedy));
    };
    let open = discovery.nodes.iter().filter(|node| node.closed.is_none()).count();
    let is_short = assigned.nodes.len() + assigned.without.len() > open;
    let remedy = if is_short {
        "use fewer nodes, or say others under `nodes:`"
    } else {
        "say another under `nodes:`"
    };
    for node in path.nodes().collect::<BTreeSet<_>>() {
        if let Some(why) = assigned.without.get(node) {
            add(&format!("node {node}"), why.clone(), remedy);
        } else if !assigned.nodes.contains_key(node) {
            add(
                &format!("node {node}"),
                "the testbed has no such node".to_owned(),
                "name it under `nodes:`",
            );
        }
    }
    // Both ends may lack the same.
    let mut told = BTreeSet::new();
    for place in places(path) {
        let class = Attachment::of(spec, &place).ok().and_then(|found| found.runtime_class);
        let lacking = class.filter(|class| is_unknown(discovery, class));
        if let Some(class) = lacking.filter(|class| told.insert(class.clone())) {
            let known = discovery.runtime_classes.iter().flatten().map(|(name, _)| name.as_str());
            let known: Vec<&str> = known.collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            add(
                &format!("RuntimeClass {class}"),
                format!("{place}: the cluster has {known}"),
                "install it, or say another under `runtimes:` or `networks:`",
            );
        }
    }
    needs.extend(family::missing(spec, path, assigned));
    needs.extend(of_scenario(spec, ends));
    needs
}

/// Needs of a path that no cluster has to be asked about.
fn of_scenario(spec: &ClusterSpec, ends: &Endpoints) -> Vec<Need> {
    let path = &ends.path;
    let mut needs = Vec::new();
    let mut add = |what: &str, why: String, remedy: &str| {
        needs.push(Need::new(Some(path), what, why, remedy));
    };
    let mut told = BTreeSet::new();
    for place in places(path) {
        if let Err(why) = Attachment::of(spec, &place)
            && told.insert(why.what.clone())
        {
            add(&why.what, why.why, &why.remedy);
        }
    }
    if path.backends > 1
        && ends.service.is_none()
        && !matches!(path.via, Via::Address(_))
        && !path.is_proxied()
    {
        let why = format!(
            "{} servers, and clients that connect to the first one ({})",
            path.backends, path.via
        );
        add(Need::IMPOSSIBLE, why, "take `via: cluster-ip`, or one server");
    }
    for program in ends.by_program().filter_map(|(program, pods)| Some((program?, pods.len()))) {
        let (name, pods) = program;
        if path.to.network == "host"
            && pods > path.to.nodes().count()
            && let Some(image) = spec.servers.get(name)
        {
            let node = path.to.node_text();
            let why = format!("{pods} times {name}, all on port {} of node {node}", image.port);
            add(Need::IMPOSSIBLE, why, "take one server, or pods with a network of their own");
        }
    }
    needs.extend(mesh::missing(spec, ends));
    needs
}

/// The places of both ends, each once.
fn places(path: &Path) -> BTreeSet<Place> {
    [&path.from, &path.to].into_iter().flat_map(Place::each).collect()
}

fn is_unknown(discovery: &Discovery, class: &str) -> bool {
    discovery.runtime_classes.as_ref().is_some_and(|known| !known.contains_key(class))
}

/// Why a cell cannot be measured although its path can be built.
pub(crate) fn unsupported(spec: &ClusterSpec, path: &Path, point: &Point) -> Option<String> {
    let server = &point.server;
    if let Some(why) =
        refusals::unsupported(path, point).or_else(|| mesh::unsupported(spec, path, point))
    {
        return Some(why);
    }
    if let Some(why) = peers::unsupported(spec, path, point) {
        return Some(why);
    }
    if !server.is_agent() && !spec.servers.contains_key(&server.program) {
        let known: Vec<&str> = spec.servers.keys().map(String::as_str).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Some(format!(
            "nothing says what `{}` is on the cluster: give its image under `testbed: kubernetes: \
             servers:` (there is {known})",
            server.program
        ));
    }
    if let Some(why) = closed_at_gateway(spec, path, &point.job) {
        return Some(why);
    }
    let in_gvisor = |place: &&Place| {
        let class = place.runtime.as_ref().map(|runtime| runtime_class(spec, runtime));
        class.is_some_and(|class| class.contains("runsc") || class.contains("gvisor"))
    };
    if point.job.engine == EngineKind::Uring && [&path.from, &path.to].iter().any(in_gvisor) {
        return Some("gVisor has no io_uring".to_owned());
    }
    None
}

/// Why a user without the right to [`EXEC`] cannot measure a cell by a tool of others.
pub(super) fn forbidden(point: &Point) -> Option<String> {
    let tool = &point.peer.as_ref()?.tool;
    Some(format!(
        "this user may not create {EXEC}, by which {tool} is started; `hopbench kube manifests` \
         prints the rights that hopbench uses"
    ))
}

/// Why what a job sends cannot enter by the gateway of its path, whatever that has.
fn closed_at_gateway(spec: &ClusterSpec, path: &Path, job: &Job) -> Option<String> {
    let gateway = spec.gateway_of(path)?;
    let traffic = Traffic::of(job)?;
    let why = match gateways::of_path(spec, path) {
        None if matches!(traffic, Traffic::Http2 | Traffic::Grpc) => {
            let address = gateway.address.as_deref().unwrap_or_default();
            return Some(format!(
                "nothing says whether the gateway at {address} takes HTTP/2: name its Gateway with \
                 `parent: NAMESPACE/NAME`, or take `class: NAME`"
            ));
        }
        None => return None,
        Some(routing) if !routing.takes(traffic) => {
            "an Ingress takes HTTP/1.1 only, and without TLS: take `parent: NAMESPACE/NAME` or \
             `class: NAME`"
        }
        Some(_) if traffic.shows_host() && sets_host(job) => {
            "found `Host` among its headers: leave it out, a gateway tells the run's routes apart \
             by it"
        }
        Some(_) if traffic == Traffic::Tls && job.params["tls_name"].is_string() => {
            "found `tls-name`: leave it out, a gateway tells the run's routes apart by the name in \
             TLS"
        }
        Some(_) => return None,
    };
    Some(why.to_owned())
}

/// Whether a workload says the host name of its requests itself.
fn sets_host(job: &Job) -> bool {
    let headers = job.params.get("headers").and_then(Value::as_array).into_iter().flatten();
    let mut names = headers.filter_map(|header| header.as_str()?.split_once(':'));
    names.any(|(name, _)| name.eq_ignore_ascii_case("host"))
}

#[cfg(test)]
mod tests;
