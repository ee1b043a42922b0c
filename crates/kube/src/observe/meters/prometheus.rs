//! Prometheus: the last sample that it keeps of the kubelets' cAdvisor, with the time of that
//! sample.
//!
//! Raw samples are asked for, not rates. Their difference over a trial is exact, and has a window
//! of its own. The time is cAdvisor's, unless Prometheus puts its own there
//! (`honor_timestamps: false`). That is later by up to cAdvisor's interval.

mod answer;
mod service;

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::PrometheusSpec;
use hopbench_testbed::Metered;
use kube::{Client, Config};

use self::answer::{Series, series};
use super::reading::Reading;
use super::target::{MeterTarget, pod_of};
use crate::api::access::client_of;
use crate::api::http::get;

const SOURCE: &str = "prometheus";

/// CPU time, memory in use, and time for which a limit held a container back.
const METRICS: &str = "container_cpu_usage_seconds_total|container_memory_working_set_bytes|\
                       container_cpu_cfs_throttled_seconds_total";

/// The age limit of a last sample: two scrapes of the slowest that are usual.
const BACK: &str = "3m";

/// Readings of all targets.
pub(super) async fn read(
    client: &Client,
    spec: &PrometheusSpec,
    targets: &[MeterTarget],
) -> Result<Vec<Metered>, String> {
    let mut found = Vec::new();
    for query in queries(targets) {
        let path = format!(
            "/api/v1/query?{}",
            form_urlencoded::Serializer::new(String::new()).append_pair("query", &query).finish()
        );
        let text = match spec {
            PrometheusSpec::Url(url) => get(&at(url)?, &path).await?,
            PrometheusSpec::Service { namespace, name, port } => {
                service::get(client, namespace, name, *port, &path).await?
            }
        };
        found.extend(series(&text)?);
    }
    let read = |target: &MeterTarget| {
        let of_cgroup = reading(&found, target, true).or_else(|| {
            let pod = MeterTarget { container: Some(pod_of(target, targets)?), ..target.clone() };
            reading(&found, &pod, true)
        });
        of_cgroup.or_else(|| reading(&found, target, false))
    };
    Ok(targets.iter().filter_map(|target| read(target)?.of(target, SOURCE)).collect())
}

