//! Both families of IP side by side: every workload is measured by each, and proved.

use hopbench_model::Record;

use crate::lab::envoy;
use crate::lab::namespace::outside;
use crate::lab::records::sound;
use crate::lab::{Bench, User};

const FAMILIES: &str = "
name: families
testbed: {lab: {nodes: 3}}
rounds: 1
time: 200ms
warmup: 50ms
paths:
  four:    {from: bridge@a, to: bridge@b, family: ipv4}
  six:     {from: bridge@a, to: bridge@b, family: ipv6}
  service: {from: bridge@a, to: overlay@b, family: ipv6, via: cluster-ip, backends: 2}
  port:    {from: host@a, to: ptp@b, family: ipv6, via: node-port@c}
  mesh:    {from: bridge@a, to: bridge@b, family: ipv6, mesh: both}
workloads:
  bulk:  {stream: {connections: 2}}
  ask:   {rr: {size: 100B}}
  fresh: {crr: {}}
  dgram: {udp: {size: 100B, rate: 1000pps}}
  echo:  {ping: {every: 10ms}, paths: [four, six]}
  page:  {http: {connections: 2, response: 1KiB}}
";

#[test]
fn every_workload_is_measured_by_both_families() {
    let (Some(envoy), Some(_turn)) = (envoy::program(), outside()) else { return };
    let bench = Bench::new(User::Caller, FAMILIES);
    let done = bench.run(&["--envoy", &envoy.to_string_lossy()]);
    assert_eq!(done.code, Some(0), "{}", done.story());
    let records = bench.results().records;
    assert_eq!(records.len(), 5 * 5 + 2, "{}", done.story());
    for record in &records {
        sound(record);
        assert!(is_of_its_family(record), "{} {record:#?}", record.path);
    }
}

/// Whether everything is proved, and the server saw an address of the path's family.
fn is_of_its_family(record: &Record) -> bool {
    let peers = record.proof.iter().find(|proof| proof.hop == "peer");
    let is = |evidence: &str| match record.path.as_str() {
        "four" => evidence.starts_with("the server saw 10."),
        // A sidecar speaks to its own pod by IPv4.
        "mesh" if record.workload != "dgram" => evidence == "the server saw 127.0.0.1",
        _ => evidence.starts_with("the server saw fd68:"),
    };
    record.proof.iter().all(|proof| proof.ok)
        && peers.map_or(record.workload == "echo", |peers| is(&peers.evidence))
}
