//! Proof of a subject: its pods have the images and variables that it asks for.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::{MeshProvider, Proof, Subject};
use hopbench_testbed::placement::PodId;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use super::facts::ProofFacts;
use crate::api::labels::PROXY_IMAGE;
use crate::objects::containers::{AGENT, PROGRAM};
use crate::provision::built::Built;
use crate::provision::pod_status;

/// The images of a path's agents and proxies, with their digests, and the variables of its server
/// programs. What any subject changes is read for all of them, so that the records of each say what
/// it had. `None`: no subject changes any of them.
pub(super) fn proof(known: &ProofFacts<'_>) -> Option<Proof> {
    let ProofFacts { built, ends, servers, proxies, .. } = *known;
    let subject = ends.path.subject.as_ref()?;
    let settings = &built.placement.settings;
    let mut wanted: Vec<(&PodId, &str, Option<&str>)> = Vec::new();
    if settings.values().any(|own| own.agent.is_some()) {
        let pods = ends.clients.iter().chain(servers);
        wanted.extend(pods.map(|pod| (pod, AGENT, Some(built.agent_image(pod)))));
    }
    if settings.values().any(|own| own.proxy.is_some()) {
        let proxies = proxies.iter();
        wanted.extend(proxies.map(|(pod, container)| (pod, *container, built.proxy_image(pod))));
    }
    let pod = |id: &PodId| {
        let gone = || format!("the API server has no pod {id} any more");
        built.pods.get(id).ok_or_else(gone)
    };
    let image = |(id, container, image): (&PodId, &str, Option<&str>)| {
        has(pod(id)?, container, image, built.spec.mesh.provider)
    };
    let mut seen: Vec<Result<String, String>> = wanted.into_iter().map(image).collect();
    let names: BTreeSet<&String> = settings.values().flat_map(|own| own.env.keys()).collect();
    for id in servers.iter().filter(|id| id.program.is_some()) {
        let own = settings.get(id);
        let one = |name: &&String| variable(pod(id)?, name, own.and_then(|own| own.env.get(*name)));
        seen.extend(names.iter().map(one));
    }
    if seen.is_empty() {
        return None;
    }
    let (mut found, mut wrong) = (BTreeSet::new(), Vec::new());
    for one in seen {
        match one {
            Ok(text) => {
                found.insert(text);
            }
            Err(why) => wrong.push(why),
        }
    }
    let ok = wrong.is_empty();
    let evidence =
        if ok { found.into_iter().collect::<Vec<_>>().join(", ") } else { wrong.join("; ") };
    Some(Proof { hop: Subject::hop(subject), evidence, ok })
}

/// The image of a container, as the API server says it, or why it is not the one that was asked
/// for.
fn has(
    pod: &Pod,
    container: &str,
    wanted: Option<&str>,
    provider: MeshProvider,
) -> Result<String, String> {
    let name = pod.name_any();
    let (image, digest) = pod_status::image(pod, container)
        .filter(|(_, digest)| !digest.is_empty())
        .ok_or_else(|| format!("nobody says which image {container} of pod {name} has"))?;
    match wanted.filter(|wanted| *wanted != image) {
        None => Ok(format!("{container} {image} ({digest})")),
        Some(wanted) => {
            let is_injected = container != AGENT && provider == MeshProvider::Istio;
            let hint = if is_injected {
                format!("; does the mesh heed the annotation {PROXY_IMAGE}?")
            } else {
                String::new()
            };
            Err(format!("{container} of pod {name} has {image} ({digest}), not {wanted}{hint}"))
        }
    }
}

/// A variable of the server program of a pod, as the API server says it, or why it is not as it was
/// asked for.
fn variable(pod: &Pod, name: &str, wanted: Option<&String>) -> Result<String, String> {
    let mut containers = pod.spec.iter().flat_map(|spec| &spec.containers);
    let env = containers.find(|one| one.name == PROGRAM).and_then(|one| one.env.as_ref());
    // Of several with one name the last counts.
    let found = match env.into_iter().flatten().rev().find(|one| one.name == name) {
        None => Ok(None),
        Some(one) if one.value_from.is_some() => Err("taken from another object"),
        Some(one) => Ok(Some(one.value.as_deref().unwrap_or_default())),
    };
    let told = hopbench_testbed::variable(found, wanted.map(String::as_str));
    told.map(|told| format!("env {name} {told}")).map_err(|told| {
        format!(
            "env {name} of {PROGRAM} of pod {} is {told}; does `patch:` or an admission webhook \
             change it?",
            pod.name_any()
        )
    })
}

/// Images of different names that are the same one, a sentence each: subjects do not differ by
/// them. Nothing where no subject changes images.
pub(crate) fn alike(built: &Built) -> Vec<String> {
    let mut settings = built.placement.settings.values();
    match settings.any(|own| own.agent.is_some() || own.proxy.is_some()) {
        true => same(built.pods.values()),
        false => Vec::new(),
    }
}

