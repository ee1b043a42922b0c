//! cAdvisor, which every kubelet has in it: CPU time, memory, and how long limits held containers
//! back.

use std::collections::BTreeMap;

use hopbench_testbed::Metered;
use kube::Client;

use super::exposition::{Sample, samples};
use super::reading::Reading;
use super::target::{Container, MeterTarget, pod_of};
use crate::api::http::get;

const SOURCE: &str = "cadvisor";

const CPU: &str = "container_cpu_usage_seconds_total";
const MEMORY: &str = "container_memory_working_set_bytes";
const THROTTLED: &str = "container_cpu_cfs_throttled_seconds_total";

/// Readings of a node, and of containers on it.
pub(super) async fn read(
    client: &Client,
    node: &str,
    targets: &[MeterTarget],
) -> Result<Vec<Metered>, String> {
    let text = get(client, &format!("/api/v1/nodes/{node}/proxy/metrics/cadvisor")).await?;
    let readings = readings(&text)?;
    Ok(targets
        .iter()
        .filter_map(|target| {
            let own = readings.get(&target.container);
            own.or_else(|| readings.get(&Some(pod_of(target, targets)?)))?.of(target, SOURCE)
        })
        .collect())
}

/// By container, and by pod; absent: the node itself, which has the root cgroup.
fn readings(text: &str) -> Result<BTreeMap<Option<Container>, Reading>, String> {
    let mut by_group: BTreeMap<String, (Option<Container>, Reading)> = BTreeMap::new();
    let mut rest: Vec<Sample<'_>> = Vec::new();
    for sample in samples(text, &[CPU, MEMORY, THROTTLED]) {
        let sample = sample?;
        let Some(of) = subject(&sample) else { continue };
        match (sample.name, sample.at_ms) {
            (CPU, Some(at_ms)) if matches!(sample.label("cpu"), "total" | "") => {
                let reading =
                    Reading { at_ms, cpu_s: sample.value, memory_bytes: None, throttled_s: None };
                by_group.insert(sample.label("id").to_owned(), (of, reading));
            }
            (CPU, _) => {}
            _ => rest.push(sample),
        }
    }
    for sample in rest {
        if let Some((_, reading)) = by_group.get_mut(sample.label("id")) {
            let figure = if sample.name == MEMORY {
                &mut reading.memory_bytes
            } else {
                &mut reading.throttled_s
            };
            *figure = Some(sample.value);
        }
    }
    let mut found: BTreeMap<Option<Container>, Reading> = BTreeMap::new();
    for (of, reading) in by_group.into_values() {
        // A container that was started again stands there twice for a while: the one before is read
        // no more.
        if found.get(&of).is_none_or(|other| other.at_ms < reading.at_ms) {
            found.insert(of, reading);
        }
    }
    Ok(found)
}

/// The container that a sample is about; absent: cgroups between the node and pods, and the pods'
/// pauses.
fn subject(sample: &Sample<'_>) -> Option<Option<Container>> {
    if sample.label("id") == "/" {
        return Some(None);
    }
    let container = Container {
        namespace: sample.label("namespace").to_owned(),
        pod: sample.label("pod").to_owned(),
        name: sample.label("container").to_owned(),
    };
    // What a runtime made has a name there; the cgroup of a pod is the kubelet's.
    let is_pause =
        container.name == "POD" || container.name.is_empty() && !sample.label("name").is_empty();
    if container.pod.is_empty() || is_pause { None } else { Some(Some(container)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As cAdvisor of a kubelet 1.34 gave it, shortened; the first two containers are one that was
    /// started again.
    const ANSWER: &str = r#"
container_cpu_cfs_throttled_seconds_total{container="burn",id="/k/pod1/old",image="b:1",name="old",namespace="try",pod="burn"} 9 1795276901000
container_cpu_cfs_throttled_seconds_total{container="burn",id="/k/pod1/new",image="b:1",name="new",namespace="try",pod="burn"} 2.562602815 1795276902524
container_cpu_usage_seconds_total{container="burn",cpu="total",id="/k/pod1/old",image="b:1",name="old",namespace="try",pod="burn"} 7 1795276901000
container_cpu_usage_seconds_total{container="burn",cpu="total",id="/k/pod1/new",image="b:1",name="new",namespace="try",pod="burn"} 0.963225938 1795276902168
container_cpu_usage_seconds_total{container="burn",cpu="cpu00",id="/k/pod1/new",image="b:1",name="new",namespace="try",pod="burn"} 0.5 1795276902168
container_cpu_usage_seconds_total{container="",cpu="total",id="/k/pod1/pause",image="pause:1",name="pause",namespace="try",pod="burn"} 0.01 1795276901000
container_cpu_usage_seconds_total{container="",cpu="total",id="/k/pod1",image="",name="",namespace="try",pod="burn"} 0.97 1795276902524
container_cpu_usage_seconds_total{container="",cpu="total",id="/k",image="",name="",namespace="",pod=""} 0.38 1795276858936
container_cpu_usage_seconds_total{container="",cpu="total",id="/",image="",name="",namespace="",pod=""} 28787.058975777 1795276866273
container_memory_working_set_bytes{container="",id="/",image="",name="",namespace="",pod=""} 3.125059584e+09 1795276866273
container_memory_working_set_bytes{container="burn",id="/k/pod1/new",image="b:1",name="new",namespace="try",pod="burn"} 466944 1795276902168
"#;

    #[test]
    fn a_container_is_the_one_that_is_read_still() {
        let found = readings(ANSWER).unwrap();
        let burn = Container { namespace: "try".into(), pod: "burn".into(), name: "burn".into() };
        let pod = Container { name: String::new(), ..burn.clone() };
        assert_eq!(
            found.keys().cloned().collect::<Vec<_>>(),
            [None, Some(pod.clone()), Some(burn.clone())]
        );
        assert_eq!(found[&Some(pod)].cpu_s, 0.97);
        let reading = found[&Some(burn)];
        assert_eq!((reading.at_ms, reading.cpu_s), (1_795_276_902_168, 0.963_225_938));
        assert_eq!(
            (reading.memory_bytes, reading.throttled_s),
            (Some(466_944.0), Some(2.562_602_815))
        );
        assert_eq!((found[&None].cpu_s, found[&None].throttled_s), (28_787.058_975_777, None));
    }
}
