//! The check for Prometheus.

use hopbench_model::PrometheusSpec;

use hopbench_testbed::Finding;

use crate::doctor::check::Check;
use crate::doctor::inventory::{Inventory, ServiceFound};

pub(super) const CHECK: Check =
    Check { name: "Prometheus", needed_for: "its figures beside the others", judge };

fn judge(inventory: &Inventory) -> Finding {
    if let Some(named) = &inventory.spec.prometheus {
        let named = match named {
            PrometheusSpec::Url(url) => url.clone(),
            PrometheusSpec::Service { namespace, name, port } => {
                format!("{namespace}/{name}:{port}")
            }
        };
        if let Some(note) = inventory.notes.iter().find(|note| note.starts_with("Prometheus")) {
            return Finding::missing(
                format!("{named}: {note}"),
                "look at `prometheus:` of the testbed",
            );
        }
        if !inventory.readings.iter().any(|read| read.source == "prometheus") {
            let found = format!("{named} answers, and knows nothing of the nodes");
            return Finding::limited(found, "let it scrape the kubelets' /metrics/cadvisor");
        }
        return Finding::works(format!("{named} knows the nodes"));
    }
    match &inventory.services {
        Err(why) => Finding::limited(
            format!("not known: {why}"),
            "name it under `prometheus:` if there is one",
        ),
        Ok(services) => match services.iter().find(|service| is_prometheus(service)) {
            Some(service) => {
                let port = service
                    .ports
                    .iter()
                    .copied()
                    .find(|port| *port == 9090)
                    .or_else(|| service.ports.first().copied());
                let at = format!("{}/{}:{}", service.namespace, service.name, port.unwrap_or(9090));
                Finding::limited(
                    format!("found {at}"),
                    format!("`prometheus: {{service: {at}}}` of the testbed uses it"),
                )
            }
            None => Finding::limited(
                "none found",
                "nothing needs it; the kubelets are asked all the same",
            ),
        },
    }
}

/// By its label, or by its name; not what only belongs to it.
fn is_prometheus(service: &ServiceFound) -> bool {
    let named = ["prometheus", "prometheus-server", "prometheus-k8s", "prometheus-operated"];
    service.app == "prometheus" && !service.ports.is_empty()
        || named.contains(&service.name.as_str())
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::State;

    use super::*;

    #[test]
    fn one_that_is_found_is_offered() {
        let mut inventory = Inventory::fine();
        inventory.spec.prometheus = None;
        assert_eq!(judge(&inventory).found, "none found");
        let service = |name: &str, app: &str, ports: &[i32]| ServiceFound {
            namespace: "monitoring".into(),
            name: name.into(),
            app: app.into(),
            ports: ports.to_vec(),
        };
        inventory.services = Ok(vec![
            service("prometheus-node-exporter", "node-exporter", &[9100]),
            service("prom", "prometheus", &[8080, 9090]),
        ]);
        let found = judge(&inventory);
        assert_eq!(
            (found.state, found.found.as_str()),
            (State::Limited, "found monitoring/prom:9090")
        );
        assert!(found.remedy.contains("prometheus: {service: monitoring/prom:9090}"), "{found:?}");
    }

    #[test]
    fn one_that_is_named_has_to_answer() {
        let mut inventory = Inventory::fine();
        inventory.spec.prometheus = Some(PrometheusSpec::Url("http://p:9090".into()));
        assert_eq!(judge(&inventory).state, State::Limited);
        inventory.notes = vec!["Prometheus gave no readings: refused".into()];
        assert_eq!(judge(&inventory).state, State::Missing);
    }
}
