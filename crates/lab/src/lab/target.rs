//! The address and port that the clients of a path connect to.

use std::net::SocketAddr;

use hopbench_mesh::Offer;
use hopbench_model::{Fault, Job, ServerSpec, Via};
use hopbench_testbed::placement::{Endpoints, Rules};

use super::built::Built;
use crate::network::families::{family_of, of_family};
use crate::services::pod_ports::own_port;
use crate::services::service;
use crate::topology::addresses;

/// The address that the clients of a path connect to, for a job that this server answers.
pub(crate) fn target(
    built: &Built,
    endpoints: &Endpoints,
    job: &Job,
    server: &ServerSpec,
) -> Result<SocketAddr, Fault> {
    let path = &endpoints.path;
    // Traffic that passes by the proxies goes to the agent: Services have it at the first offer's
    // port.
    let bypassed = job.bypasses_proxies();
    let offer = if bypassed { Offer::ALL[0] } else { Rules::default().offer(path, job, server) };
    let of_pod = |pod| built.pods.get(pod).map(|pod| pod.address);
    let target = match (&path.via, endpoints.service) {
        (Via::ClusterIp, Some(number)) => {
            Some((addresses::service(number), service::port(endpoints, number, offer)))
        }
        (Via::NodePort(node), Some(number)) => built
            .node(node)
            .map(|node| (addresses::node(node.number), service::port(endpoints, number, offer))),
        (Via::Gateway(_), Some(number)) => Some((addresses::service(number), offer.gateway())),
        (Via::Gateway(_), None) => {
            endpoints.gateways.first().and_then(|pod| Some((of_pod(pod)?, offer.gateway())))
        }
        _ => endpoints.servers.first().and_then(|pod| {
            let proxied = path.is_proxied() && !bypassed;
            let port = if proxied { offer.exposed(path.mesh) } else { own_port(offer, pod) };
            Some((of_pod(pod)?, port))
        }),
    };
    let (address, port) = target
        .ok_or_else(|| Fault::input(format!("path `{}` has nowhere to connect to", path.name)))?;
    Ok(SocketAddr::new(of_family(address, family_of(path)), port))
}
