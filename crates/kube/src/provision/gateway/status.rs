//! The words of Gateways and their routes about themselves: conditions, listeners, addresses.

use std::collections::BTreeSet;

use hopbench_model::{IpFamily, ParentGateway};
use serde_json::Value;

use crate::plan::traffic::{GROUP, Traffic};
use crate::provision::target::is_of_another;

/// A listener: its name and port.
type Listener<'a> = (&'a str, u64);

/// The listeners that take this traffic for every host name: at least one, in their order.
pub(crate) fn listeners<'a>(
    gateway: &'a Value,
    place: &ParentGateway,
    traffic: Traffic,
) -> Result<Vec<Listener<'a>>, String> {
    let fitting: Vec<Listener<'_>> =
        all(gateway).filter(|one| fits(one, traffic)).filter_map(identity).collect();
    if !fitting.is_empty() {
        return Ok(fitting);
    }
    let wanted = match traffic {
        Traffic::Http | Traffic::Http2 | Traffic::Grpc => "HTTP without a host name",
        Traffic::Tls => "TLS in the mode Passthrough without a host name",
        Traffic::Tcp => "TCP",
    };
    let kind = traffic.kind();
    let there: Vec<String> = all(gateway).map(told).collect();
    let there = if there.is_empty() { "none".to_owned() } else { there.join("; ") };
    Err(format!("Gateway {place} has no listener for {wanted} that takes {kind}s; it has {there}"))
}

/// The listener for each of these that a Gateway leads to a run, or why there is none. A TCPRoute
/// takes all that comes to a listener. So bytes need one each, of those that are `free`.
pub(super) fn chosen(
    gateway: &Value,
    place: &ParentGateway,
    wanted: impl IntoIterator<Item = Traffic>,
    free: fn(&Value, &str) -> bool,
) -> Vec<Result<String, String>> {
    let mut taken = BTreeSet::new();
    let choose = |traffic: Traffic| -> Result<String, String> {
        let fitting = listeners(gateway, place, traffic)?;
        if traffic != Traffic::Tcp {
            return Ok(fitting[0].0.to_owned());
        }
        let open = fitting.iter().find(|(name, _)| free(gateway, name) && !taken.contains(name));
        let Some((name, _)) = open else {
            let names: Vec<&str> = fitting.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "a TCPRoute takes all of a listener, and those for TCP of Gateway {place} have \
                 others: {}",
                names.join(", ")
            ));
        };
        taken.insert(*name);
        Ok((*name).to_owned())
    };
    wanted.into_iter().map(choose).collect()
}

/// Whether a listener has no route yet.
pub(super) fn is_free(gateway: &Value, name: &str) -> bool {
    state(gateway, name)["attachedRoutes"].as_u64().unwrap_or(0) == 0
}

/// The listener of this name.
pub(super) fn named<'a>(gateway: &'a Value, name: &str) -> Option<Listener<'a>> {
    all(gateway).filter_map(identity).find(|(known, _)| *known == name)
}

fn all(gateway: &Value) -> impl Iterator<Item = &Value> {
    gateway["spec"]["listeners"].as_array().into_iter().flatten()
}

fn identity(listener: &Value) -> Option<Listener<'_>> {
    Some((listener["name"].as_str()?, listener["port"].as_u64()?))
}

fn fits(listener: &Value, traffic: Traffic) -> bool {
    let is_open = match traffic {
        // It has no host names, whatever stands there.
        Traffic::Tcp => true,
        Traffic::Tls => listener["tls"]["mode"] == "Passthrough" && host(listener).is_empty(),
        Traffic::Http | Traffic::Http2 | Traffic::Grpc => host(listener).is_empty(),
    };
    let kinds = kinds(listener);
    let takes = kinds.is_empty() || kinds.contains(&traffic.kind());
    listener["protocol"] == traffic.protocol() && is_open && takes
}

fn host(listener: &Value) -> &str {
    listener["hostname"].as_str().unwrap_or_default()
}

/// The kinds of routes that a listener takes; empty: all that its protocol may have.
fn kinds(listener: &Value) -> Vec<&str> {
    let said = listener["allowedRoutes"]["kinds"].as_array().into_iter().flatten();
    let ours = said.filter(|one| one["group"].as_str().is_none_or(|group| group == GROUP));
    ours.filter_map(|one| one["kind"].as_str()).collect()
}

