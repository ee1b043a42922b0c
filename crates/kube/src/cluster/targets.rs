//! Target addresses of a plan's clients.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use hopbench_model::{Fault, Point, Via};

use crate::built::Built;
use crate::cast::{Cast, program};
use crate::demand::is_datagrams;
use crate::mesh;
use crate::target::{self, Whereabouts, target};

/// Where the clients of a cell connect to, as far as is known of the pods and Services.
pub(super) fn target_of(built: &Built, cast: &Cast, point: &Point) -> Result<SocketAddr, Fault> {
    if let Some(target) = mesh::target(built, cast, point)? {
        return Ok(target);
    }
    let path = &cast.path;
    let front = built.front(&path.name, program(&point.server).as_ref());
    let entry = front.and_then(|front| built.entries.get(&front.name));
    let entered = match &path.via {
        Via::NodePort(node) => {
            built.nodes.get(node).and_then(|node| target::of_family(&node.addresses, entry?.address))
        }
        _ => None,
    };
    let known = Whereabouts {
        server: cast.servers_of(&point.server).first().and_then(|pod| built.listener(pod)),
        entry,
        node: entered,
        datagrams: is_datagrams(&point.job),
    };
    target(&path.name, &path.via, &known)
}

/// Where the clients of all cells connect to, as far as is known now.
pub(super) fn all(built: &Built) -> BTreeSet<SocketAddr> {
    let of_cell = |(path, point): &(String, Point)| {
        let cast = built.demand.paths.get(path).filter(|cast| !is_said_by_others(cast))?;
        target_of(built, cast, point).ok()
    };
    built.cells.iter().filter_map(of_cell).chain(built.entered.values().copied()).collect()
}

/// Whether the address that the clients of a path connect to comes from elsewhere, perhaps as a
/// name that has to be looked up: then it is known when the path is asked for.
pub(super) fn is_said_by_others(cast: &Cast) -> bool {
    matches!(cast.path.via, Via::LoadBalancer | Via::Address(_)) || mesh::is_existing_gateway(cast)
}
