//! The two services that proxies ask and tell about requests. A *policy* service says whether a
//! request may pass (Envoy's `ext_authz` filters). A *telemetry* service is told of each request
//! afterwards (Envoy's access log service). Each is a process of its own, so that what it costs is
//! seen beside what proxies spend on it.
//!
//! ```text
//!   proxy ── Check ────────────► policy      a table of rules, first match, otherwise allowed
//!   proxy ── StreamAccessLogs ─► telemetry   counts, bytes, latencies by code, peer and path
//!   anybody in the network namespace ── connects to the admin socket ─► one JSON object of totals
//! ```
//!
//! Both are gRPC over plaintext HTTP/2 on an async runtime: peers that a scenario measures, and not
//! its data plane.

mod grpc;
mod messages;
mod policy;
mod server;
mod service;
mod telemetry;

use hopbench_model::Fault;

pub use server::ServiceOptions;

/// Runs the policy service until `SIGTERM`. Its totals: `checks`, of these `http_checks` and
/// `tcp_checks`, `denied`; `connections`, `dropped_connections`, `failed_calls`.
///
/// # Errors
/// An address or a name that cannot be listened on, an admin name that is none.
pub fn policy(options: &ServiceOptions) -> Result<(), Fault> {
    server::run(options, policy::Policy::new())
}

/// Runs the telemetry service until `SIGTERM`. Its totals: `reports`, of these `http_reports` and
/// `tcp_reports`, `intermediate_reports` (of connections that are not over, in no other figure).
/// Then `received_bytes` and `sent_bytes` as the proxies report them, `connections`,
/// `dropped_connections`, `failed_calls`. All of these only grow; `series` is an object: how many
/// are `told_apart`, and the `busiest` of them, those with the most reports.
///
/// # Errors
/// An address or a name that cannot be listened on, an admin name that is none.
pub fn telemetry(options: &ServiceOptions) -> Result<(), Fault> {
    server::run(options, telemetry::Telemetry::default())
}
