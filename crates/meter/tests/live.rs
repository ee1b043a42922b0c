//! The meters on this machine, against the `procfs` crate's reading of the same files.
//!
//! A running total that is read between two readings of the oracle must lie between them.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use hopbench_meter::{METERS, MeterSet, MeteredProcess, delta, environment};
use hopbench_model::Reading;
use procfs::{Current, CurrentSI};

type Rows = BTreeMap<String, Reading>;

/// A clock that moves by 7 ns whenever it is looked at.
fn step_clock() -> u64 {
    static NOW: AtomicU64 = AtomicU64::new(0);
    NOW.fetch_add(7, Ordering::Relaxed)
}

fn read(target: &MeteredProcess) -> Rows {
    MeterSet::open_all(target, step_clock).read()
}

fn assert_between(what: &str, before: f64, ours: f64, after: f64) {
    // The product and the quotient of a tick differ in the last binary digit.
    let slack = 1e-6;
    assert!(
        before - slack <= ours && ours <= after + slack,
        "{what}: {before} <= {ours} <= {after}"
    );
}

/// A value's name, and how the oracle has it, in ticks.
type Time = (&'static str, fn(&procfs::CpuTime) -> u64);

const TIMES: [Time; 3] = [
    ("busy", |cpu| {
        let newer = [cpu.irq, cpu.softirq, cpu.steal];
        cpu.user + cpu.nice + cpu.system + newer.iter().flatten().sum::<u64>()
    }),
    ("softirq", |cpu| cpu.softirq.unwrap_or(0)),
    ("steal", |cpu| cpu.steal.unwrap_or(0)),
];

#[test]
fn cpu_agrees_with_procfs() {
    let ticks_per_s = procfs::ticks_per_second() as f64;
    let before = procfs::KernelStats::current().unwrap();
    let rows = read(&MeteredProcess::itself());
    let after = procfs::KernelStats::current().unwrap();
    let ours = &rows["cpu"];
    let switches = ours["context_switches_total"];
    assert_between("context switches", before.ctxt as f64, switches, after.ctxt as f64);

    // The oracle knows a CPU by its place among those online, we by its number.
    let mut numbers: Vec<u32> = ours
        .keys()
        .filter_map(|key| key.strip_prefix("cpu")?.strip_suffix("_busy_s_total")?.parse().ok())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers.len(), before.cpu_time.len(), "{ours:?}");
    let compare = |prefix: &str, before: &procfs::CpuTime, after: &procfs::CpuTime| {
        for (value, ticks) in TIMES {
            let key = format!("{prefix}{value}_s_total");
            let s = |cpu| ticks(cpu) as f64 / ticks_per_s;
            assert_between(&key, s(before), ours[&key], s(after));
        }
    };
    compare("", &before.total, &after.total);
    for (n, number) in numbers.iter().enumerate() {
        compare(&format!("cpu{number}_"), &before.cpu_time[n], &after.cpu_time[n]);
    }
}

#[test]
fn process_agrees_with_procfs() {
    let ticks_per_s = procfs::ticks_per_second() as f64;
    let oracle = procfs::process::Process::myself().unwrap();
    let before = oracle.stat().unwrap();
    let ours = &read(&MeteredProcess::itself())["process"];
    let after = oracle.stat().unwrap();
    let status = oracle.status().unwrap();

    let s = |ticks: u64| ticks as f64 / ticks_per_s;
    assert_between("user", s(before.utime), ours["user_s_total"], s(after.utime));
    assert_between("system", s(before.stime), ours["system_s_total"], s(after.stime));
    assert!(ours["max_rss_bytes"] <= status.vmhwm.unwrap() as f64 * 1024.0);
    assert!(ours["rss_bytes"] > 100_000.0, "{ours:?}");
    assert!(ours["threads"] >= 1.0, "{ours:?}");
}

#[test]
fn interfaces_agree_with_procfs() {
    let before = procfs::net::dev_status().unwrap();
    let ours = &read(&MeteredProcess::itself())["netdev"];
    let after = procfs::net::dev_status().unwrap();
    let mut compared = Vec::new();
    for (name, before) in &before {
        // Others may make and remove interfaces meanwhile.
        let Some(after) = after.get(name) else {
            continue;
        };
        if !ours.contains_key(&format!("{name}_rx_bytes_total")) {
            continue;
        }
        compared.push(name.as_str());
        for (key, before, after) in [
            ("rx_bytes", before.recv_bytes, after.recv_bytes),
            ("rx_packets", before.recv_packets, after.recv_packets),
            ("rx_errors", before.recv_errs, after.recv_errs),
            ("rx_drops", before.recv_drop, after.recv_drop),
            ("tx_bytes", before.sent_bytes, after.sent_bytes),
            ("tx_packets", before.sent_packets, after.sent_packets),
            ("tx_errors", before.sent_errs, after.sent_errs),
            ("tx_drops", before.sent_drop, after.sent_drop),
        ] {
            let key = format!("{name}_{key}_total");
            assert_between(&key, before as f64, ours[&key], after as f64);
        }
    }
    assert!(compared.contains(&"lo"), "{compared:?} of {ours:?}");
    assert!(ours["interfaces"] >= compared.len() as f64, "{ours:?}");
}

