//! The check for the Gateway API: its kinds, the GatewayClasses, and the Gateways that may be the
//! parent of a run's routes.

use hopbench_model::ParentGateway;
use hopbench_testbed::Finding;
use serde_json::Value;

use crate::doctor::check::Check;
use crate::doctor::inventory::Inventory;
use crate::plan::traffic::{GROUP, Traffic};
use crate::provision::gateway::status::{address, denied, listeners, takes_routes_of};

pub(in crate::doctor::checks) const CHECK: Check =
    Check { name: "Gateway API", needed_for: "routes at Gateways, Gateways of a class", judge };

/// The kinds without which nothing can enter.
const KINDS: [&str; 3] = ["gatewayclasses", "gateways", "httproutes"];
/// What a Gateway can have listeners for, one of each protocol.
const WAYS: [Traffic; 3] = [Traffic::Http, Traffic::Tls, Traffic::Tcp];

fn judge(inventory: &Inventory) -> Finding {
    if let Ok(definitions) = &inventory.definitions {
        let is_there = |kind: &&str| definitions.contains(&format!("{kind}.{GROUP}"));
        let absent: Vec<&str> = KINDS.into_iter().filter(|kind| !is_there(kind)).collect();
        if !absent.is_empty() {
            let found = match absent.len() == KINDS.len() {
                true => "not installed".to_owned(),
                false => format!("no {} of {GROUP}", absent.join(", ")),
            };
            return Finding::limited(
                found,
                "for `gateway: {parent: ...}` and `{class: ...}` install its CRDs (standard \
                 channel) and a controller",
            );
        }
    }
    let others = [Traffic::Grpc, Traffic::Tls, Traffic::Tcp];
    let absent: Vec<&str> = match &inventory.definitions {
        Ok(known) => {
            let is_there = |one: &Traffic| known.contains(&format!("{}.{GROUP}", one.resource()));
            others.iter().filter(|one| !is_there(one)).map(|one| one.kind()).collect()
        }
        Err(_) => Vec::new(),
    };
    let classes = inventory.gateway_classes.as_ref().map(|all| Told::of(all, class));
    let given = inventory.spec.namespace.as_deref();
    let gateways = inventory.gateways.as_ref().map(|all| Told::of(all, |one| gateway(one, given)));
    let line = |what: &str, told: &Result<Told, &String>| match told {
        Ok(told) => format!("{what}: {}", told.words()),
        Err(why) => format!("{what} are not known: {why}"),
    };
    let mut found = vec![line("GatewayClasses", &classes), line("Gateways", &gateways)];
    if !absent.is_empty() {
        found.push(format!("no {}: their traffic is left out", absent.join(", ")));
    }
    let found = found.join("\n");
    let is_usable = |told: &Result<Told, &String>| told.as_ref().is_ok_and(|told| told.is_usable);
    if is_usable(&classes) || is_usable(&gateways) {
        Finding::works(found)
    } else if classes.is_err() || gateways.is_err() {
        Finding::limited(found, "`hopbench kube manifests` has the rights to list them")
    } else {
        let remedy = "start a controller, and a Gateway that allows routes from all namespaces";
        Finding::limited(found, remedy)
    }
}

/// Objects in words.
struct Told {
    each: Vec<String>,
    /// Whether a run can use one of them.
    is_usable: bool,
}

impl Told {
    fn of(all: &[Value], tell: impl Fn(&Value) -> Result<String, String>) -> Self {
        let told: Vec<_> = all.iter().map(tell).collect();
        let is_usable = told.iter().any(Result::is_ok);
        Self { each: told.into_iter().map(|(Ok(words) | Err(words))| words).collect(), is_usable }
    }

    fn words(&self) -> String {
        if self.each.is_empty() { "none".to_owned() } else { self.each.join("; ") }
    }
}

/// A class in words; `Err`: no Gateway of it works.
fn class(class: &Value) -> Result<String, String> {
    let name = text(&class["metadata"]["name"]);
    match denied(name, class, &class["status"]["conditions"], "Accepted") {
        None => Ok(format!("{name} ({})", text(&class["spec"]["controllerName"]))),
        Some(why) => Err(why),
    }
}