/// One query for the containers of each namespace, and one for the nodes.
fn queries(targets: &[MeterTarget]) -> Vec<String> {
    let mut pods: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for container in targets.iter().filter_map(|target| target.container.as_ref()) {
        pods.entry(&container.namespace).or_default().insert(&container.pod);
    }
    let of_pods = |(namespace, pods): (&str, BTreeSet<&str>)| {
        let pods = pods.into_iter().collect::<Vec<_>>().join("|");
        let these = format!(r#"namespace="{namespace}",pod=~"{pods}",container!="POD""#);
        format!(r#"{{__name__=~"{METRICS}",{these}}}[{BACK}]"#)
    };
    let mut queries: Vec<String> = pods.into_iter().map(of_pods).collect();
    if targets.iter().any(|target| target.container.is_none()) {
        queries.push(format!(r#"{{__name__=~"{METRICS}",id="/"}}[{BACK}]"#));
    }
    queries
}

fn at(url: &str) -> Result<Client, String> {
    let uri: http::Uri = url
        .parse()
        .map_err(|e| format!("found the URL `{url}`, expected http://HOST:PORT: {e}"))?;
    let mut config = Config::new(uri);
    config.default_retry = false;
    client_of(config).map_err(|e| format!("{url}: {e}"))
}

/// A target's last sample: of its cgroup, which is cAdvisor's, or of whatever else was scraped.
fn reading(found: &[Series], target: &MeterTarget, of_cgroup: bool) -> Option<Reading> {
    let of_target = found.iter().filter(|series| is_of(series, target));
    let is_cpu = |series: &&Series| {
        let is_whole = matches!(series.label("cpu"), "total" | "");
        series.name == "container_cpu_usage_seconds_total"
            && is_whole
            && series.label("id").is_empty() != of_cgroup
    };
    // Where several jobs scrape the same figure, the last one is the freshest.
    let cpu = of_target.clone().filter(is_cpu).max_by_key(|series| series.at_ms)?;
    let beside = |name: &str| {
        let same = |series: &&Series| {
            series.name == name
                && ["id", "job", "instance", "metrics_path"]
                    .iter()
                    .all(|label| series.label(label) == cpu.label(label))
        };
        of_target.clone().find(same).map(|series| series.value)
    };
    Some(Reading {
        at_ms: cpu.at_ms,
        cpu_s: cpu.value,
        memory_bytes: beside("container_memory_working_set_bytes"),
        throttled_s: beside("container_cpu_cfs_throttled_seconds_total"),
    })
}

fn is_of(series: &Series, target: &MeterTarget) -> bool {
    match &target.container {
        Some(container) => {
            [
                ("namespace", &container.namespace), ("pod", &container.pod),
                ("container", &container.name),
            ]
                .iter()
                .all(|(label, value)| series.label(label) == value.as_str())
                // What a runtime made has a name there: the pause, which is no pod.
                && (!container.name.is_empty() || series.label("name").is_empty())
        }
        // The label with the node's name depends on the configuration of Prometheus.
        None => {
            series.label("id") == "/"
                && (["node", "kubernetes_io_hostname", "kubernetes_node", "instance"]
                    .iter()
                    .any(|label| series.label(label) == target.node)
                    || series
                        .label("instance")
                        .rsplit_once(':')
                        .is_some_and(|(host, _)| host == target.node))
        }
    }
}

#[cfg(test)]
mod tests {
    use hopbench_testbed::MeteredKind;

    use super::*;
    use crate::observe::meters::target::Container;

    fn target(pod: Option<&str>) -> MeterTarget {
        let container = pod.map(|pod| Container {
            namespace: "try".into(),
            pod: pod.into(),
            name: "burn".into(),
        });
        let what = if pod.is_some() { MeteredKind::Agent } else { MeteredKind::Node };
        MeterTarget { who: "a".into(), what, node: "n2".into(), container }
    }

    #[test]
    fn a_namespace_is_asked_for_once() {
        let queries =
            queries(&[target(Some("p")), target(Some("q")), target(Some("p")), target(None)]);
        assert_eq!(queries.len(), 2);
        assert!(queries[0].contains(r#"namespace="try",pod=~"p|q""#), "{}", queries[0]);
        assert!(queries[1].contains(r#"id="/""#), "{}", queries[1]);
    }

    #[test]
    fn the_reading_is_the_last_of_cadvisor() {
        let sample = |name: &str, labels: &[(&str, &str)], at_ms, value| Series {
            name: name.into(),
            labels: labels.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            at_ms,
            value,
        };
        let of = |id: &'static str| {
            let mut labels =
                vec![("namespace", "try"), ("pod", "p"), ("container", "burn"), ("job", "kubelet")];
            if !id.is_empty() {
                labels.push(("id", id));
            }
            labels
        };
        let cpu = "container_cpu_usage_seconds_total";
        let found = [
            sample(cpu, &of(""), 9_000, 99.0),
            sample(cpu, &of("/old"), 5_000, 7.0),
            sample(cpu, &of("/new"), 6_000, 1.0),
            sample("container_cpu_cfs_throttled_seconds_total", &of("/old"), 5_000, 3.0),
            sample("container_cpu_cfs_throttled_seconds_total", &of("/new"), 6_000, 0.5),
            sample("container_memory_working_set_bytes", &of("/new"), 6_000, 4096.0),
            sample(cpu, &[("id", "/"), ("instance", "n1:10250")], 4_000, 1.0),
            sample(cpu, &[("id", "/"), ("instance", "n2:10250")], 4_000, 2.0),
        ];
        let read = reading(&found, &target(Some("p")), true).unwrap();
        let expected = Reading {
            at_ms: 6_000,
            cpu_s: 1.0,
            memory_bytes: Some(4096.0),
            throttled_s: Some(0.5),
        };
        assert_eq!(read, expected);
        assert_eq!(reading(&found, &target(Some("p")), false).unwrap().cpu_s, 99.0);
        assert_eq!(reading(&found, &target(None), true).unwrap().cpu_s, 2.0);
        assert_eq!(reading(&found, &target(Some("q")), true), None);
    }
}
