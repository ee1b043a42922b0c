//! The Gateway that a run's route is attached to, and what it says of itself and of the route.

use std::time::Duration;

use hopbench_model::{ParentGateway, Proof};
use kube::Client;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::api::access::{Access, explain};
use crate::api::client::Api;
use crate::api::create::create;
use crate::api::labels::RunIdentity;
use crate::objects::service::http_route::http_route;
use crate::plan::services::parent;
use crate::provision::built::Built;
use crate::provision::target::bracketed;

const VERSION: &str = "gateway.networking.k8s.io/v1";
/// Time limit for a Gateway to take a route. After it the other paths are measured.
const ATTACH: Duration = Duration::from_secs(30);
/// Polling interval meanwhile.
const LOOK: Duration = Duration::from_millis(500);

/// Makes the run's route, and waits until its Gateway has taken it. The Gateway's address and port,
/// or why there is none. `None`: no path needs one.
pub(crate) async fn attach(
    client: &Client,
    built: &Built,
    until: Instant,
) -> Option<Result<String, String>> {
    let attached = |path: &String| parent(&built.spec, built.placement.paths.get(path)?);
    let (service, parent) =
        built.services.iter().find_map(|service| Some((service, attached(&service.path)?)))?;
    let port = built.entries.get(&service.name)?.port;
    let until = until.min(Instant::now() + ATTACH);
    Some(attached_to(client, &built.run, parent, (&service.name, port), until).await)
}

async fn attached_to(
    client: &Client,
    run: &RunIdentity,
    parent: &ParentGateway,
    (service, port): (&str, u16),
    until: Instant,
) -> Result<String, String> {
    let gateways = gateways(client, parent);
    let found = gateways.get(&parent.name).await.map_err(|e| refusal(parent, &e))?;
    let route = http_route(run, parent, listener(&found, parent)?.0, service, port);
    let made = create(&routes(client, run), &route, until).await;
    made.map_err(|e| format!("no HTTPRoute {service}: {}", explain(&e)))?;
    loop {
        match look(client, run, parent, service).await {
            Err(_) if Instant::now() + LOOK < until => sleep(LOOK).await,
            answer => return answer,
        }
    }
}

/// Asks the Gateway and the route how they are now.
async fn look(
    client: &Client,
    run: &RunIdentity,
    parent: &ParentGateway,
    route: &str,
) -> Result<String, String> {
    let gateway =
        gateways(client, parent).get(&parent.name).await.map_err(|e| refusal(parent, &e))?;
    let found = routes(client, run).get(route).await;
    let found = found.map_err(|e| format!("no HTTPRoute {route}: {}", explain(&e)))?;
    accepted(&found, parent)?;
    entrance(&gateway, parent)
}

/// Why no route can be attached to a Gateway, as far as it can be known before.
pub(crate) fn lacking(access: &Access, parent: &ParentGateway) -> Option<String> {
    let gateways = gateways(&access.client, parent);
    match access.ask("the Gateway", async { Ok(gateways.get(&parent.name).await) }) {
        Err(fault) => Some(fault.text),
        Ok(Err(error)) => Some(refusal(parent, &error)),
        Ok(Ok(gateway)) => listener(&gateway, parent).err(),
    }
}

/// Whether the Gateway works and has accepted the route.
pub(crate) fn prove(
    access: &Access,
    run: &RunIdentity,
    parent: &ParentGateway,
    route: &str,
) -> Proof {
    let asked = async { Ok(look(&access.client, run, parent, route).await) };
    let found = access.ask("the Gateway", asked).map_err(|fault| fault.text).flatten();
    let ok = found.is_ok();
    let evidence = found.map_or_else(
        |why| why,
        |at| format!("Gateway {parent} ({at}) is Programmed; HTTPRoute {route} is Accepted"),
    );
    Proof { hop: "gateway".to_owned(), evidence, ok }
}

fn gateways(client: &Client, parent: &ParentGateway) -> Api<Value> {
    Api::others(client.clone(), VERSION, &parent.namespace, "gateways")
}

fn routes(client: &Client, run: &RunIdentity) -> Api<Value> {
    Api::others(client.clone(), VERSION, &run.namespace, "httproutes")
}

fn refusal(parent: &ParentGateway, error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if status.code == 404 && status.reason == "NotFound" => {
            format!("there is no Gateway {parent}")
        }
        kube::Error::Api(status) if status.code == 404 => {
            format!("the cluster does not know {VERSION}: the Gateway API is not installed")
        }
        _ => format!("Gateway {parent}: {}", explain(error)),
    }
}

/// The first listener that takes HTTP for every host name: its name and port.
fn listener<'a>(gateway: &'a Value, parent: &ParentGateway) -> Result<(&'a str, u64), String> {
    let listeners = gateway["spec"]["listeners"].as_array();
    let fits = |listener: &&Value| listener["protocol"] == "HTTP" && listener["hostname"].is_null();
    listeners
        .and_then(|all| all.iter().find(fits))
        .and_then(|listener| Some((listener["name"].as_str()?, listener["port"].as_u64()?)))
        .ok_or_else(|| format!("Gateway {parent} has no listener for HTTP without a host name"))
}

