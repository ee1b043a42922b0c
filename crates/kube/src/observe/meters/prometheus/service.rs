//! HTTP to a Service inside the cluster, by way of the API server's port-forward to a pod behind
//! it.

use http::Request;
use http::header::HOST;
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use k8s_openapi::api::core::v1::{Pod, Service, ServicePort};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::api::ListParams;
use kube::{Client, ResourceExt};
use tokio::task::AbortHandle;

use crate::api::body;
use crate::api::client::Api;

/// The answer to GET `path` of port `port` of a Service.
pub(super) async fn get(
    client: &Client,
    namespace: &str,
    name: &str,
    port: u16,
    path: &str,
) -> Result<String, String> {
    let (pod, port) = behind(client, namespace, name, port).await?;
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let failed = |e: &dyn std::fmt::Display| {
        format!("port-forward to port {port} of pod {namespace}/{pod}: {e}")
    };
    let mut forwarded = pods.streams().portforward(&pod, &[port]).await.map_err(|e| failed(&e))?;
    let stream = forwarded.take_stream(port).ok_or_else(|| failed(&"no stream"))?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|e| failed(&e))?;
    let _connection = Ended(tokio::spawn(connection).abort_handle());
    let request = Request::get(path)
        .header(HOST, name)
        .body(Empty::<Bytes>::new())
        .map_err(|e| failed(&e))?;
    let answer = sender.send_request(request).await.map_err(|e| failed(&e))?;
    body::text(answer.into_body()).await.map_err(|e| failed(&e))
}

/// Ends a task when the question that it belongs to has its answer, or is given up.
struct Ended(AbortHandle);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A pod behind a Service that is ready, and its port.
async fn behind(
    client: &Client,
    namespace: &str,
    name: &str,
    port: u16,
) -> Result<(String, u16), String> {
    let services: Api<Service> = Api::namespaced(client.clone(), namespace);
    let said = |e: kube::Error| format!("Service {namespace}/{name}: {e}");
    let spec = services.get(name).await.map_err(said)?.spec.unwrap_or_default();
    let ports = spec.ports.unwrap_or_default();
    let Some(of_service) = ports.iter().find(|p| p.port == i32::from(port)) else {
        let there: Vec<String> = ports.iter().map(|p| p.port.to_string()).collect();
        return Err(format!(
            "Service {namespace}/{name} has no port {port}; it has {}",
            there.join(", ")
        ));
    };
    let selector: Vec<String> = spec
        .selector
        .unwrap_or_default()
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    if selector.is_empty() {
        return Err(format!("Service {namespace}/{name} selects no pods; name its URL instead"));
    }
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let listed =
        pods.list(ListParams::default().labels(&selector.join(","))).await.map_err(said)?;
    let ready = listed.iter().filter(|pod| is_ready(pod)).min_by_key(|pod| pod.name_any());
    let pod =
        ready.ok_or_else(|| format!("no pod behind the Service {namespace}/{name} is ready"))?;
    let port = target_port(pod, of_service).ok_or_else(|| {
        format!("pod {namespace}/{} has no port as the Service {name} says", pod.name_any())
    })?;
    Ok((pod.name_any(), port))
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.is_some_and(|all| all.iter().any(|c| c.type_ == "Ready" && c.status == "True"))
}

fn target_port(pod: &Pod, port: &ServicePort) -> Option<u16> {
    let number = match &port.target_port {
        None => port.port,
        Some(IntOrString::Int(number)) => *number,
        Some(IntOrString::String(name)) => {
            let containers = &pod.spec.as_ref()?.containers;
            let mut ports =
                containers.iter().flat_map(|container| container.ports.iter().flatten());
            ports.find(|p| p.name.as_ref() == Some(name))?.container_port
        }
    };
    u16::try_from(number).ok()
}
