//! The gateways that lead to a run's servers: what the run makes for them, and their words about
//! themselves.

mod classes;
mod ingress;
pub(crate) mod status;
mod unmet;
mod wait;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::future::join_all;
use hopbench_model::{Fault, ParentGateway, Path, Proof};
use kube::Client;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use self::classes::ClassKind;
use self::status::{accepted, denied, entrance, listener};
pub(crate) use self::unmet::Unmet;
use self::unmet::{RIGHTS, refusal};
use self::wait::{ATTACH, LOOK, still, until_it_works};
use crate::api::access::{Access, explain};
use crate::api::client::Api;
use crate::api::create::create;
use crate::api::labels::RunIdentity;
use crate::objects::service::ServiceEntry;
use crate::objects::service::gateway::{VERSION, gateway};
use crate::objects::service::http_route::http_route;
use crate::plan::gateways::{self, RouteGateway, Routing};
use crate::provision::built::Built;
use crate::provision::proxy_pods::{self, ProxyPod};
use crate::provision::target::bracketed;

/// Time limit for the pods of a Gateway that works: some of them may never get ready.
const READY: Duration = Duration::from_secs(30);

/// Makes the Gateways, routes and Ingresses of a run, and waits until they work. By the names of
/// their Services: address and port of the gateway, or why there is none.
pub(crate) async fn attach(
    client: &Client,
    built: &Built,
    until: Instant,
) -> BTreeMap<String, Result<String, String>> {
    let routed: Vec<(&str, u16, Routing)> = built
        .services
        .iter()
        .filter_map(|service| {
            let ends = built.placement.paths.get(&service.path)?;
            let routing = gateways::of_path(&built.spec, &ends.path)?;
            let entry = built.entries.get(&service.name)?;
            let port = if ends.names_mode() { of_sidecar(entry)? } else { entry.port };
            Some((service.name.as_str(), port, routing))
        })
        .collect();
    let all: BTreeSet<&RouteGateway> = routed
        .iter()
        .filter_map(|(.., routing)| match routing {
            Routing::Route(gateway) => Some(gateway),
            Routing::Ingress(_) => None,
        })
        .collect();
    let made = all
        .into_iter()
        .map(|gateway| async move { (gateway, make(client, &built.run, gateway, until).await) });
    let made: BTreeMap<_, _> = join_all(made).await.into_iter().collect();
    let (run, made) = (&built.run, &made);
    let attached = routed.iter().map(|(service, port, routing)| async move {
        let of = (*service, *port);
        let attached = match routing {
            Routing::Ingress(gateway) => ingress::attached(client, run, gateway, of, until).await,
            Routing::Route(gateway) => match made.get(gateway) {
                Some(Err(why)) => Err(why.clone()),
                _ => attached_to(client, run, gateway, of, until).await,
            },
        };
        ((*service).to_owned(), attached)
    });
    join_all(attached).await.into_iter().collect()
}

/// The port of a Service at which the servers' sidecars take HTTP.
fn of_sidecar(entry: &ServiceEntry) -> Option<u16> {
    let mut http = entry.ports.iter().filter(|(name, _)| name.starts_with("http-"));
    http.next().map(|(_, (port, _))| *port)
}

/// Makes a Gateway, unless it is there before the run.
async fn make(
    client: &Client,
    run: &RunIdentity,
    wanted: &RouteGateway,
    until: Instant,
) -> Result<(), String> {
    let RouteGateway::Made { class, .. } = wanted else { return Ok(()) };
    let place = wanted.place(run);
    let made = create(&gateways_in(client, &place), &gateway(run, &place.name, class), until).await;
    made.map(drop).map_err(|e| refusal(&place, &e, VERSION).why)
}

