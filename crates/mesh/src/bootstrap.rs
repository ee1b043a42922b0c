//! A proxy's description as the bootstrap that Envoy reads: everything static, nothing fetched from
//! a control plane.
//!
//! ```text
//!   listener ─► filter chain of the route, by port ─► http | tcp ─► cluster of the route
//!                  tls: from other proxies              │              tls: to other proxies
//!                                                       ├─► access_log: file, telemetry, peers
//!                                                       └─► services: policy
//! ```

mod access_log;
mod cluster;
mod http;
mod listener;
mod parts;
mod services;
mod tcp;
mod tls;

use std::net::IpAddr;

use hopbench_model::IpFamily;
use serde_json::{Value, json};

use crate::{AdminAddress, ProxySpec, stats};
pub use access_log::BATCH_NS;
use parts::{address, extension};

/// More connections than a lab ever opens; without a limit Envoy warns at each start.
const MAX_DOWNSTREAM_CONNECTIONS: u32 = 10_000_000;
/// `SOL_SOCKET` and `SO_MARK` of Linux.
const SOL_SOCKET: u32 = 1;
const SO_MARK: u32 = 36;

impl ProxySpec {
    /// The bootstrap. It holds the key of the identity: a file of it is for its owner's eyes only.
    ///
    /// What the description needs and does not have is left empty: an identity where a route
    /// encrypts, a service where the variant asks one. Envoy then refuses the file.
    pub fn bootstrap(&self) -> Value {
        let mut clusters: Vec<Value> = self
            .routes()
            .map(|route| cluster::of(route, &self.variant, self.identity.as_ref()))
            .collect();
        clusters.extend(services::clusters(self));
        let mut listeners: Vec<Value> =
            self.listeners.iter().map(|one| listener::of(one, self)).collect();
        // The last one to be bound.
        listeners.extend(self.ready.map(|ready| {
            let by_ipv6 = ready.family == IpFamily::Ipv6 || self.listens_by_ipv6();
            listener::ready(ready.port, by_ipv6)
        }));
        let admin = match &self.admin {
            AdminAddress::Pipe(path) => json!({"pipe": {"path": path}}),
            AdminAddress::Loopback(port) => address("127.0.0.1", *port),
        };
        let mut bootstrap = json!({
            "node": {"id": self.name, "cluster": "hopbench"},
            "admin": {"address": admin},
            "static_resources": {
                "listeners": listeners,
                "clusters": clusters,
            },
            "stats_config": stats::config(self.variant.stats),
            "stats_flush_on_admin": true,
            "overload_manager": {"resource_monitors": [extension(
                "envoy.resource_monitors.global_downstream_max_connections",
                "envoy.extensions.resource_monitors.downstream_connections.v3.\
                 DownstreamConnectionsConfig",
                json!({"max_active_downstream_connections": MAX_DOWNSTREAM_CONNECTIONS}),
            )]},
        });
        if let Some(mark) = self.mark {
            bootstrap["cluster_manager"] = json!({"upstream_bind_config": {"socket_options": [{
                "description": "not intercepted again",
                "level": SOL_SOCKET,
                "name": SO_MARK,
                "int_value": mark,
                "state": "STATE_PREBIND",
            }]}});
        }
        bootstrap
    }

    /// The arguments of Envoy beside `--config-path` and the file: worker threads,
    /// warnings only, and no shared memory with other Envoys of this machine.
    pub fn arguments(&self) -> Vec<String> {
        let concurrency = self.variant.concurrency.to_string();
        let arguments =
            ["--disable-hot-restart", "--concurrency", &concurrency, "--log-level", "warning"];
        arguments.map(str::to_owned).to_vec()
    }

    fn listens_by_ipv6(&self) -> bool {
        self.listeners.iter().flat_map(|listener| &listener.addresses).any(IpAddr::is_ipv6)
    }

    fn routes(&self) -> impl Iterator<Item = &crate::ProxyRoute> {
        self.listeners.iter().flat_map(|listener| &listener.routes)
    }
}
