//! Where the clients of a path connect to.

use std::net::SocketAddr;

use hopbench_mesh::Offer;
use hopbench_model::{Fault, Job, ServerSpec, Via};

use crate::addresses;
use crate::built::Built;
use crate::cast::Cast;
use crate::offer::InPod;
use crate::service;

/// Where the clients of a path connect to for a job that this server answers.
pub(crate) fn target(built: &Built, cast: &Cast, job: &Job, server: &ServerSpec) -> Result<SocketAddr, Fault> {
    let path = &cast.path;
    // What passes by the proxies is the agent's; Services have it at the port of the first offer.
    let bypassed = job.bypasses_proxies();
    let offer = if bypassed { Offer::ALL[0] } else { Offer::of(job, server) };
    let of_pod = |pod| built.pods.get(pod).map(|pod| pod.address);
    let target = match (&path.via, cast.service) {
        (Via::ClusterIp, Some(number)) => Some((addresses::service(number), service::port(cast, number, offer))),
        (Via::NodePort(node), Some(number)) => {
            built.node(node).map(|node| (addresses::node(node.number), service::port(cast, number, offer)))
        }
        (Via::Gateway(_), _) => cast.gateway.as_ref().and_then(|pod| Some((of_pod(pod)?, offer.gateway()))),
        _ => cast.servers.first().and_then(|pod| {
            let proxied = path.is_proxied() && !bypassed;
            let port = if proxied { offer.exposed(path.mesh) } else { offer.own_port(pod) };
            Some((of_pod(pod)?, port))
        }),
    };
    let (address, port) =
        target.ok_or_else(|| Fault::input(format!("path `{}` has nowhere to connect to", path.name)))?;
    Ok(SocketAddr::from((address, port)))
}