/// A Gateway in words; `Err`: it cannot be the parent of the routes of a run, in the namespace
/// that is `given` or in one of its own.
fn gateway(gateway: &Value, given: Option<&str>) -> Result<String, String> {
    let of = |key: &str| text(&gateway["metadata"][key]).to_owned();
    let place = ParentGateway { namespace: of("namespace"), name: of("name") };
    let mut all: Vec<(Traffic, (&str, u64))> = Vec::new();
    for way in WAYS {
        let found = listeners(gateway, &place, way).unwrap_or_default();
        all.extend(found.first().map(|first| (way, *first)));
    }
    let Some((way, (first, port))) = all.first().copied() else {
        return Err(listeners(gateway, &place, Traffic::Http).err().unwrap_or_default());
    };
    let address = address(gateway, &place, first, None)?;
    if !takes_routes_of(gateway, &place, first, given) {
        let from =
            given.map_or_else(|| "all namespaces".to_owned(), |name| format!("namespace {name}"));
        return Err(format!("{place} takes no routes of {from}"));
    }
    let only = match way.protocol() {
        "HTTP" => String::new(),
        other => format!(" ({other})"),
    };
    let others = all.iter().skip(1);
    let others: String =
        others.map(|(way, (_, port))| format!(", {} at port {port}", way.protocol())).collect();
    Ok(format!(
        "{place} of class {} at {address} port {port}{only}{others}",
        text(&gateway["spec"]["gatewayClassName"])
    ))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::State;
    use serde_json::json;

    use super::*;

    fn installed() -> Inventory {
        let mut inventory = Inventory::fine();
        let others = ["grpcroutes", "tlsroutes", "tcproutes"];
        let all = KINDS.into_iter().chain(others);
        inventory.definitions = Ok(all.map(|kind| format!("{kind}.{GROUP}")).collect());
        inventory
    }

    fn class(name: &str, accepted: &str) -> Value {
        json!({
            "metadata": {"name": name},
            "spec": {"controllerName": "example.org/c"},
            "status": {"conditions": [
                {"type": "Accepted", "status": accepted, "reason": "Pending", "message": "waiting"},
            ]},
        })
    }

    fn gateway(from: &str) -> Value {
        json!({
            "metadata": {"namespace": "infra", "name": "public"},
            "spec": {"gatewayClassName": "contour", "listeners": [{
                "name": "web", "port": 80, "protocol": "HTTP",
                "allowedRoutes": {"namespaces": {"from": from}},
            }]},
            "status": {
                "addresses": [{"value": "10.0.0.9"}],
                "conditions": [{"type": "Programmed", "status": "True"}],
            },
        })
    }

    #[test]
    fn a_cluster_without_the_api_or_a_part_of_it_is_told() {
        let mut inventory = Inventory::fine();
        let told = judge(&inventory);
        assert_eq!((told.state, told.found.as_str()), (State::Limited, "not installed"));
        inventory.definitions = Ok(vec![format!("gateways.{GROUP}")]);
        let told = judge(&inventory).found;
        assert_eq!(told, "no gatewayclasses, httproutes of gateway.networking.k8s.io");
    }

    #[test]
    fn kinds_that_are_missing_and_listeners_that_are_there_are_told() {
        let mut inventory = installed();
        inventory.definitions = Ok(KINDS.map(|kind| format!("{kind}.{GROUP}")).into());
        let mut more = gateway("All");
        let listeners = more["spec"]["listeners"].as_array_mut().unwrap();
        let passed = json!({"mode": "Passthrough"});
        listeners.push(json!({"name": "tls", "port": 443, "protocol": "TLS", "tls": passed}));
        listeners.push(json!({"name": "tcp", "port": 9000, "protocol": "TCP"}));
        inventory.gateways = Ok(vec![more]);
        assert_eq!(
            judge(&inventory),
            Finding::works(
                "GatewayClasses: none\n\
                 Gateways: infra/public of class contour at 10.0.0.9 port 80, TLS at port 443, \
                 TCP at port 9000\n\
                 no GRPCRoute, TLSRoute, TCPRoute: their traffic is left out"
            )
        );
    }

    #[test]
    fn classes_and_gateways_are_told_with_what_keeps_them_from_working() {
        let mut inventory = installed();
        let told = judge(&inventory);
        assert_eq!(
            (told.state, told.found.as_str()),
            (State::Limited, "GatewayClasses: none\nGateways: none")
        );
        inventory.gateway_classes = Ok(vec![class("contour", "True"), class("idle", "Unknown")]);
        inventory.gateways = Ok(vec![gateway("All"), gateway("Same")]);
        assert_eq!(
            judge(&inventory),
            Finding::works(
                "GatewayClasses: contour (example.org/c); idle is not Accepted: Pending (waiting)\n\
                 Gateways: infra/public of class contour at 10.0.0.9 port 80; \
                 infra/public takes no routes of all namespaces"
            )
        );
        inventory.gateways = Ok(vec![gateway("Same")]);
        inventory.gateway_classes = Ok(vec![class("idle", "Unknown")]);
        assert_eq!(judge(&inventory).state, State::Limited);
        inventory.spec.namespace = Some("infra".to_owned());
        assert_eq!(judge(&inventory).state, State::Works);
        inventory.spec.namespace = Some("team".to_owned());
        assert!(judge(&inventory).found.contains("takes no routes of namespace team"));
        inventory.gateways = Err("forbidden".to_owned());
        let told = judge(&inventory);
        assert!(told.found.ends_with("Gateways are not known: forbidden"), "{told:?}");
    }
}
