//! HTTP/2, gRPC and TLS through real Envoys: each proxy counts the requests that were sent, or, of
//! TLS, the connections.

use hopbench_model::Record;

use crate::lab::envoy;
use crate::lab::namespace::outside;
use crate::lab::wait::S;
use crate::lab::{Bench, User};

const PROTOCOLS: &str = "
name: protocols
testbed: {lab: {nodes: 3}}
rounds: 1
time: 600ms
warmup: 200ms
seed: 3
a-a: false
paths:
  none:    bridge@a -> bridge@b
  server:  bridge@a -> bridge@b mesh server
  client:  bridge@a -> bridge@b mesh client
  both:    bridge@a -> bridge@b mesh both
  ingress: bridge@a -> bridge@b via gateway@c mesh server
workloads:
  http2:  {http: {connections: 4, streams: 4, http2: true, rate: 500, response: 1KiB}}
  grpc:   {grpc: {connections: 4, streams: 4, rate: 500, response: 1KiB}}
  bodies: {http: {connections: 2, streams: 2, http2: true, method: POST, body-size: 100kB}}
  secret: {http: {connections: 4, tls: true, rate: 500, response: 1KiB}}
  hidden: {grpc: {connections: 4, streams: 4, tls: true, rate: 500, response: 1KiB}}
  calls:  {grpc: {connections: 4, streams: 8, path: '/?count=3&size=100'}}
  failed: {grpc: {connections: 2, rate: 100, path: '/?status=14'}}
";

/// Proxies that speak HTTP/2 with each other, whatever the client speaks.
const BETWEEN: &str = "
name: between
testbed: {lab: {nodes: 3}}
rounds: 1
time: 300ms
warmup: 100ms
seed: 3
a-a: false
mesh: {upstream: http2}
paths:
  server:  bridge@a -> bridge@b mesh server
  both:    bridge@a -> bridge@b mesh both
  service: bridge@a -> bridge@b via cluster-ip mesh both
  port:    bridge@a -> bridge@b via node-port@c mesh both
  ingress: bridge@a -> bridge@b via gateway@c mesh server
workloads:
  http1:  {http: {connections: 4, rate: 500, response: 1KiB}}
  http2:  {http: {connections: 4, streams: 4, http2: true, rate: 500, response: 1KiB}}
  grpc:   {grpc: {connections: 4, streams: 4, rate: 500, response: 1KiB}}
";

#[test]
fn proxies_pass_every_protocol_and_count_what_they_see() {
    pass(PROTOCOLS, 35);
}

#[test]
fn proxies_that_speak_http2_with_each_other_pass_every_version() {
    pass(BETWEEN, 15);
}

fn pass(scenario: &str, records: usize) {
    let Some(envoy) = envoy::program() else { return };
    let Some(_turn) = outside() else { return };
    let bench = Bench::new(User::Caller, scenario);
    let done = bench.start(&["--envoy", &envoy.to_string_lossy()]).finish_within(120 * S);
    // Every call of `failed` fails, as it was told to.
    let results = bench.results();
    assert!(results.run.skipped.is_empty(), "{:?}: {}", results.run.skipped, done.story());
    assert_eq!(results.records.len(), records, "{}", done.story());
    results.records.iter().for_each(sound);
}

fn sound(record: &Record) {
    let name = format!("{} on {}", record.workload, record.path);
    let unproved: Vec<_> = record.proof.iter().filter(|proof| !proof.ok).collect();
    assert!(unproved.is_empty(), "{name}: {unproved:?}");
    if record.workload == "failed" {
        let failed: u64 = record.statuses["200"];
        assert_eq!(record.errors.get("grpc_unavailable"), Some(&failed), "{name}");
        return;
    }
    assert!(record.errors.is_empty(), "{name}: {:?}", record.errors);
    let told: Vec<&str> = record.statuses.keys().map(String::as_str).collect();
    assert_eq!(told, ["200"], "{name}");
    let body = record.metrics["response_body_bytes"];
    let expected = match record.workload.as_str() {
        "http1" | "http2" | "secret" => 1024.0,
        "bodies" => 100_000.0,
        // The prefix of each message, the tag and the length of each payload.
        "calls" => 3.0 * 107.0,
        _ => 1032.0,
    };
    assert_eq!(body, expected, "{name}");
    for proxy in record.cost.proxies.iter().filter(|proxy| proxy.named) {
        let requests = proxy.figures.get("requests").copied().unwrap_or(0.0);
        let is_hidden = ["secret", "hidden"].contains(&record.workload.as_str());
        assert_eq!(requests == 0.0, is_hidden, "{name}: {} counted {requests}", proxy.name);
    }
}
