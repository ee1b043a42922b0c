//! The traffic of a job, as far as a Gateway needs a kind of route for it.
//!
//! ```text
//!   http            ─► HTTPRoute ┐
//!   http --http2    ─► HTTPRoute ├─ a listener for HTTP
//!   grpc            ─► GRPCRoute ┘
//!   http, grpc, TLS ─► TLSRoute ──── a listener for TLS that passes it through, by its name (SNI)
//!   all else        ─► TCPRoute ──── a listener for TCP, which the route has for itself
//! ```

use hopbench_model::Job;

pub(crate) use crate::api::rights::GATEWAY_GROUP as GROUP;

/// What a Gateway takes requests or connections for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Traffic {
    /// HTTP/1.1.
    Http,
    /// HTTP/2 without TLS, from the first byte on.
    Http2,
    /// Calls of gRPC without TLS.
    Grpc,
    /// HTTP of any version in TLS, which begins with the name of the server.
    Tls,
    /// Bytes.
    Tcp,
}

impl Traffic {
    /// The traffic of a job; `None`: none that is over TCP.
    pub(crate) fn of(job: &Job) -> Option<Self> {
        if job.bypasses_proxies() {
            return None;
        }
        Some(match (job.shows_requests(), job.kind().is_http()) {
            (true, _) if job.makes_calls() => Self::Grpc,
            (true, _) if job.is_over_http2() => Self::Http2,
            (true, _) => Self::Http,
            (false, true) => Self::Tls,
            // Between agents a header of their own comes first, also where TLS follows.
            (false, false) => Self::Tcp,
        })
    }

    /// The kind of its routes.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Http | Self::Http2 => "HTTPRoute",
            Self::Grpc => "GRPCRoute",
            Self::Tls => "TLSRoute",
            Self::Tcp => "TCPRoute",
        }
    }

    /// The resource of these.
    pub(crate) const fn resource(self) -> &'static str {
        match self {
            Self::Http | Self::Http2 => "httproutes",
            Self::Grpc => "grpcroutes",
            Self::Tls => "tlsroutes",
            Self::Tcp => "tcproutes",
        }
    }

    /// The versions of that resource that are known here, the best first.
    pub(crate) fn versions(self) -> &'static [&'static str] {
        match self {
            Self::Http | Self::Http2 | Self::Grpc => &["v1"],
            Self::Tls => &["v1", "v1alpha3", "v1alpha2"],
            Self::Tcp => &["v1", "v1alpha2"],
        }
    }

    /// The protocol of the listeners that take it.
    pub(crate) fn protocol(self) -> &'static str {
        match self {
            Self::Http | Self::Http2 | Self::Grpc => "HTTP",
            Self::Tls => "TLS",
            Self::Tcp => "TCP",
        }
    }

    /// The name of the route to a Service. A path may have one of each kind, whose host names must
    /// differ. Names of Services begin with `path`, so that no other object has one of these.
    pub(crate) fn route(self, service: &str) -> String {
        let start = match self {
            Self::Http => "",
            Self::Http2 => "h2c-",
            Self::Grpc => "grpc-",
            Self::Tls => "tls-",
            Self::Tcp => "tcp-",
        };
        format!("{start}{service}")
    }

    /// The prefix of the names of a Service's ports that take it.
    pub(crate) fn port(self) -> &'static str {
        match self {
            Self::Http => "http-",
            Self::Http2 | Self::Grpc => "http2-",
            Self::Tls | Self::Tcp => "tcp-",
        }
    }

    /// Whether its requests say a host name that a Gateway sees.
    pub(crate) fn shows_host(self) -> bool {
        matches!(self, Self::Http | Self::Http2 | Self::Grpc)
    }

    /// Whether its routes are told apart by host names.
    pub(crate) fn names_host(self) -> bool {
        self != Self::Tcp
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::{Pattern, Transport, WorkloadKind, fixture};
    use serde_json::json;

    use super::*;
    use crate::plan::names::service;

    #[test]
    fn each_job_has_its_kind_of_route() {
        let of = |workload: &str, params: serde_json::Value| {
            let kind = WorkloadKind {
                transport: Transport::Http,
                pattern: Pattern::Exchanges,
                ..WorkloadKind::PLAIN
            };
            let job = Job {
                kind: (workload == "grpc").then_some(kind),
                ..fixture::job(workload, params)
            };
            Traffic::of(&job)
        };
        assert_eq!(of("http", json!({})), Some(Traffic::Http));
        assert_eq!(of("http", json!({"http2": true})), Some(Traffic::Http2));
        assert_eq!(of("grpc", json!({"http2": true})), Some(Traffic::Grpc));
        for params in [json!({"tls": true}), json!({"tls": true, "http2": true})] {
            assert_eq!(of("http", params.clone()), Some(Traffic::Tls));
            assert_eq!(of("grpc", params), Some(Traffic::Tls));
        }
        // TLS begins behind a header that names no server.
        assert_eq!(of("rr", json!({"tls": true})), Some(Traffic::Tcp));
        assert_eq!(of("stream", json!({})), Some(Traffic::Tcp));
        assert_eq!(of("rr", json!({"udp": true})), None);
        assert_eq!(of("ping", json!({})), None);
    }

    #[test]
    fn the_routes_of_a_service_have_names_of_their_own() {
        let all = [Traffic::Http, Traffic::Http2, Traffic::Grpc, Traffic::Tls, Traffic::Tcp];
        let names = all.map(|traffic| traffic.route("path0-in"));
        assert_eq!(
            names,
            ["path0-in", "h2c-path0-in", "grpc-path0-in", "tls-path0-in", "tcp-path0-in"]
        );
        // They are labels of host names, which have at most 63 characters.
        let long = service(3, &"long".repeat(30), None);
        assert!(all.iter().all(|traffic| traffic.route(&long).len() <= 63), "{long}");
    }
}