async fn attached_to(
    client: &Client,
    run: &RunIdentity,
    gateway: &RouteGateway,
    (service, port): (&str, u16),
    until: Instant,
) -> Result<String, String> {
    let place = gateway.place(run);
    let began = Instant::now();
    // The pods may have taken most of the time.
    let least = began + ATTACH;
    let until = if gateway.is_made() { until.max(least) } else { least };
    let found = found(client, &place).await.map_err(|unmet| unmet.why)?;
    let route = http_route(run, &place, listener(&found, &place)?.0, service, port);
    let made = create(&routes_of(client, run), &route, until).await;
    made.map_err(|e| format!("no HTTPRoute {service}: {}", explain(&e)))?;
    let at = until_it_works(began, until, || look(client, run, &place, service)).await?;
    if gateway.is_made() {
        let until = until.min(Instant::now() + READY);
        while Instant::now() + LOOK < until && !are_ready(client, &place, &at).await {
            sleep(LOOK).await;
        }
    }
    Ok(at)
}

/// Whether all pods of a Gateway are ready, as far as they are known.
async fn are_ready(client: &Client, place: &ParentGateway, at: &str) -> bool {
    proxy_pods::behind(client, place, at).await.is_ok_and(|all| all.iter().all(|pod| pod.is_ready))
}

/// Asks the Gateway and the route how they are now.
async fn look(
    client: &Client,
    run: &RunIdentity,
    place: &ParentGateway,
    route: &str,
) -> Result<String, String> {
    let gateway = found(client, place).await.map_err(|unmet| unmet.why)?;
    let found = routes_of(client, run).get(route).await;
    let found = found.map_err(|e| format!("no HTTPRoute {route}: {}", explain(&e)))?;
    match (accepted(&found, place), entrance(&gateway, place)) {
        (Ok(()), at) => at.map(|(address, port)| format!("{}:{port}", bracketed(address))),
        (Err(route), Ok(_)) => Err(route),
        // The route of a Gateway that does not work is rarely the reason.
        (Err(route), Err(gateway)) => Err(format!("{gateway}; {route}")),
    }
}

/// What keeps a gateway from leading to the run, as far as it can be known before.
pub(crate) fn lacking(access: &Access, routing: &Routing) -> Option<Unmet> {
    let place = match routing {
        Routing::Route(RouteGateway::Given(place)) => place,
        Routing::Route(RouteGateway::Made { class, .. }) => {
            return GATEWAY_CLASS.lacking(access, class);
        }
        Routing::Ingress(gateway) => return ingress::INGRESS_CLASS.lacking(access, &gateway.class),
    };
    match access.ask("the Gateway", async { Ok(found(&access.client, place).await) }) {
        Err(fault) => Some(Unmet { why: fault.text, remedy: RIGHTS.to_owned() }),
        Ok(Err(unmet)) => Some(unmet),
        Ok(Ok(gateway)) => listener(&gateway, place).err().map(Unmet::unfit),
    }
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

/// Whether the gateway works and leads to the Service of this name.
/// `entered`: the address that the clients connected to.
pub(crate) fn prove(
    access: &Access,
    run: &RunIdentity,
    routing: &Routing,
    route: &str,
    entered: &str,
) -> Proof {
    let gateway = match routing {
        Routing::Route(gateway) => gateway,
        Routing::Ingress(gateway) => return ingress::prove(access, run, gateway, route, entered),
    };
    let place = gateway.place(run);
    let asked = async { Ok(look(&access.client, run, &place, route).await) };
    let found = access.ask("the Gateway", asked).map_err(|fault| fault.text).flatten();
    let found = found.and_then(|at| still(at, entered));
    let ok = found.is_ok();
    let class = match gateway {
        RouteGateway::Made { class, .. } => format!(" of class {class}"),
        RouteGateway::Given(_) => String::new(),
    };
    let evidence = found.map_or_else(
        |why| why,
        |at| format!("Gateway {place} ({at}){class} is Programmed; HTTPRoute {route} is Accepted"),
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

fn routes_of(client: &Client, run: &RunIdentity) -> Api<Value> {
    Api::others(client.clone(), VERSION, &run.namespace, "httproutes")
}
