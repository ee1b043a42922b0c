//! Tests of the doctor, on the cluster that the tests made.

use std::sync::{Mutex, PoisonError};

use hopbench_kube::doctor::{Finding, State, examine};
use hopbench_model::{MeshProvider, PrometheusSpec, Via};
use hopbench_testbed::Testbed;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use serde_json::json;

use crate::common::{Ground, ground, path, plan, spec};

/// kube-proxy's configuration: one test looks at it, another one writes it.
static KUBE_PROXY: Mutex<()> = Mutex::new(());

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn the_cluster_is_told_as_it_is() {
    let Some(ground) = ground("doctor") else { return };
    let _held = KUBE_PROXY.lock().unwrap_or_else(PoisonError::into_inner);
    let mut spec = spec();
    let lines = examine(&ground.access, &spec);
    let of = |name: &str| -> Finding {
        lines.iter().find(|(known, ..)| *known == name).expect(name).2.clone()
    };
    for (name, needed_for, finding) in &lines {
        assert!(!finding.found.is_empty() && !needed_for.is_empty(), "{name}");
        assert_eq!(finding.state == State::Works, finding.remedy.is_empty(), "{name}: {finding:?}");
    }
    assert!(of("cluster").found.starts_with("Kubernetes v1."), "{lines:?}");
    let nodes = of("nodes");
    assert!(nodes.found.starts_with("n1: v1.") && nodes.found.contains("\nn3: "), "{nodes:?}");
    assert_eq!(
        of("zones"),
        Finding { state: State::Works, found: "z1: n1, n2; z2: n3".into(), remedy: String::new() }
    );
    assert_eq!(of("rights").found, "all");
    assert_eq!(of("image").state, State::Works, "{:?}", of("image"));
    assert_eq!(of("pod security").state, State::Works);
    let classes = of("RuntimeClasses").found;
    let has = |class: &str| classes.split(", ").any(|known| known == class);
    assert!(has("overlay") && (has("gvisor") || !ground.has_gvisor("doctor")), "{classes}");
    let meters = of("meters");
    assert!(
        meters.found.contains("cadvisor of n1: ") && meters.found.contains("kubelet of n1: "),
        "{meters:?}"
    );
    // It runs as a process of the node, and tells its mode to nobody else.
    assert_eq!(of("kube-proxy").state, State::Limited);
    let told = of("Gateway API").found;
    for words in [
        "contour-provisioned (projectcontour.io/provisioner)",
        "projectcontour/contour of class contour at 10.199.0.226 port 80, TLS at port 443, TCP at \
         port 9000",
    ] {
        assert!(told.contains(words), "{told}");
    }
    assert_eq!(of("Prometheus").found, "found monitoring/prometheus:9090");

    let (namespace, name) = ("monitoring".to_owned(), "prometheus".to_owned());
    spec.prometheus = Some(PrometheusSpec::Service { namespace, name, port: 9090 });
    spec.mesh.provider = MeshProvider::Linkerd;
    spec.image = "hopbench.test/absent:1".into();
    let lines = examine(&ground.access, &spec);
    let of = |name: &str| -> Finding {
        lines.iter().find(|(known, ..)| *known == name).expect(name).2.clone()
    };
    assert_eq!(of("Prometheus").found, "monitoring/prometheus:9090 knows the nodes");
    assert_eq!((of("mesh").state, of("image").state), (State::Missing, State::Missing));
}

/// The configuration that installers leave in the cluster; it goes with this.
struct Configured<'a>(&'a Ground);

impl Configured<'_> {
    fn api(&self) -> Api<ConfigMap> {
        Api::namespaced(self.0.access.client.clone(), "kube-system")
    }
}

impl Drop for Configured<'_> {
    fn drop(&mut self) {
        let _ =
            self.0.access.ask("config", self.api().delete("kube-proxy", &DeleteParams::default()));
    }
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_run_says_how_services_are_translated() {
    let Some(ground) = ground("kube-proxy's mode") else { return };
    let _held = KUBE_PROXY.lock().unwrap_or_else(PoisonError::into_inner);
    let spec = spec();
    let plan = plan(&spec, vec![path("p", "pod@a", "pod@a", Via::Direct)]);
    let fact = || {
        let mut cluster = ground.cluster(&spec);
        cluster.up(&plan).unwrap();
        cluster.facts()["kube-proxy"].clone()
    };
    assert_eq!(fact(), "unknown: neither its port for metrics nor a ConfigMap tells");
    let configured = Configured(&ground);
    let config =
        json!({"metadata": {"name": "kube-proxy"}, "data": {"config.conf": "mode: nftables\n"}});
    let config: ConfigMap = serde_json::from_value(config).unwrap();
    ground.access.ask("config", configured.api().create(&PostParams::default(), &config)).unwrap();
    assert_eq!(fact(), "nftables, by the ConfigMap kube-system/kube-proxy");
}
