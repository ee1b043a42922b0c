//! The gateways that lead to a run's servers: what the run makes for them, and their words about
//! themselves.

mod classes;
mod ingress;
pub(crate) mod served;
pub(crate) mod status;
mod unmet;
mod wait;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::future::{join, join_all};
use hopbench_model::{Fault, IpFamily, ParentGateway, Path, Proof};
use hopbench_testbed::placement::{Endpoints, program};
use kube::Client;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use self::classes::ClassKind;
use self::served::served;
use self::status::{accepted, address, chosen, denied, is_free, lacks_family, named};
pub(crate) use self::unmet::Unmet;
use self::unmet::{RIGHTS, refusal};
use self::wait::{ATTACH, LOOK, still, until_it_works};
use crate::api::access::{Access, explain};
use crate::api::client::Api;
use crate::api::create::create;
use crate::objects::service::ServiceEntry;
use crate::objects::service::gateway::{VERSION, gateway};
use crate::objects::service::route::{Destination, route};
use crate::plan::gateways::{self, IngressGateway, RouteGateway, Routing};
use crate::plan::services::PathService;
use crate::plan::traffic::Traffic;
use crate::provision::built::Built;
use crate::provision::proxy_pods::{self, ProxyPod};
use crate::provision::target::bracketed;

/// Time limit for the pods of a Gateway that works: some of them may never get ready.
const READY: Duration = Duration::from_secs(30);

/// The address and port of a gateway that leads to the run, or why there is none: by the names of
/// routes and Ingresses.
pub(crate) type Entrances = BTreeMap<String, Result<String, String>>;

/// Makes the Gateways, routes and Ingresses of a run, and waits until they work.
pub(crate) async fn attach(client: &Client, built: &Built, until: Instant) -> Entrances {
    let mut by_gateway: BTreeMap<RouteGateway, Vec<Destination<'_>>> = BTreeMap::new();
    let mut ingresses = Vec::new();
    for (to, routing) in built.services.iter().flat_map(|service| destinations(built, service)) {
        match routing {
            Routing::Route(gateway) => by_gateway.entry(gateway).or_default().push(to),
            Routing::Ingress(gateway) => ingresses.push((to, gateway)),
        }
    }
    let routes = by_gateway.into_iter().map(|(gateway, all)| async move {
        at_gateway(client, built, &gateway, &all, until).await
    });
    let ingresses = ingresses.into_iter().map(|(to, gateway)| async move {
        (to.route(), ingress::attached(client, &built.run, &gateway, to, until).await)
    });
    let (routes, ingresses) = join(join_all(routes), join_all(ingresses)).await;
    routes.into_iter().flatten().chain(ingresses).collect()
}

/// What leads to a Service, one for each kind of traffic that its path's cells send there.
fn destinations<'a>(built: &'a Built, service: &'a PathService) -> Vec<(Destination<'a>, Routing)> {
    let found = || {
        let ends = built.placement.paths.get(&service.path)?;
        let routing = gateways::of_path(&built.spec, &ends.path)?;
        Some((ends, routing, built.entries.get(&service.name)?))
    };
    let Some((ends, routing, entry)) = found() else { return Vec::new() };
    let cells = built
        .cells
        .iter()
        .filter(|(path, point)| *path == service.path && program(&point.server) == service.program);
    let sent: BTreeSet<Traffic> = cells
        .filter_map(|(_, point)| Traffic::of(&point.job))
        .filter(|traffic| routing.takes(*traffic))
        .collect();
    let to = |traffic: Traffic| {
        let (port, family) = (port(ends, service, entry, traffic)?, service.family);
        Some((Destination { service: &service.name, port, traffic, family }, routing.clone()))
    };
    sent.into_iter().filter_map(to).collect()
}

/// The port of a Service at which the servers, or their sidecars, take this.
fn port(
    ends: &Endpoints,
    service: &PathService,
    entry: &ServiceEntry,
    traffic: Traffic,
) -> Option<u16> {
    let is_own = matches!(traffic, Traffic::Http | Traffic::Tls | Traffic::Tcp);
    if is_own && !ends.names_mode(service.program.as_deref()) {
        return Some(entry.port);
    }
    let mut named = entry.ports.iter().filter(|(name, _)| name.starts_with(traffic.port()));
    named.next().map(|(_, (port, _))| *port)
}

/// Makes a Gateway, unless it is there before the run, and its routes. By their names: its address
/// and port, or why there is none.
async fn at_gateway(
    client: &Client,
    built: &Built,
    gateway: &RouteGateway,
    routed: &[Destination<'_>],
    until: Instant,
) -> Vec<(String, Result<String, String>)> {
    let began = Instant::now();
    // The pods may have taken most of the time.
    let least = began + ATTACH;
    let until = if gateway.is_made() { until.max(least) } else { least };
    let at = Attaching { client, built, gateway, place: gateway.place(&built.run), began, until };
    let listeners = match at.listeners(routed).await {
        Ok(listeners) => listeners,
        Err(why) => return routed.iter().map(|to| (to.route(), Err(why.clone()))).collect(),
    };
    let at = &at;
    let attached = routed.iter().zip(listeners).map(|(to, listener)| async move {
        let attached = match listener {
            Ok(listener) => at.attached(*to, &listener).await,
            Err(why) => Err(why),
        };
        (to.route(), attached)
    });
    join_all(attached).await
}

/// A Gateway that routes are attached to.
struct Attaching<'a> {
    client: &'a Client,
    built: &'a Built,
    gateway: &'a RouteGateway,
    place: ParentGateway,
    began: Instant,
    until: Instant,
}

