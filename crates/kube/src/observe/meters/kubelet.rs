//! The kubelet's own summary of CPU and memory, in the form that has milliseconds.

use std::collections::BTreeMap;

use hopbench_sys::clock;
use hopbench_testbed::Metered;
use kube::Client;

use super::clocks::Clocks;
use super::exposition::samples;
use super::reading::Reading;
use super::target::{Container, MeterTarget};
use crate::api::http::answer;

const SOURCE: &str = "kubelet";

const NAMES: &[&str] = &[
    "container_cpu_usage_seconds_total",
    "container_memory_working_set_bytes",
    "node_cpu_usage_seconds_total",
    "node_memory_working_set_bytes",
    "pod_cpu_usage_seconds_total",
    "pod_memory_working_set_bytes",
];

/// Readings of a node, and of containers on it.
pub(super) async fn read(
    client: &Client,
    node: &str,
    targets: &[MeterTarget],
    clocks: &Clocks,
) -> Result<Vec<Metered>, String> {
    let asked = clock::wall();
    let answer = answer(client, &format!("/api/v1/nodes/{node}/proxy/metrics/resource")).await?;
    if let Some(told) = answer.date {
        clocks.see(node, told, asked, answer.began);
    }
    let text = answer.text;
    let readings = readings(&text)?;
    Ok(targets
        .iter()
        .filter_map(|target| {
            readings.get(&target.container).and_then(|reading| reading.of(target, SOURCE))
        })
        .collect())
}

/// By container, and by pod; absent: the node itself.
fn readings(text: &str) -> Result<BTreeMap<Option<Container>, Reading>, String> {
    let mut memory = BTreeMap::new();
    let mut found = BTreeMap::new();
    for sample in samples(text, NAMES) {
        let sample = sample?;
        // Of a whole pod no container is named.
        let of = (!sample.name.starts_with("node_")).then(|| Container {
            namespace: sample.label("namespace").to_owned(),
            pod: sample.label("pod").to_owned(),
            name: sample.label("container").to_owned(),
        });
        if !sample.name.contains("_cpu_") {
            memory.insert(of, sample.value);
        } else if let Some(at_ms) = sample.at_ms {
            found.insert(
                of,
                Reading { at_ms, cpu_s: sample.value, memory_bytes: None, throttled_s: None },
            );
        }
    }
    for (of, reading) in &mut found {
        reading.memory_bytes = memory.get(of).copied();
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a kubelet 1.34 gave it, shortened.
    const ANSWER: &str = "\
# HELP container_cpu_usage_seconds_total [STABLE] Cumulative cpu time consumed by the container in core-seconds
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{container=\"burn\",namespace=\"try\",pod=\"burn\"} 0.963225938 1795276902168
container_memory_working_set_bytes{container=\"burn\",namespace=\"try\",pod=\"burn\"} 466944 1795276902168
container_start_time_seconds{container=\"burn\",namespace=\"try\",pod=\"burn\"} 1.7952768973397949e+09
node_cpu_usage_seconds_total 28787.058975777 1795276866273
node_memory_working_set_bytes 3.125059584e+09 1795276866273
pod_cpu_usage_seconds_total{namespace=\"try\",pod=\"burn\"} 1.063795737 1795276902524
pod_memory_working_set_bytes{namespace=\"try\",pod=\"burn\"} 700416 1795276902524
resource_scrape_error 0
";

    #[test]
    fn containers_and_the_node_have_time_cpu_and_memory() {
        let found = readings(ANSWER).unwrap();
        let burn = Container { namespace: "try".into(), pod: "burn".into(), name: "burn".into() };
        let reading = |at_ms, cpu_s, bytes| Reading {
            at_ms,
            cpu_s,
            memory_bytes: Some(bytes),
            throttled_s: None,
        };
        let pod = Container { name: String::new(), ..burn.clone() };
        assert_eq!(found[&Some(pod)], reading(1_795_276_902_524, 1.063_795_737, 700_416.0));
        assert_eq!(found[&Some(burn)], reading(1_795_276_902_168, 0.963_225_938, 466_944.0));
        assert_eq!(found[&None], reading(1_795_276_866_273, 28_787.058_975_777, 3_125_059_584.0));
        assert_eq!(found.len(), 3);
    }
}
