//! A real Envoy that asks and tells the services, in front of an application.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::free_address;
use crate::lab::wait::{MS, S, until};

/// Where the messages of Envoy's extensions are.
const TYPES: &str = "type.googleapis.com/envoy.extensions";

/// An Envoy that is running; killed when dropped.
pub(crate) struct Envoy {
    child: Child,
    folder: tempfile::TempDir,
    /// Takes HTTP.
    pub(crate) http: SocketAddr,
    /// Takes connections.
    pub(crate) tcp: SocketAddr,
}

impl Envoy {
    /// Starts it in front of an application; returns when it takes connections.
    pub(crate) fn start(
        program: &Path,
        application: SocketAddr,
        policy: SocketAddr,
        telemetry: SocketAddr,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (http, tcp) = (free_address(), free_address());
        let bootstrap = bootstrap(http, tcp, application, policy, telemetry);
        let file = folder.path().join("bootstrap.json");
        std::fs::write(&file, bootstrap.to_string()).expect("the bootstrap");
        let log = std::fs::File::create(folder.path().join("log")).expect("the log");
        let child = Command::new(program)
            .args([
                "--concurrency",
                "1",
                "--disable-hot-restart",
                "--log-level",
                "warn",
                "--config-path",
            ])
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("envoy");
        let mut envoy = Self { child, folder, http, tcp };
        envoy.wait();
        envoy
    }

    /// Looks at the HTTP listener: a connection that sends nothing is neither checked nor reported
    /// there.
    fn wait(&mut self) {
        let is_up = until(20 * S, || {
            let ended = self.child.try_wait().expect("the state of a child");
            assert!(ended.is_none(), "envoy ended: {}", self.log());
            std::net::TcpStream::connect_timeout(
                &self.http,
                std::time::Duration::from_nanos(100 * MS),
            )
            .ok()
        });
        assert!(is_up.is_some(), "envoy takes no connections: {}", self.log());
    }

    /// What it wrote.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bootstrap(
    http: SocketAddr,
    tcp: SocketAddr,
    application: SocketAddr,
    policy: SocketAddr,
    telemetry: SocketAddr,
) -> Value {
    let check = |kind: &str| {
        json!({
            "@type": format!("{TYPES}.filters.{kind}.ext_authz.v3.ExtAuthz"),
            "transport_api_version": "V3",
            "grpc_service": {"envoy_grpc": {"cluster_name": "policy"}, "timeout": "5s"},
            "failure_mode_allow": false,
        })
    };
    let report = |kind: &str, config: &str| {
        json!([{
            "name": format!("envoy.access_loggers.{kind}_grpc"),
            "typed_config": {
                "@type": format!("{TYPES}.access_loggers.grpc.v3.{config}"),
                "common_config": {
                    "log_name": kind,
                    "transport_api_version": "V3",
                    "grpc_service": {"envoy_grpc": {"cluster_name": "telemetry"}},
                    "buffer_flush_interval": "0.05s",
                },
            },
        }])
    };
    let route = json!({"match": {"prefix": "/"}, "route": {"cluster": "application"}});
    let mut tcp_check = check("network");
    tcp_check["stat_prefix"] = json!("check");
    let network =
        |filter: &str, message: &str| format!("{TYPES}.filters.network.{filter}.v3.{message}");
    let router = json!({"@type": format!("{TYPES}.filters.http.router.v3.Router")});
    let manager = json!({
        "@type": network("http_connection_manager", "HttpConnectionManager"),
        "stat_prefix": "http",
        "access_log": report("http", "HttpGrpcAccessLogConfig"),
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [route]}]},
        "http_filters": [
            {"name": "check", "typed_config": check("http")},
            {"name": "router", "typed_config": router},
        ],
    });
    let proxy = json!({
        "@type": network("tcp_proxy", "TcpProxy"),
        "stat_prefix": "tcp",
        "cluster": "application",
        "access_log": report("tcp", "TcpGrpcAccessLogConfig"),
    });
    let http_filters = json!([{"name": "http", "typed_config": manager}]);
    let tcp_filters = json!([
        {"name": "check", "typed_config": tcp_check}, {"name": "tcp", "typed_config": proxy},
    ]);
    json!({
        "node": {"id": "test", "cluster": "test"},
        "static_resources": {
            "listeners": [
                {
                    "name": "http", "address": address(http),
                    "filter_chains": [{"filters": http_filters}],
                },
                {
                    "name": "tcp", "address": address(tcp),
                    "filter_chains": [{"filters": tcp_filters}],
                },
            ],
            "clusters": [
                cluster("application", application, false),
                cluster("policy", policy, true),
                cluster("telemetry", telemetry, true),
            ],
        },
    })
}

fn address(at: SocketAddr) -> Value {
    json!({"socket_address": {"address": at.ip().to_string(), "port_value": at.port()}})
}

fn cluster(name: &str, at: SocketAddr, http2: bool) -> Value {
    let endpoints = json!([{"lb_endpoints": [{"endpoint": {"address": address(at)}}]}]);
    let mut cluster = json!({
        "name": name,
        "connect_timeout": "1s",
        "load_assignment": {"cluster_name": name, "endpoints": endpoints},
    });
    if http2 {
        let options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
        cluster["typed_extension_protocol_options"] = json!({
            options: {
                "@type": format!("type.googleapis.com/{options}"),
                "explicit_http_config": {"http2_protocol_options": {}},
            },
        });
    }
    cluster
}
