//! A made-up run through sidecars and a gateway: nothing here was measured.

use hopbench_model::{MeshMode, Path, Proof, ProxyCost, Record, Schedule, Variant, Via};
use hopbench_stats::Histogram;
use serde_json::json;

use super::fixture::{self, Costs, Made, Noise};

/// What a sidecar adds, by ends: median of the latency, ns; CPU, ns a request; at rest, cores.
const SERVER: (f64, f64) = (95_000.0, 58_000.0);
const CLIENT: (f64, f64) = (88_000.0, 64_000.0);
const GATEWAY: (f64, f64) = (120_000.0, 71_000.0);
const IDLE_CORES: f64 = 0.004;
const BARE_NS: f64 = 84_000.0;

pub(crate) fn path(name: &str, via: Via, mesh: MeshMode, variant: &str) -> Path {
    let mut path = fixture::path(name, ("bridge", "a"), ("bridge", "b"), via);
    path.mesh = mesh;
    path.variant =
        path.is_proxied().then(|| Variant { name: variant.to_owned(), ..Variant::plain() });
    path
}

/// All modes, one variant that costs more, and a gateway; HTTP at rates and over connections, bulk,
/// and an echo that no proxy sees.
pub(crate) fn mesh(rounds: u32) -> Made {
    let gateway = || Via::Gateway("c".to_owned());
    let paths = vec![
        path("none", Via::Direct, MeshMode::None, ""),
        path("server", Via::Direct, MeshMode::Server, "plain"),
        path("client", Via::Direct, MeshMode::Client, "plain"),
        path("both", Via::Direct, MeshMode::Both, "plain"),
        path("both-stats", Via::Direct, MeshMode::Both, "stats"),
        path("gateway", gateway(), MeshMode::None, "plain"),
        path("gateway-server", gateway(), MeshMode::Server, "plain"),
    ];
    let mut points = Vec::new();
    for rate in [100, 500, 1000, 2000, 4000] {
        let job = fixture::job("http", json!({}), Schedule::Rate(f64::from(rate)), 16);
        points.push(fixture::point("web", &[("rate", json!(rate))], job));
    }
    for connections in [8, 32, 128] {
        let job = fixture::job("http", json!({}), Schedule::Closed, connections);
        points.push(fixture::point("pool", &[("connections", json!(connections))], job));
    }
    let bulk = fixture::job("stream", json!({"size": "128KiB"}), Schedule::Closed, 4);
    points.push(fixture::point("bulk", &[], bulk));
    points.push(fixture::point(
        "echo",
        &[],
        fixture::job("ping", json!({}), Schedule::Rate(20.0), 1),
    ));
    let run = fixture::run("mesh (made up)", paths, points, rounds, Some("none"));
    let same = Costs { speed: 1.0, latency: 1.0, cpu: 1.0 };
    let mut noise = Noise::default();
    let mut made = fixture::measured(run, |_| same);
    for record in &mut made.records {
        let path = made.run.plan.paths.iter().find(|path| path.name == record.path).unwrap();
        bend(record, path, &mut noise);
    }
    made
}

/// The figures of a record as the proxies of its path would have made them.
fn bend(record: &mut Record, path: &Path, noise: &mut Noise) {
    let more = if path.variant.as_ref().is_some_and(|variant| variant.name == "stats") {
        1.2
    } else {
        1.0
    };
    let gateway = matches!(path.via, Via::Gateway(_));
    let hops = [
        ("client-sidecar", "a", path.mesh.has_client(), true, CLIENT),
        ("gateway", "c", gateway, gateway, GATEWAY),
        ("server-sidecar", "b", path.mesh.has_server(), true, SERVER),
    ];
    let connections = record.job["connections"].as_f64().unwrap();
    let workload = record.workload.clone();
    let seen = workload != "echo";
    if !seen && path.is_proxied() {
        record.proof.push(Proof {
            hop: "proxies".to_owned(),
            evidence: "bypasses proxy: ICMP is not proxied".to_owned(),
            ok: true,
        });
    }
    let added: f64 = hops.iter().filter(|hop| hop.2).map(|hop| hop.4.0).sum::<f64>() * more;
    if workload == "web" {
        let rate = record.job["schedule"]["rate"].as_f64().unwrap();
        let slow = (BARE_NS + added) * (1.0 + rate / 9000.0);
        record.latency.insert(
            "service_ns".to_owned(),
            fixture::distribution(slow * noise.about(0.01), noise),
        );
        record.latency.insert(
            "response_ns".to_owned(),
            fixture::distribution(slow * noise.about(0.01) * 1.1, noise),
        );
        record.metrics.insert("requests_per_s".to_owned(), rate * noise.about(0.001));
        record.statuses.insert("200".to_owned(), rate as u64 * 2);
        record.metrics.insert("response_body_bytes".to_owned(), 1024.0);
        record.metrics.insert("response_header_bytes".to_owned(), 152.5);
    }
    if workload == "pool" {
        let each = (BARE_NS + added) * noise.about(0.01) * (1.0 + connections / 16.0);
        record.latency.insert("service_ns".to_owned(), fixture::distribution(each, noise));
        record.metrics.insert("requests_per_s".to_owned(), connections * 1e9 / each);
        record.statuses.insert("200".to_owned(), 30_000);
        if path.name == "both" && connections > 100.0 {
            record.errors.insert("503 UF".to_owned(), 12);
            record.statuses.insert("503".to_owned(), 12);
            record.metrics.insert("error_ratio".to_owned(), 0.0004);
        }
    }
    let per_s = match workload.as_str() {
        "bulk" => record.metrics["received_bits_per_s"] / 8.0 / 1024.0 / 12.0,
        _ => record.metrics.get("requests_per_s").copied().unwrap_or(0.0),
    };
    let mut named = (0.0, 0.0);
    for (name, node, is_named, there, (_, cpu_ns)) in hops {
        if !there {
            continue;
        }
        let busy =
            if is_named && seen { per_s * cpu_ns * more * noise.about(0.02) / 1e9 } else { 0.0 };
        let cores = IDLE_CORES * noise.about(0.1) + busy;
        let rss =
            41e6 + 34_000.0 * if is_named && seen { connections } else { 0.0 } * noise.about(0.02);
        if is_named {
            named = (named.0 + cores, named.1 + rss);
        }
        let figures = [
            ("cores", cores),
            ("cpu_s", cores * 2.05),
            ("rss_bytes", rss.floor()),
            ("allocated_bytes", (rss * 0.3).floor()),
            ("requests", if is_named && seen { (per_s * 2.5).floor() } else { 0.0 }),
        ];
        record.cost.proxies.push(ProxyCost {
            name: name.to_owned(),
            node: node.to_owned(),
            named: is_named,
            figures: figures.map(|(name, value)| (name.to_owned(), value)).into(),
        });
    }
    if path.is_proxied() {
        record.metrics.insert("proxy_cores".to_owned(), named.0);
        record.metrics.insert("proxy_rss_bytes".to_owned(), named.1.floor());
    }
}

/// A distribution from these samples, ns.
pub(crate) fn of(samples: &[u64]) -> hopbench_model::Latency {
    let mut histogram = Histogram::new();
    samples.iter().for_each(|ns| histogram.record(*ns));
    histogram.summary()
}