#[test]
fn protocols_agree_with_procfs() {
    let before = procfs::net::snmp().unwrap();
    let ours = &read(&MeteredProcess::itself())["snmp"];
    let after = procfs::net::snmp().unwrap();
    for (key, before, after) in [
        ("tcp_in_segs_total", before.tcp_in_segs, after.tcp_in_segs),
        ("tcp_out_segs_total", before.tcp_out_segs, after.tcp_out_segs),
        ("tcp_retrans_segs_total", before.tcp_retrans_segs, after.tcp_retrans_segs),
        ("tcp_estab_resets_total", before.tcp_estab_resets, after.tcp_estab_resets),
        ("udp_in_datagrams_total", before.udp_in_datagrams, after.udp_in_datagrams),
        ("udp_no_ports_total", before.udp_no_ports, after.udp_no_ports),
        ("udp_rcvbuf_errors_total", before.udp_rcvbuf_errors, after.udp_rcvbuf_errors),
    ] {
        assert_between(key, before as f64, ours[key], after as f64);
    }
    assert!(ours.contains_key("tcp_listen_drops_total"), "netstat was not read: {ours:?}");
}

#[test]
fn memory_agrees_with_procfs() {
    let oracle = procfs::Meminfo::current().unwrap();
    let ours = &read(&MeteredProcess::itself())["memory"];
    assert_eq!(ours["total_bytes"], oracle.mem_total as f64);
    assert!(ours["available_bytes"] > 0.0 && ours["available_bytes"] <= ours["total_bytes"]);
}

#[test]
fn loopback_traffic_is_seen_in_a_window() {
    let mut set = MeterSet::open_all(&MeteredProcess::itself(), step_clock);
    let receiver = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let sender = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let start = set.read();
    for _ in 0..50 {
        sender.send_to(&[0; 100], receiver.local_addr().unwrap()).unwrap();
        receiver.recv(&mut [0; 200]).unwrap();
    }
    let end = set.read();
    let cost = delta::node_cost("here", &start, &end, 1.0);
    assert!(cost.meters["netdev"]["lo_rx_packets"] >= 50.0, "{cost:?}");
    assert!(cost.meters["netdev"]["lo_rx_bytes"] >= 50.0 * 128.0, "{cost:?}");
    assert!(cost.meters["snmp"]["udp_in_datagrams"] >= 50.0, "{cost:?}");
    assert!(cost.meters["softnet"]["processed"] >= 50.0, "{cost:?}");
}

#[test]
fn totals_never_go_back_and_costs_are_kept() {
    let mut set = MeterSet::open_all(&MeteredProcess::itself(), step_clock);
    let first = set.read();
    let second = set.read();
    let mut compared = 0;
    for (meter, row) in &first {
        for (key, before) in row.iter().filter(|(key, _)| key.ends_with("_total")) {
            // Others may remove an interface meanwhile.
            if let Some(after) = second[meter].get(key) {
                assert!(after >= before, "{meter} {key} went from {before} to {after}");
                compared += 1;
            }
        }
    }
    assert!(compared > 20, "only {compared} totals were there");
    let costs: Vec<_> = set.costs().collect();
    assert_eq!(costs.len() + set.unavailable().len(), METERS.len());
    for cost in costs {
        assert_eq!((cost.reads, cost.failures), (2, 0), "{cost:?}");
        assert!(cost.mean_ns() >= 7, "{cost:?}");
    }
    for (name, why) in set.unavailable() {
        assert!(!why.is_empty() && !first.contains_key(*name), "{name}: {why}");
    }
}

/// A child that waits for its input to end.
struct Waiting(Child);

impl Waiting {
    fn start() -> Self {
        Self(
            Command::new("cat")
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .expect("cat starts"),
        )
    }

    fn end(&mut self) {
        self.0.kill().expect("the child is there");
        self.0.wait().expect("the child can be waited for");
    }
}

#[test]
fn a_process_that_ends_gives_no_row() {
    let mut child = Waiting::start();
    let mut set = MeterSet::open_all(&MeteredProcess::process(child.0.id()), step_clock);
    let alive = set.read();
    assert_eq!(alive["process"]["threads"], 1.0);
    child.end();
    let after = set.read();
    assert!(!after.contains_key("process") && after.contains_key("cpu"), "{after:?}");
    let cost = set.costs().find(|cost| cost.name == "process").unwrap();
    assert_eq!(cost.failures, 1);
    assert!(cost.last_failure.as_ref().unwrap().contains("/stat"), "{cost:?}");
}

#[test]
fn the_machine_is_described() {
    let facts = environment::machine();
    let kernel = procfs::sys::kernel::Version::current().unwrap();
    let kernel = format!("{}.{}.{}", kernel.major, kernel.minor, kernel.patch);
    assert!(facts["kernel"].starts_with(&kernel), "{facts:?}");
    let cpus = procfs::KernelStats::current().unwrap().cpu_time.len();
    assert_eq!(facts["cpu_count"], cpus.to_string());
    assert_eq!(facts["memory_bytes"], procfs::Meminfo::current().unwrap().mem_total.to_string());
    assert!(facts.values().all(|value| !value.is_empty() && value.trim() == value), "{facts:?}");
}