/// Address and port of a Gateway that works.
fn entrance(gateway: &Value, parent: &ParentGateway) -> Result<String, String> {
    let who = format!("Gateway {parent}");
    condition(&who, gateway, &gateway["status"]["conditions"], "Programmed")?;
    let (_, port) = listener(gateway, parent)?;
    let address = gateway["status"]["addresses"][0]["value"].as_str();
    let address = address.ok_or_else(|| format!("{who} has no address in its status"))?;
    Ok(format!("{}:{port}", bracketed(address)))
}

/// Whether this parent has accepted the route, and knows its Service.
fn accepted(route: &Value, parent: &ParentGateway) -> Result<(), String> {
    let of_parent = |said: &&Value| {
        let about = &said["parentRef"];
        about["name"] == *parent.name && about["namespace"] == *parent.namespace
    };
    let said = route["status"]["parents"].as_array().and_then(|all| all.iter().find(of_parent));
    let conditions = &said.unwrap_or(&Value::Null)["conditions"];
    let who = format!("the HTTPRoute at Gateway {parent}");
    condition(&who, route, conditions, "Accepted")?;
    condition(&who, route, conditions, "ResolvedRefs")
}

/// Whether a condition holds for the object as it is now.
fn condition(who: &str, object: &Value, all: &Value, kind: &str) -> Result<(), String> {
    let found = all.as_array().and_then(|all| all.iter().find(|one| one["type"] == kind));
    let Some(found) = found else {
        return Err(format!("{who} is not {kind}: no controller has said so"));
    };
    let seen = found["observedGeneration"].as_i64();
    if seen < object["metadata"]["generation"].as_i64() && seen.is_some() {
        return Err(format!("{who} is not {kind}: its controller has not seen the last change"));
    }
    if found["status"] == "True" {
        return Ok(());
    }
    let text = |key: &str| found[key].as_str().unwrap_or_default();
    Err(format!("{who} is not {kind}: {} ({})", text("reason"), text("message")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parent() -> ParentGateway {
        ParentGateway { namespace: "infra".into(), name: "public".into() }
    }

    fn gateway() -> Value {
        json!({
            "metadata": {"generation": 2},
            "spec": {"gatewayClassName": "c", "listeners": [
                {"name": "tls", "port": 443, "protocol": "HTTPS"},
                {"name": "web", "port": 80, "protocol": "HTTP"},
            ]},
            "status": {
                "addresses": [{"type": "IPAddress", "value": "10.0.0.9"}],
                "conditions": [{"type": "Programmed", "status": "True", "reason": "Programmed",
                    "message": "", "observedGeneration": 2}],
            },
        })
    }

    #[test]
    fn the_address_is_that_of_a_gateway_that_works() {
        let parent = parent();
        let told = |change: &dyn Fn(&mut Value)| {
            let mut gateway = gateway();
            change(&mut gateway);
            entrance(&gateway, &parent)
        };
        assert_eq!(told(&|_| {}).unwrap(), "10.0.0.9:80");
        let v6 = told(&|g| g["status"]["addresses"][0]["value"] = json!("fd00::9"));
        assert_eq!(v6.unwrap(), "[fd00::9]:80");
        let none = told(&|g| g["status"]["addresses"] = json!([]));
        assert_eq!(none.unwrap_err(), "Gateway infra/public has no address in its status");
        let stale = told(&|g| g["metadata"]["generation"] = json!(3));
        assert!(stale.unwrap_err().contains("has not seen the last change"));
        let named = told(&|g| g["spec"]["listeners"][1]["hostname"] = json!("a.example"));
        assert!(named.unwrap_err().contains("no listener for HTTP"));
    }

    #[test]
    fn a_route_is_accepted_by_its_own_parent() {
        let parent = parent();
        let route = |namespace: &str, status: &str| {
            json!({"metadata": {"generation": 1}, "status": {"parents": [{
                "parentRef": {"namespace": namespace, "name": "public", "sectionName": "web"},
                "conditions": [
                    {"type": "Accepted", "status": status, "reason": "NotAllowedByListeners",
                        "message": "no listener allows it", "observedGeneration": 1},
                    {"type": "ResolvedRefs", "status": "True", "observedGeneration": 1},
                ],
            }]}})
        };
        assert_eq!(accepted(&route("infra", "True"), &parent), Ok(()));
        let told = accepted(&route("infra", "False"), &parent).unwrap_err();
        assert!(told.ends_with("not Accepted: NotAllowedByListeners (no listener allows it)"));
        let told = accepted(&route("other", "True"), &parent).unwrap_err();
        assert!(told.ends_with("not Accepted: no controller has said so"), "{told}");
    }

    #[test]
    fn an_api_that_is_not_there_is_told_from_a_gateway_that_is_not() {
        let told = |reason: &str| {
            let status = kube::core::Status::failure("nothing", reason).with_code(404);
            refusal(&parent(), &kube::Error::Api(status.boxed()))
        };
        assert_eq!(told("NotFound"), "there is no Gateway infra/public");
        assert!(told("Not an answer of the API server").contains("is not installed"));
    }
}