impl Attaching<'_> {
    /// The listener of each route. What runs before left at one goes by itself.
    async fn listeners(
        &self,
        routed: &[Destination<'_>],
    ) -> Result<Vec<Result<String, String>>, String> {
        let wanted: Vec<Traffic> = routed.iter().map(|to| to.traffic).collect();
        if let RouteGateway::Made { class, .. } = self.gateway {
            let wanted = gateway(&self.built.run, &self.place.name, class, &wanted);
            let made = create(&gateways_in(self.client, &self.place), &wanted, self.until).await;
            made.map_err(|e| refusal(&self.place, &e, VERSION).why)?;
        }
        loop {
            let found = found(self.client, &self.place).await.map_err(|unmet| unmet.why)?;
            let chosen = chosen(&found, &self.place, wanted.iter().copied(), is_free);
            if chosen.iter().all(Result::is_ok) || Instant::now() + LOOK >= self.until {
                return Ok(chosen);
            }
            sleep(LOOK).await;
        }
    }

    async fn attached(&self, to: Destination<'_>, listener: &str) -> Result<String, String> {
        let Self { client, built, place, .. } = self;
        let (name, kind) = (to.route(), to.traffic.kind());
        let version = version(built, to.traffic)?;
        let route = route(&built.run, version, place, listener, to);
        let made = create(&routes_of(client, built, to.traffic)?, &route, self.until).await;
        made.map_err(|e| format!("no {kind} {name}: {}", explain(&e)))?;
        let at = until_it_works(self.began, self.until, || {
            look(client, built, place, (to.traffic, name.as_str()), to.family)
        });
        let at = at.await?;
        if self.gateway.is_made() {
            let until = self.until.min(Instant::now() + READY);
            while Instant::now() + LOOK < until && !are_ready(client, place, &at).await {
                sleep(LOOK).await;
            }
        }
        Ok(at)
    }
}

/// Whether all pods of a Gateway are ready, as far as they are known.
async fn are_ready(client: &Client, place: &ParentGateway, at: &str) -> bool {
    proxy_pods::behind(client, place, at).await.is_ok_and(|all| all.iter().all(|pod| pod.is_ready))
}

/// Asks the Gateway and the route of this name how they are now.
async fn look(
    client: &Client,
    built: &Built,
    place: &ParentGateway,
    (traffic, route): (Traffic, &str),
    family: Option<IpFamily>,
) -> Result<String, String> {
    let gateway = found(client, place).await.map_err(|unmet| unmet.why)?;
    let kind = traffic.kind();
    let found = routes_of(client, built, traffic)?.get(route).await;
    let found = found.map_err(|e| format!("no {kind} {route}: {}", explain(&e)))?;
    let listener = found["spec"]["parentRefs"][0]["sectionName"].as_str().unwrap_or_default();
    let listener = named(&gateway, listener)
        .ok_or_else(|| format!("Gateway {place} has no listener {listener} any more"));
    let at = listener.and_then(|(name, port)| {
        Ok(format!("{}:{port}", bracketed(address(&gateway, place, name, family)?)))
    });
    match (accepted(&found, kind, place), at) {
        (Ok(()), at) => at,
        (Err(route), Ok(_)) => Err(route),
        // The route of a Gateway that does not work is rarely the reason.
        (Err(route), Err(gateway)) => Err(format!("{gateway}; {route}")),
    }
}

/// What is to enter by a gateway: the traffic, and the family that its path asks for.
pub(crate) type Wanted = (Traffic, Option<IpFamily>);