/// A listener in words: `tls (TLS at port 443, Terminate)`.
fn told(listener: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut words = vec![format!("{} at port {}", text(&listener["protocol"]), listener["port"])];
    words.extend([host(listener).to_owned(), text(&listener["tls"]["mode"])]);
    let kinds = kinds(listener);
    if !kinds.is_empty() {
        words.push(format!("for {} only", kinds.join(", ")));
    }
    words.retain(|word| !word.is_empty());
    format!("{} ({})", text(&listener["name"]), words.join(", "))
}

/// The status of a listener.
fn state<'a>(gateway: &'a Value, name: &str) -> &'a Value {
    let mut all = gateway["status"]["listeners"].as_array().into_iter().flatten();
    all.find(|one| one["name"] == name).unwrap_or(&Value::Null)
}

/// Whether a listener takes routes of this namespace; `None`: of one that is still to be made. What
/// a selector chooses is not known.
pub(crate) fn takes_routes_of(
    gateway: &Value,
    place: &ParentGateway,
    listener: &str,
    namespace: Option<&str>,
) -> bool {
    let found = all(gateway).find(|one| one["name"] == listener);
    let from = found.and_then(|one| one["allowedRoutes"]["namespaces"]["from"].as_str());
    match from.unwrap_or("Same") {
        "All" => true,
        "Same" => namespace == Some(place.namespace.as_str()),
        _ => false,
    }
}

/// The address of a Gateway that works, the first of this family or a name. If it does not work:
/// all that it and this listener of it say.
pub(crate) fn address<'a>(
    gateway: &'a Value,
    place: &ParentGateway,
    listener: &str,
    family: Option<IpFamily>,
) -> Result<&'a str, String> {
    let who = format!("Gateway {place}");
    let status = &gateway["status"];
    let of_listener = &state(gateway, listener)["conditions"];
    let (own, its) = (&status["conditions"], format!("listener {listener} of {who}"));
    let programmed = condition(&who, gateway, own, "Programmed").err();
    // Not every controller says the others. Beside `Programmed` they count only if they are denied.
    let counts = |all: &Value, kind: &str| {
        programmed.is_some() || find(all, kind).is_some_and(|found| found["status"] == "False")
    };
    let against = |who: &str, all: &Value, kind: &str| {
        denied(who, gateway, all, kind).filter(|_| counts(all, kind))
    };
    let mut unmet: Vec<String> = against(&who, own, "Accepted").into_iter().collect();
    unmet.extend(programmed.clone());
    for kind in ["Accepted", "ResolvedRefs", "Programmed"] {
        unmet.extend(against(&its, of_listener, kind));
    }
    if !unmet.is_empty() {
        return Err(unmet.join("; "));
    }
    if let Some(why) = lacks_family(gateway, place, family) {
        return Err(why);
    }
    let mut fitting = addresses(gateway).filter(|one| !is_of_another(one.parse().ok(), family));
    fitting.next().ok_or_else(|| format!("{who} has no address in its status"))
}

/// Why a Gateway that has addresses is not entered by this family; `None`: it is, or its addresses
/// are still to come.
pub(super) fn lacks_family(
    gateway: &Value,
    place: &ParentGateway,
    family: Option<IpFamily>,
) -> Option<String> {
    let wanted = family?;
    let all: Vec<&str> = addresses(gateway).collect();
    let lacks = !all.is_empty() && all.iter().all(|one| is_of_another(one.parse().ok(), family));
    lacks.then(|| {
        let there = all.join(", ");
        format!("Gateway {place} has no {wanted} address in its status, which has {there}")
    })
}

/// The addresses in the status of a Gateway, and names.
fn addresses(gateway: &Value) -> impl Iterator<Item = &str> {
    let all = gateway["status"]["addresses"].as_array().into_iter().flatten();
    all.filter_map(|one| one["value"].as_str())
}

/// Whether this parent has accepted the route of this kind, and knows its Service.
pub(super) fn accepted(route: &Value, kind: &str, place: &ParentGateway) -> Result<(), String> {
    let of_parent = |said: &&Value| {
        let about = &said["parentRef"];
        about["name"] == *place.name && about["namespace"] == *place.namespace
    };
    let who = format!("the {kind} at Gateway {place}");
    let unmet = |conditions: &Value| -> Vec<String> {
        let kinds = ["Accepted", "ResolvedRefs"].iter();
        kinds.filter_map(|kind| condition(&who, route, conditions, kind).err()).collect()
    };
    // Each controller that looks at the Gateway has an entry: one of them has to work.
    let all = route["status"]["parents"].as_array().into_iter().flatten();
    let all: Vec<Vec<String>> =
        all.filter(of_parent).map(|said| unmet(&said["conditions"])).collect();
    match all.first() {
        None => Err(unmet(&Value::Null).join("; ")),
        Some(_) if all.iter().any(Vec::is_empty) => Ok(()),
        Some(first) => Err(first.join("; ")),
    }
}