fn same<'a>(pods: impl Iterator<Item = &'a Pod>) -> Vec<String> {
    let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for pod in pods {
        let spec = pod.spec.iter();
        let all = spec
            .flat_map(|spec| spec.containers.iter().chain(spec.init_containers.iter().flatten()));
        for (image, digest) in all.filter_map(|one| pod_status::image(pod, &one.name)) {
            names.entry(digest).or_default().insert(image);
        }
    }
    let several = names.into_iter().filter(|(digest, of)| !digest.is_empty() && of.len() > 1);
    let told = |(digest, of): (&str, BTreeSet<&str>)| {
        let of: Vec<&str> = of.into_iter().collect();
        format!("{} are the same image, {digest}: subjects do not differ by it", of.join(" and "))
    };
    several.map(told).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A pod with an agent and, as an init container that stays, a proxy.
    fn pod(agent: &str, proxy: &str) -> Pod {
        let one = |name: &str, image: &str| json!({"name": name, "image": image});
        let status = |name: &str, image: &str| {
            // The runtime may name an image otherwise.
            json!({
                "name": name, "image": "docker.io/other", "ready": true, "restartCount": 0,
                "imageID": image.split_once('@').map_or(image, |(_, digest)| digest),
            })
        };
        let name = |image: &str| image.split('@').next().unwrap_or_default().to_owned();
        let pod: Value = json!({
            "metadata": {"name": "pod-a"},
            "spec": {
                "containers": [one("agent", &name(agent))],
                "initContainers": [one("istio-proxy", &name(proxy))],
            },
            "status": {
                "containerStatuses": [status("agent", agent)],
                "initContainerStatuses": [status("istio-proxy", proxy)],
            },
        });
        serde_json::from_value(pod).unwrap()
    }

    #[test]
    fn a_container_has_the_image_that_was_asked_for_or_it_is_told_which() {
        let pod = pod("hopbench:b@sha256:1", "envoy:1@sha256:2");
        let seen = |container: &str, wanted: Option<&str>| {
            has(&pod, container, wanted, MeshProvider::Istio)
        };
        let agent = Ok("agent hopbench:b (sha256:1)".to_owned());
        assert_eq!(seen(AGENT, Some("hopbench:b")), agent);
        let told = seen("istio-proxy", Some("envoy:2")).unwrap_err();
        assert_eq!(
            told,
            "istio-proxy of pod pod-a has envoy:1 (sha256:2), not envoy:2; does the mesh heed the \
             annotation sidecar.istio.io/proxyImage?"
        );
        let chosen = Ok("istio-proxy envoy:1 (sha256:2)".to_owned());
        assert_eq!(seen("istio-proxy", None), chosen, "by the mesh");
        let told = seen(AGENT, Some("hopbench:a")).unwrap_err();
        assert_eq!(told, "agent of pod pod-a has hopbench:b (sha256:1), not hopbench:a");
        let told = seen("envoy-sidecar", Some("envoy:1")).unwrap_err();
        assert_eq!(told, "nobody says which image envoy-sidecar of pod pod-a has");
    }

    #[test]
    fn a_program_has_the_variables_that_were_asked_for_or_it_is_told_which() {
        let env = json!([
            {"name": "A", "value": "1"},
            {"name": "A", "value": "2"},
            {"name": "B"},
            {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        ]);
        let agent = json!({"name": "agent", "env": [{"name": "D", "value": "4"}]});
        let containers = [agent, json!({"name": "program", "env": env})];
        let pod: Value = json!({"metadata": {"name": "pod-b"}, "spec": {"containers": containers}});
        let pod: Pod = serde_json::from_value(pod).unwrap();
        let seen = |name: &str, wanted: Option<&str>| {
            variable(&pod, name, wanted.map(str::to_owned).as_ref())
        };
        assert_eq!(seen("A", Some("2")), Ok("env A 2".to_owned()));
        assert_eq!(seen("A", None), Ok("env A 2".to_owned()));
        assert_eq!(seen("B", Some("")), Ok("env B ".to_owned()));
        assert_eq!(seen("D", None), Ok("env D not set".to_owned()));
        for (name, found) in [("A", "2"), ("C", "taken from another object"), ("D", "not set")] {
            let told = format!(
                "env {name} of program of pod pod-b is {found}, expected 3; does `patch:` or an \
                 admission webhook change it?"
            );
            assert_eq!(seen(name, Some("3")), Err(told));
        }
    }

    #[test]
    fn names_of_one_image_are_told() {
        let (old, new) =
            (pod("a:1@sha256:1", "envoy@sha256:3"), pod("a:2@sha256:1", "envoy@sha256:3"));
        let told = "a:1 and a:2 are the same image, sha256:1: subjects do not differ by it";
        assert_eq!(same([&old, &new].into_iter()), [told]);
        let other = pod("a:2@sha256:2", "envoy@sha256:3");
        assert_eq!(same([&old, &other].into_iter()), [""; 0]);
    }
}
