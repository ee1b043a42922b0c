//! The Ingresses that a run makes, and what their status says.

use hopbench_model::{IpFamily, Proof};
use kube::Client;
use serde_json::Value;
use tokio::time::Instant;

use super::classes::ClassKind;
use super::wait::{ATTACH, still, until_it_works};
use crate::api::access::{Access, explain};
use crate::api::client::Api;
use crate::api::create::create;
use crate::api::labels::RunIdentity;
use crate::objects::service::ingress::{VERSION, ingress};
use crate::objects::service::route::{Destination, host_name};
use crate::plan::gateways::IngressGateway;
use crate::provision::target::{bracketed, is_of_another, no_address};

/// Makes the Ingress of a Service, and waits until it has an address: address and port, or why
/// there is none.
pub(super) async fn attached(
    client: &Client,
    run: &RunIdentity,
    gateway: &IngressGateway,
    to: Destination<'_>,
    until: Instant,
) -> Result<String, String> {
    let Destination { service, port, family, .. } = to;
    let wanted = ingress(run, &gateway.class, &host_name(run, service), service, port);
    let made = create(&ingresses(client, run), &wanted, until).await;
    made.map_err(|e| format!("no Ingress {service}: {}", explain(&e)))?;
    let began = Instant::now();
    // The pods may have taken most of the time.
    until_it_works(began, began + ATTACH, || look(client, run, gateway, (service, family))).await
}

/// Where the Ingress of a Service is reached now.
async fn look(
    client: &Client,
    run: &RunIdentity,
    gateway: &IngressGateway,
    (service, family): (&str, Option<IpFamily>),
) -> Result<String, String> {
    let found = ingresses(client, run).get(service).await;
    let found = found.map_err(|e| format!("no Ingress {service}: {}", explain(&e)))?;
    match &gateway.address {
        Some(address) => Ok(address.clone()),
        None => entrance(&found, family).ok_or_else(|| {
            let who = format!("the Ingress {service} of class {}", gateway.class);
            format!("{} in its status", no_address(&who, family))
        }),
    }
}

/// The first address in an Ingress's status, of this family or a name. Its controllers take HTTP at
/// port 80.
fn entrance(ingress: &Value, family: Option<IpFamily>) -> Option<String> {
    let all = ingress["status"]["loadBalancer"]["ingress"].as_array().into_iter().flatten();
    let mut all = all.flat_map(|one| [&one["ip"], &one["hostname"]]).filter_map(Value::as_str);
    let address = all.find(|one| !is_of_another(one.parse().ok(), family))?;
    Some(format!("{}:80", bracketed(address)))
}

/// The classes of Ingresses, which have no status.
pub(super) const INGRESS_CLASS: ClassKind = ClassKind {
    name: "IngressClass",
    version: VERSION,
    resource: "ingressclasses",
    key: "ingress",
    denied: |_, _| None,
};

/// Whether the Ingress is there and has an address. It has no conditions that could say more.
pub(super) fn prove(
    access: &Access,
    run: &RunIdentity,
    gateway: &IngressGateway,
    (service, family): (&str, Option<IpFamily>),
    entered: &str,
) -> Proof {
    let asked = async { Ok(look(&access.client, run, gateway, (service, family)).await) };
    let found = access.ask("the Ingress", asked).map_err(|fault| fault.text).flatten();
    let found = found.and_then(|at| still(at, entered));
    let ok = found.is_ok();
    let class = &gateway.class;
    let evidence = found
        .map_or_else(|why| why, |at| format!("Ingress {service} ({at}) of class {class} is there"));
    Proof { hop: "gateway".to_owned(), evidence, ok }
}

fn ingresses(client: &Client, run: &RunIdentity) -> Api<Value> {
    Api::others(client.clone(), VERSION, &run.namespace, "ingresses")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_address_is_the_first_of_the_status() {
        let of = |status: Value| json!({"status": {"loadBalancer": status}});
        let told = |status: Value| entrance(&of(status), None);
        let both =
            json!({"ingress": [{"ip": "10.0.0.9", "hostname": "a.example"}, {"ip": "10.0.0.8"}]});
        assert_eq!(told(both.clone()).unwrap(), "10.0.0.9:80");
        let by_ipv6 = |status: Value| entrance(&of(status), Some(IpFamily::Ipv6));
        assert_eq!(by_ipv6(both).unwrap(), "a.example:80", "a name may have both families");
        let dual = json!({"ingress": [{"ip": "10.0.0.9"}, {"ip": "fd00::9"}]});
        assert_eq!(by_ipv6(dual).unwrap(), "[fd00::9]:80");
        assert_eq!(by_ipv6(json!({"ingress": [{"ip": "10.0.0.9"}]})), None);
        assert_eq!(told(json!({"ingress": [{"ip": "fd00::9"}]})).unwrap(), "[fd00::9]:80");
        assert_eq!(told(json!({"ingress": [{"hostname": "a.example"}]})).unwrap(), "a.example:80");
        assert_eq!(told(json!({})), None);
    }
}