/// What a condition says against an object as it is now; `None`: nothing.
pub(crate) fn denied(who: &str, object: &Value, all: &Value, kind: &str) -> Option<String> {
    let is_said = find(all, kind).is_some();
    condition(who, object, all, kind).err().filter(|_| is_said)
}

/// Whether a condition holds for the object as it is now.
fn condition(who: &str, object: &Value, all: &Value, kind: &str) -> Result<(), String> {
    let Some(found) = find(all, kind) else {
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

fn find<'a>(all: &'a Value, kind: &str) -> Option<&'a Value> {
    all.as_array()?.iter().find(|one| one["type"] == kind)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn place() -> ParentGateway {
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
        let place = place();
        let told = |change: &dyn Fn(&mut Value)| {
            let mut gateway = gateway();
            change(&mut gateway);
            address(&gateway, &place, "web", None).map(str::to_owned)
        };
        assert_eq!(told(&|_| {}).unwrap(), "10.0.0.9");
        let none = told(&|g| g["status"]["addresses"] = json!([]));
        assert_eq!(none.unwrap_err(), "Gateway infra/public has no address in its status");
        let stale = told(&|g| g["metadata"]["generation"] = json!(3));
        assert!(stale.unwrap_err().contains("has not seen the last change"));
    }

    #[test]
    fn a_gateway_is_entered_by_the_family_that_is_asked_for() {
        let (place, mut gateway) = (place(), gateway());
        let at = |gateway: &Value, by| address(gateway, &place, "web", Some(by)).map(str::to_owned);
        assert_eq!(at(&gateway, IpFamily::Ipv4).unwrap(), "10.0.0.9");
        let why = "Gateway infra/public has no IPv6 address in its status, which has 10.0.0.9";
        assert_eq!(at(&gateway, IpFamily::Ipv6).unwrap_err(), why);
        gateway["status"]["addresses"] = json!([{"value": "10.0.0.9"}, {"value": "fd00::9"}]);
        assert_eq!(at(&gateway, IpFamily::Ipv6).unwrap(), "fd00::9");
        // What a name leads to is known when it is looked up.
        gateway["status"]["addresses"] = json!([{"type": "Hostname", "value": "a.example"}]);
        assert_eq!(at(&gateway, IpFamily::Ipv6).unwrap(), "a.example");
        gateway["status"]["addresses"] = json!([]);
        assert_eq!(lacks_family(&gateway, &place, Some(IpFamily::Ipv6)), None, "still to come");
    }

    #[test]
    fn a_listener_fits_by_its_protocol_its_host_name_and_its_kinds() {
        let mut gateway = gateway();
        let told = |gateway: &Value, traffic: Traffic| {
            listeners(gateway, &place(), traffic).map(|all| {
                all.iter().map(|(name, port)| format!("{name} {port}")).collect::<Vec<_>>()
            })
        };
        for traffic in [Traffic::Http, Traffic::Http2, Traffic::Grpc] {
            assert_eq!(told(&gateway, traffic).unwrap(), ["web 80"]);
        }
        assert_eq!(
            told(&gateway, Traffic::Tcp).unwrap_err(),
            "Gateway infra/public has no listener for TCP that takes TCPRoutes; \
             it has tls (HTTPS at port 443); web (HTTP at port 80)"
        );
        gateway["spec"]["listeners"] = json!([
            {"name": "named", "port": 80, "protocol": "HTTP", "hostname": "a.example"},
            {"name": "calls", "port": 81, "protocol": "HTTP",
                "allowedRoutes": {"kinds": [{"group": GROUP, "kind": "GRPCRoute"}]}},
            {"name": "ends", "port": 443, "protocol": "TLS", "tls": {"mode": "Terminate"}},
            {"name": "passes", "port": 444, "protocol": "TLS", "tls": {"mode": "Passthrough"}},
            {"name": "bytes", "port": 9000, "protocol": "TCP"},
            {"name": "more", "port": 9001, "protocol": "TCP"},
        ]);
        assert_eq!(told(&gateway, Traffic::Grpc).unwrap(), ["calls 81"]);
        assert_eq!(told(&gateway, Traffic::Tls).unwrap(), ["passes 444"]);
        assert_eq!(told(&gateway, Traffic::Tcp).unwrap(), ["bytes 9000", "more 9001"]);
        let why = told(&gateway, Traffic::Http).unwrap_err();
        for words in [
            "no listener for HTTP without a host name that takes HTTPRoutes",
            "named (HTTP at port 80, a.example)",
            "calls (HTTP at port 81, for GRPCRoute only)",
            "ends (TLS at port 443, Terminate)",
        ] {
            assert!(why.contains(words), "{why}");
        }
        assert_eq!(named(&gateway, "passes"), Some(("passes", 444)));
        let none = told(&json!({}), Traffic::Tcp).unwrap_err();
        assert!(none.ends_with("it has none"), "{none}");
    }

    #[test]
    fn bytes_have_a_listener_each() {
        let mut gateway = gateway();
        let listener =
            |name: &str, port: u16| json!({"name": name, "port": port, "protocol": "TCP"});
        gateway["spec"]["listeners"] =
            json!([listener("one", 9000), gateway["spec"]["listeners"][1], listener("two", 9001)]);
        let chosen = |gateway: &Value, wanted: &[Traffic]| {
            chosen(gateway, &place(), wanted.iter().copied(), is_free)
        };
        let name = |name: &str| -> Result<String, String> { Ok(name.to_owned()) };
        let all = [Traffic::Tcp, Traffic::Http, Traffic::Grpc, Traffic::Tcp];
        assert_eq!(chosen(&gateway, &all), ["one", "web", "web", "two"].map(name));
        let more = chosen(&gateway, &[Traffic::Tcp; 3]);
        assert_eq!(
            more[2].as_ref().unwrap_err(),
            "a TCPRoute takes all of a listener, and those for TCP of Gateway infra/public have \
             others: one, two"
        );
        gateway["status"]["listeners"] = json!([{"name": "one", "attachedRoutes": 1}]);
        assert_eq!(chosen(&gateway, &[Traffic::Tcp]), [name("two")]);
        // Others do not mind.
        gateway["status"]["listeners"] = json!([{"name": "web", "attachedRoutes": 7}]);
        assert_eq!(chosen(&gateway, &[Traffic::Http]), [name("web")]);
    }

    #[test]
    fn all_that_keeps_a_gateway_from_working_is_told() {
        let said = |kind: &str, status: &str, reason: &str| {
            json!({
                "type": kind, "status": status, "reason": reason, "message": "m",
                "observedGeneration": 2,
            })
        };
        let mut gateway = gateway();
        gateway["status"]["conditions"] = json!([
            said("Accepted", "False", "InvalidParameters"),
            said("Programmed", "Unknown", "Pending")
        ]);
        gateway["status"]["listeners"] = json!([
            {"name": "tls", "conditions": [said("Accepted", "False", "UnsupportedProtocol")]},
            {
                "name": "web",
                "conditions": [
                    said("Accepted", "True", "Accepted"), said("Programmed", "False", "Invalid"),
                ],
            },
        ]);
        assert_eq!(
            address(&gateway, &place(), "web", None).unwrap_err(),
            "Gateway infra/public is not Accepted: InvalidParameters (m); \
             Gateway infra/public is not Programmed: Pending (m); \
             listener web of Gateway infra/public is not Programmed: Invalid (m)"
        );
    }

    #[test]
    fn a_condition_that_nobody_answers_counts_only_beside_others() {
        let pending =
            json!({"type": "Accepted", "status": "Unknown", "reason": "Pending", "message": ""});
        let mut gateway = gateway();
        gateway["status"]["conditions"].as_array_mut().unwrap().push(pending);
        assert_eq!(address(&gateway, &place(), "web", None), Ok("10.0.0.9"));
        gateway["status"]["conditions"][1]["status"] = json!("False");
        let why = address(&gateway, &place(), "web", None).unwrap_err();
        assert!(why.contains("is not Accepted: Pending ()"), "{why}");
    }

    #[test]
    fn a_route_is_accepted_by_its_own_parent() {
        let place = place();
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
        let accepted = |route: &Value| accepted(route, "TLSRoute", &place);
        assert_eq!(accepted(&route("infra", "True")), Ok(()));
        let told = accepted(&route("infra", "False")).unwrap_err();
        assert!(told.starts_with("the TLSRoute at Gateway infra/public is not Accepted"), "{told}");
        assert!(told.ends_with("not Accepted: NotAllowedByListeners (no listener allows it)"));
        let told = accepted(&route("other", "True")).unwrap_err();
        assert!(told.contains("not Accepted: no controller has said so; "), "{told}");
        let mut both = route("infra", "False");
        let works = route("infra", "True")["status"]["parents"][0].clone();
        both["status"]["parents"].as_array_mut().unwrap().push(works);
        assert_eq!(accepted(&both), Ok(()));
    }
}
