//! The words of Gateways and HTTPRoutes about themselves: conditions, listeners, addresses.

use hopbench_model::ParentGateway;
use serde_json::Value;

/// The first listener that takes HTTP for every host name: its name and port.
pub(super) fn listener<'a>(
    gateway: &'a Value,
    place: &ParentGateway,
) -> Result<(&'a str, u64), String> {
    let listeners = gateway["spec"]["listeners"].as_array();
    let fits = |listener: &&Value| {
        let host = listener["hostname"].as_str().unwrap_or_default();
        listener["protocol"] == "HTTP" && host.is_empty()
    };
    listeners
        .and_then(|all| all.iter().find(fits))
        .and_then(|listener| Some((listener["name"].as_str()?, listener["port"].as_u64()?)))
        .ok_or_else(|| format!("Gateway {place} has no listener for HTTP without a host name"))
}

/// Whether that listener takes routes of this namespace; `None`: of one that is still to be made.
/// What a selector chooses is not known.
pub(crate) fn takes_routes_of(
    gateway: &Value,
    place: &ParentGateway,
    namespace: Option<&str>,
) -> bool {
    let Ok((name, _)) = listener(gateway, place) else { return false };
    let mut all = gateway["spec"]["listeners"].as_array().into_iter().flatten();
    let found = all.find(|one| one["name"] == name);
    let from = found.and_then(|one| one["allowedRoutes"]["namespaces"]["from"].as_str());
    match from.unwrap_or("Same") {
        "All" => true,
        "Same" => namespace == Some(place.namespace.as_str()),
        _ => false,
    }
}

/// Address and port of a Gateway that works. If it does not: all that it and its listener say.
pub(crate) fn entrance<'a>(
    gateway: &'a Value,
    place: &ParentGateway,
) -> Result<(&'a str, u64), String> {
    let who = format!("Gateway {place}");
    let (name, port) = listener(gateway, place)?;
    let status = &gateway["status"];
    let listeners = status["listeners"].as_array();
    let of_listener = listeners.and_then(|all| all.iter().find(|one| one["name"] == name));
    let of_listener = &of_listener.unwrap_or(&Value::Null)["conditions"];
    let (own, its) = (&status["conditions"], format!("listener {name} of {who}"));
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
    let address = status["addresses"][0]["value"].as_str();
    let address = address.ok_or_else(|| format!("{who} has no address in its status"))?;
    Ok((address, port))
}

/// Whether this parent has accepted the route, and knows its Service.
pub(super) fn accepted(route: &Value, place: &ParentGateway) -> Result<(), String> {
    let of_parent = |said: &&Value| {
        let about = &said["parentRef"];
        about["name"] == *place.name && about["namespace"] == *place.namespace
    };
    let who = format!("the HTTPRoute at Gateway {place}");
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
            entrance(&gateway, &place).map(|(address, port)| format!("{address} {port}"))
        };
        assert_eq!(told(&|_| {}).unwrap(), "10.0.0.9 80");
        let none = told(&|g| g["status"]["addresses"] = json!([]));
        assert_eq!(none.unwrap_err(), "Gateway infra/public has no address in its status");
        let stale = told(&|g| g["metadata"]["generation"] = json!(3));
        assert!(stale.unwrap_err().contains("has not seen the last change"));
        let named = told(&|g| g["spec"]["listeners"][1]["hostname"] = json!("a.example"));
        assert!(named.unwrap_err().contains("no listener for HTTP"));
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
            entrance(&gateway, &place()).unwrap_err(),
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
        assert_eq!(entrance(&gateway, &place()), Ok(("10.0.0.9", 80)));
        gateway["status"]["conditions"][1]["status"] = json!("False");
        assert!(entrance(&gateway, &place()).unwrap_err().contains("is not Accepted: Pending ()"));
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
        assert_eq!(accepted(&route("infra", "True"), &place), Ok(()));
        let told = accepted(&route("infra", "False"), &place).unwrap_err();
        assert!(told.ends_with("not Accepted: NotAllowedByListeners (no listener allows it)"));
        let told = accepted(&route("other", "True"), &place).unwrap_err();
        assert!(told.contains("not Accepted: no controller has said so; "), "{told}");
        let mut both = route("infra", "False");
        let works = route("infra", "True")["status"]["parents"][0].clone();
        both["status"]["parents"].as_array_mut().unwrap().push(works);
        assert_eq!(accepted(&both, &place), Ok(()));
    }
}
