//! The parts of a pod that change.

use serde_json::{Map, Value, json};

use crate::bootstrap::{self, METRICS, STATUS};
use crate::pod;
use crate::redirect::{self, PROXY};
use crate::wishes::Wishes;

const DONE: &str = "sidecar.istio.io/status";

/// What changes in a pod, as a JSON patch; nothing where Istio changes nothing either: the pod has
/// the node's network, or a sidecar already.
pub(crate) fn patch(pod: &Value) -> Result<Option<Value>, String> {
    let annotations = pod::annotations(pod);
    if pod["spec"]["hostNetwork"] == true || annotations.contains_key(DONE) {
        return Ok(None);
    }
    let wishes = Wishes::of(&annotations)?;
    let arguments = bootstrap::arguments(&pod::ports(pod), &wishes.outbound, wishes.concurrency);
    let proxy = proxy(&arguments, &wishes);
    let list = |name: &str| pod["spec"][name].as_array().cloned().unwrap_or_default();
    let (mut first, mut containers) = (list("initContainers"), list("containers"));
    let application = containers
        .first()
        .and_then(|container| container["name"].as_str())
        .unwrap_or_default()
        .to_owned();
    // The application's own init containers come after the redirect, as with Istio.
    first.insert(0, init(&wishes));
    let status = if wishes.first {
        first.insert(1, proxy);
        status(&["istio-init", "istio-proxy"], &[])
    } else {
        containers.push(proxy);
        status(&["istio-init"], &["istio-proxy"])
    };
    let own = "kubectl.kubernetes.io/default-container";
    let more = [
        (DONE, status.to_string()),
        ("istio.io/rev", "default".to_owned()),
        (own, annotations.get(own).map_or(application, |name| (*name).to_owned())),
        ("prometheus.io/scrape", "true".to_owned()),
        ("prometheus.io/port", METRICS.to_string()),
        ("prometheus.io/path", "/stats/prometheus".to_owned()),
    ];
    Ok(Some(json!([
        {
            "op": "add", "path": "/metadata/annotations",
            "value": with(&pod["metadata"]["annotations"], more),
        },
        {
            "op": "add", "path": "/metadata/labels",
            "value": with(&pod["metadata"]["labels"], labels(pod)),
        },
        {"op": "add", "path": "/spec/initContainers", "value": first},
        {"op": "add", "path": "/spec/containers", "value": containers},
    ])))
}

fn with<const N: usize>(there: &Value, more: [(&str, String); N]) -> Map<String, Value> {
    let mut all = there.as_object().cloned().unwrap_or_default();
    all.extend(more.map(|(name, value)| (name.to_owned(), value.into())));
    all
}