/// The reason why a gateway cannot lead this traffic to the run, as far as it is known before: a
/// reason for each, or one for all of it. Of bytes each takes a listener.
pub(crate) fn lacking(
    access: &Access,
    routing: &Routing,
    wanted: &[Wanted],
) -> Result<Vec<Option<String>>, Unmet> {
    let class = match routing {
        Routing::Route(RouteGateway::Given(_)) => None,
        Routing::Route(RouteGateway::Made { class, .. }) => GATEWAY_CLASS.lacking(access, class),
        Routing::Ingress(IngressGateway { class, .. }) => {
            ingress::INGRESS_CLASS.lacking(access, class)
        }
    };
    if let Some(unmet) = class {
        return Err(unmet);
    }
    let Routing::Route(gateway) = routing else { return Ok(vec![None; wanted.len()]) };
    let unknown = |fault: Fault| Unmet { why: fault.text, remedy: RIGHTS.to_owned() };
    let sent = wanted.iter().map(|(traffic, _)| *traffic);
    let mut listeners = vec![None; wanted.len()];
    if let RouteGateway::Given(place) = gateway {
        let asked = access.ask("the Gateway", async { Ok(found(&access.client, place).await) });
        let gateway = asked.map_err(unknown)??;
        let chosen = chosen(&gateway, place, sent.clone(), |_, _| true);
        let remedy =
            "add one, name another Gateway with `parent: NAMESPACE/NAME`, or take `class: NAME`";
        let why = |(listener, (_, family)): (Result<String, String>, &Wanted)| {
            let why = listener.err().or_else(|| lacks_family(&gateway, place, *family))?;
            Some(format!("{why}; {remedy}"))
        };
        listeners = chosen.into_iter().zip(wanted).map(why).collect();
    }
    let asked = async { Ok(served(&access.client, sent).await) };
    let kinds = access.ask("the kinds of routes", asked).map_err(unknown)?;
    let of_kind = |traffic: &Traffic| kinds.get(traffic)?.as_ref().err().cloned();
    let reason = |((traffic, _), of_one): (&Wanted, Option<String>)| of_kind(traffic).or(of_one);
    Ok(wanted.iter().zip(listeners).map(reason).collect())
}

/// The classes of Gateways.
const GATEWAY_CLASS: ClassKind = ClassKind {
    name: "GatewayClass",
    version: VERSION,
    resource: "gatewayclasses",
    key: "class",
    denied: |who, class| denied(who, class, &class["status"]["conditions"], "Accepted"),
};

/// The pods of the Gateway of a path that the run made, as they are now; empty: it has none, or
/// they are not known. With `namespace` and `labels` of the scenario they are those.
pub(crate) fn pods_of(
    access: &Access,
    built: &Built,
    path: &Path,
    route: &str,
) -> Result<Vec<ProxyPod>, Fault> {
    let routing = gateways::of_path(&built.spec, path).filter(Routing::makes_gateway);
    let Some(Routing::Route(gateway)) = routing else { return Ok(Vec::new()) };
    let Some(Ok(at)) = built.gateways.get(route) else { return Ok(Vec::new()) };
    let said = built.spec.gateway_of(path).and_then(gateways::pods);
    let place = gateway.place(&built.run);
    access.ask("the Gateway's pods", async {
        match said {
            Some((namespace, labels)) => {
                proxy_pods::labelled(&access.client, Some(namespace), &labels).await
            }
            None => proxy_pods::behind(&access.client, &place, at).await,
        }
    })
}

/// Whether the gateway works and leads to a Service by the route, or the Ingress, of this name.
/// `entered`: the address that the clients connected to, and the family that their path asks for.
pub(crate) fn prove(
    access: &Access,
    built: &Built,
    routing: &Routing,
    (traffic, route): (Traffic, &str),
    (entered, family): (&str, Option<IpFamily>),
) -> Proof {
    let gateway = match routing {
        Routing::Route(gateway) => gateway,
        Routing::Ingress(gateway) => {
            return ingress::prove(access, &built.run, gateway, (route, family), entered);
        }
    };
    let place = gateway.place(&built.run);
    let look = look(&access.client, built, &place, (traffic, route), family);
    let asked = async { Ok(look.await) };
    let found = access.ask("the Gateway", asked).map_err(|fault| fault.text).flatten();
    let found = found.and_then(|at| still(at, entered));
    let ok = found.is_ok();
    let class = match gateway {
        RouteGateway::Made { class, .. } => format!(" of class {class}"),
        RouteGateway::Given(_) => String::new(),
    };
    let kind = traffic.kind();
    let evidence = found.map_or_else(
        |why| why,
        |at| format!("Gateway {place} ({at}){class} is Programmed; {kind} {route} is Accepted"),
    );
    Proof { hop: "gateway".to_owned(), evidence, ok }
}

/// A Gateway as it is now.
async fn found(client: &Client, place: &ParentGateway) -> Result<Value, Unmet> {
    let found = gateways_in(client, place).get(&place.name).await;
    found.map_err(|error| refusal(place, &error, VERSION))
}

fn gateways_in(client: &Client, place: &ParentGateway) -> Api<Value> {
    Api::others(client.clone(), VERSION, &place.namespace, "gateways")
}

fn routes_of(client: &Client, built: &Built, traffic: Traffic) -> Result<Api<Value>, String> {
    let version = version(built, traffic)?;
    Ok(Api::others(client.clone(), version, &built.run.namespace, traffic.resource()))
}

/// The version of the routes for this traffic.
fn version(built: &Built, traffic: Traffic) -> Result<&str, String> {
    let unasked = || format!("nobody asked for the version of {}", traffic.resource());
    let served = built.served.get(&traffic).ok_or_else(unasked)?;
    served.as_ref().map(String::as_str).map_err(String::clone)
}