fn labels(pod: &Value) -> [(&'static str, String); 2] {
    let label = |names: [&str; 2], otherwise: &str| {
        let said = names.iter().find_map(|name| pod["metadata"]["labels"][*name].as_str());
        said.unwrap_or(otherwise).to_owned()
    };
    let name = pod["metadata"]["name"].as_str().unwrap_or("unknown");
    let canonical = "service.istio.io/canonical-name";
    let revision = "service.istio.io/canonical-revision";
    [
        (canonical, label([canonical, "app"], name)),
        (revision, label([revision, "version"], "latest")),
    ]
}

fn status(first: &[&str], containers: &[&str]) -> Value {
    json!({
        "initContainers": first,
        "containers": containers,
        "volumes": null,
        "imagePullSecrets": null,
        "revision": "default",
    })
}

/// Sets the redirect, and ends.
fn init(wishes: &Wishes) -> Value {
    json!({
        "name": "istio-init",
        "image": "hopbench.test/init:1",
        "imagePullPolicy": "IfNotPresent",
        "command": [
            "/bin/sh",
            "-ec",
            "printf '%s' \"$RULES\" | iptables-restore --noflush && iptables-save -t nat",
        ],
        "env": [
            {"name": "RULES", "value": redirect::rules(wishes)},
            // Where nobody but this looks, and gVisor can lock.
            {"name": "XTABLES_LOCKFILE", "value": "/tmp/xtables.lock"},
        ],
        "resources": wishes.resources,
        "securityContext": {
            "runAsUser": 0,
            "runAsGroup": 0,
            "runAsNonRoot": false,
            "privileged": false,
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": false,
            "capabilities": {"drop": ["ALL"], "add": ["NET_ADMIN", "NET_RAW"]},
        },
    })
}

fn proxy(arguments: &[String], wishes: &Wishes) -> Value {
    let asked = json!({"path": "/healthz/ready", "port": STATUS});
    let mut container = json!({
        "name": "istio-proxy",
        "image": wishes.image,
        "imagePullPolicy": "IfNotPresent",
        "args": arguments,
        "ports": [{"name": "http-envoy-prom", "containerPort": METRICS, "protocol": "TCP"}],
        "resources": wishes.resources,
        "startupProbe": {
            "httpGet": asked, "periodSeconds": 1, "timeoutSeconds": 3, "failureThreshold": 600,
        },
        "readinessProbe": {
            "httpGet": asked, "periodSeconds": 15, "timeoutSeconds": 3, "failureThreshold": 4,
        },
        "securityContext": {
            "runAsUser": PROXY,
            "runAsGroup": PROXY,
            "runAsNonRoot": true,
            "privileged": false,
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
        },
    });
    if wishes.first {
        container["restartPolicy"] = "Always".into();
    }
    container
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(pod: &Value, path: &str) -> Value {
        let patch = patch(pod).unwrap().unwrap();
        patch.as_array().unwrap().iter().find(|one| one["path"] == path).unwrap()["value"].clone()
    }

    fn pod(annotations: &Value) -> Value {
        json!({
            "metadata": {"name": "web-0", "labels": {"app": "web"}, "annotations": annotations},
            "spec": {"containers": [{"name": "app"}], "initContainers": [{"name": "own"}]},
        })
    }

    fn names(list: &Value) -> Vec<&str> {
        list.as_array()
            .unwrap()
            .iter()
            .map(|container| container["name"].as_str().unwrap())
            .collect()
    }

    #[test]
    fn the_redirect_is_set_before_anything_of_the_pod_runs() {
        let pod = pod(&json!({}));
        assert_eq!(names(&patched(&pod, "/spec/initContainers")), ["istio-init", "own"]);
        assert_eq!(names(&patched(&pod, "/spec/containers")), ["app", "istio-proxy"]);
    }

    #[test]
    fn a_sidecar_that_is_to_be_first_is_an_init_container_that_stays() {
        let pod = pod(&json!({"sidecar.istio.io/nativeSidecar": "true"}));
        let first = patched(&pod, "/spec/initContainers");
        assert_eq!(names(&first), ["istio-init", "istio-proxy", "own"]);
        assert_eq!(first[1]["restartPolicy"], "Always");
        assert_eq!(names(&patched(&pod, "/spec/containers")), ["app"]);
    }

    #[test]
    fn what_was_there_stays() {
        let pod = pod(
            &json!({"own/annotation": "x", "kubectl.kubernetes.io/default-container": "other"}),
        );
        let annotations = patched(&pod, "/metadata/annotations");
        assert_eq!(annotations["own/annotation"], "x");
        assert_eq!(annotations["kubectl.kubernetes.io/default-container"], "other");
        let status: Value = serde_json::from_str(annotations[DONE].as_str().unwrap()).unwrap();
        assert_eq!(status["containers"], json!(["istio-proxy"]));
        let labels = patched(&pod, "/metadata/labels");
        assert_eq!(
            (&labels["app"], &labels["service.istio.io/canonical-name"]),
            (&json!("web"), &json!("web"))
        );
    }

    #[test]
    fn limits_and_workers_are_those_of_the_annotations() {
        let config = json!({
            "sidecar.istio.io/proxyCPULimit": "1500m", "proxy.istio.io/config": "concurrency: 1",
        });
        let proxy = &patched(&pod(&config), "/spec/containers")[1];
        assert_eq!(proxy["resources"], json!({"limits": {"cpu": "1500m"}}));
        let arguments: Vec<&str> =
            proxy["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
        let at = arguments.iter().position(|one| *one == "--concurrency").unwrap();
        assert_eq!(arguments[at + 1], "1");
    }

    #[test]
    fn the_image_is_that_of_the_annotation() {
        let asked = json!({"sidecar.istio.io/proxyImage": "example.org/proxy:2"});
        let images = [json!({}), asked]
            .map(|annotations| patched(&pod(&annotations), "/spec/containers")[1]["image"].clone());
        assert_eq!(images, ["hopbench.test/envoy:1", "example.org/proxy:2"]);
    }

    #[test]
    fn who_has_a_sidecar_gets_no_second_one() {
        assert_eq!(patch(&pod(&json!({DONE: "{}"}))).unwrap(), None);
    }
}
