use hopbench_model::fixture::{self, record};
use hopbench_model::{Latency, NodeCost};
use serde_json::json;

use super::*;

pub(super) fn job(workload: &str) -> Job {
    fixture::job(workload, json!({"size": "1472B"}))
}

/// An end whose one thread used so many cores.
pub(super) fn end(who: &str, cores: f64, cpus: Option<&[usize]>) -> Burden {
    let node = if who.starts_with(CLIENT) { "a" } else { "b" }.to_owned();
    let cpus = cpus.map(|cpus| cpus.iter().copied().collect());
    Burden {
        who: who.to_owned(),
        node,
        cores,
        processes: vec![WorkingProcess { cores, threads: 1, waits_per_s: None }],
        cpus,
        stopped: None,
        limit: None,
    }
}

/// These burdens on one machine, without proxies and without a link that is known.
pub(super) fn evidence(burdens: Vec<Burden>) -> Evidence {
    Evidence { burdens, server_nodes: None, one_machine: true, link: None, proxied: false }
}

#[track_caller]
fn assert_limit((found, because): (String, String), name: &str, why: &str) {
    assert_eq!((found.as_str(), because.as_str()), (name, why));
}

/// 956.4 Mbit/s of TCP payload.
const LINK: LinkRate =
    LinkRate { bits_per_s: Some(1_000_000_000), mtu_bytes: 1500, tunnel_bytes: 0, v6: false };

fn by(workload: &str, metrics: &[(&str, f64)], [client, server]: [f64; 2]) -> String {
    let burdens = vec![end(CLIENT, client, None), end(SERVER, server, None)];
    limited(&job(workload), &record(metrics), &Evidence { link: Some(LINK), ..evidence(burdens) }).0
}

fn on_link(workload: &str, metrics: &[(&str, f64)]) -> (String, String) {
    let evidence = Evidence { link: Some(LINK), ..evidence(vec![]) };
    limited(&job(workload), &record(metrics), &evidence)
}

/// The verdict on a closed loop on one machine whose CPUs were so busy, and so much of that in
/// softirq.
pub(super) fn on_cpus(burdens: Vec<Burden>, cpus: &[(f64, f64)]) -> (String, String) {
    let (per_cpu_busy, per_cpu_softirq) = cpus.iter().copied().unzip();
    on_node(burdens, &NodeCost { per_cpu_busy, per_cpu_softirq, ..NodeCost::default() })
}

/// The same of a machine that spent this.
pub(super) fn on_node(burdens: Vec<Burden>, machine: &NodeCost) -> (String, String) {
    let mut record = record(&[("requests_per_s", 1000.0)]);
    record.cost.nodes =
        ["a", "b"].map(|name| NodeCost { name: name.to_owned(), ..machine.clone() }).to_vec();
    limited(&job("http"), &record, &evidence(burdens))
}

/// The figures of `stream` in both directions, with these of one and those of the other.
fn both_ways<const N: usize>(
    names: [&str; N],
    to: [f64; N],
    from: [f64; N],
) -> BTreeMap<String, f64> {
    let of = |way: &str, values: [f64; N]| -> Vec<_> {
        names.iter().zip(values).map(|(name, value)| (format!("{way}{name}"), value)).collect()
    };
    let mut all: BTreeMap<_, _> =
        [of("to_server_", to), of("from_server_", from)].concat().into_iter().collect();
    for name in ["sent_bits_per_s", "received_bits_per_s"] {
        let sum = ["to_server_", "from_server_"]
            .iter()
            .filter_map(|way| all.get(&format!("{way}{name}")))
            .sum();
        all.insert(name.to_owned(), sum);
    }
    all
}

fn streaming(job: &Job, metrics: &BTreeMap<String, f64>) -> (String, String) {
    let metrics: Vec<_> = metrics.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    limited(job, &record(&metrics), &evidence(vec![]))
}

#[test]
fn a_full_link_is_the_limit_whatever_else_is_busy() {
    let full =
        [("sent_bits_per_s", 940e6), ("received_bits_per_s", 939e6), ("retransmitted_bytes", 5e6)];
    assert_eq!(
        by("stream", &full, [1.0, 1.0]),
        "nic",
        "a full link drops, and so bytes are sent again"
    );
    assert_eq!(
        by("http", &[("received_bits_per_s", 920e6), ("sent_bits_per_s", 1e6)], [0.1, 0.1]),
        "nic"
    );
    assert_eq!(
        by("stream", &[("sent_bits_per_s", 800e6), ("received_bits_per_s", 799e6)], [0.3, 1.0]),
        "cpu:server"
    );
}

#[test]
fn a_link_carries_what_arrives_and_not_what_is_written() {
    // A queue in front of the link takes more than the link does, for a while.
    let filling = |arrived| [("sent_bits_per_s", 1200e6), ("received_bits_per_s", arrived)];
    assert_eq!(by("stream", &filling(800e6), [0.1, 0.1]), "unknown");
    assert_limit(
        on_link("stream", &filling(940e6)),
        "nic",
        "940 Mbit/s of payload, of the 956 that a link of 1000 Mbit/s carries",
    );
    // Both figures of exchanges are the client's: what it sent was answered.
    assert_eq!(on_link("rr", &[("sent_bits_per_s", 940e6), ("received_bits_per_s", 1e6)]).0, "nic");
}

#[test]
fn directions_do_not_share_a_link() {
    let rates = ["sent_bits_per_s", "received_bits_per_s"];
    let limit = |from: f64| {
        let metrics = both_ways(rates, [500e6; 2], [from; 2]);
        let metrics: Vec<_> = metrics.iter().map(|(name, rate)| (name.as_str(), *rate)).collect();
        by("stream", &metrics, [0.1, 0.1])
    };
    assert_eq!(limit(500e6), "unknown");
    assert_eq!(limit(950e6), "nic");
}

#[test]
fn datagrams_that_were_dropped_before_the_link_do_not_fill_it() {
    assert_eq!(
        by("udp", &[("sent_bits_per_s", 5e9), ("received_bits_per_s", 960e6)], [0.1, 0.1]),
        "nic"
    );
    assert_eq!(
        by("udp", &[("sent_bits_per_s", 5e9), ("received_bits_per_s", 400e6)], [1.0, 0.1]),
        "cpu:client"
    );
}

#[test]
fn a_rate_that_only_left_is_no_rate_that_was_reached() {
    let all_sent = |received: f64| {
        [
            ("intended_per_s", 25e3),
            ("sent_packets_per_s", 25e3),
            ("sent_bits_per_s", 2e9),
            ("received_packets_per_s", received),
            ("received_bits_per_s", received / 25e3 * 2e9),
            ("unsent", 0.0),
        ]
    };
    assert_eq!(
        by("udp", &all_sent(12e3), [0.1, 0.1]),
        "nic",
        "the link was full and dropped the rest"
    );
    assert_eq!(by("udp", &all_sent(11e3), [0.1, 1.0]), "cpu:server", "the server lost the rest");
    assert_eq!(by("udp", &all_sent(11e3), [0.1, 0.1]), "unknown");
    assert_eq!(by("udp", &all_sent(24.9e3), [0.1, 0.1]), "target_rate");
}

#[test]
fn a_direction_that_loses_or_waits_for_room_is_found_beside_another() {
    let names = ["sent_bits_per_s", "retransmitted_bytes", "send_buffer_limited_ratio"];
    assert_limit(
        streaming(&job("stream"), &both_ways(names, [8e9, 0.0, 0.0], [8e9, 30e6, 0.0])),
        "retransmission",
        "3.0 % of the bytes from the server were sent again",
    );
    let (name, why) =
        streaming(&job("stream"), &both_ways(names, [8e9, 0.0, 0.8], [8e9, 0.0, 0.0]));
    assert_eq!(name, "socket_buffer");
    assert!(why.contains("80 % of the sending time to the server"), "{why}");
    assert_eq!(
        streaming(&job("stream"), &both_ways(names, [8e9, 0.0, 0.0], [8e9, 0.0, 0.0])).0,
        "unknown"
    );
}

#[test]
fn each_direction_has_the_rate_that_was_asked_for() {
    let asked = Job { params: json!({"rate": "100Mbit"}).into(), ..job("stream") };
    let limit = |to, from| streaming(&asked, &both_ways(["sent_bits_per_s"], [to], [from])).0;
    assert_eq!(limit(99e6, 100e6), "target_rate");
    assert_eq!(limit(60e6, 60e6), "unknown", "their sum is not what each was asked for");
    let (_, why) = streaming(&asked, &BTreeMap::from([("sent_bits_per_s".to_owned(), 99e6)]));
    assert_eq!(why, "99.00 Mbit/s of the 100 Mbit/s asked for");
    // Datagrams are due one by one: 20 clients that send 6 % of theirs send more bits than one was
    // asked for.
    let due = [
        ("sent_bits_per_s", 120e6),
        ("intended_per_s", 1e6),
        ("sent_packets_per_s", 6e4),
        ("unsent", 9e5),
    ];
    let due = due.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
    assert_eq!(streaming(&Job { workload: "udp".to_owned(), ..asked }, &due).0, "unknown");
}

#[test]
fn a_process_is_measured_by_its_own_threads() {
    let nginx = |workers: &[f64]| {
        let cores = workers.iter().sum();
        let processes = workers
            .iter()
            .map(|cores| WorkingProcess { cores: *cores, threads: 1, waits_per_s: None })
            .collect();
        Burden { processes, ..end(SERVER, cores, None) }
    };
    let client = |cores, threads| Burden {
        processes: vec![WorkingProcess { cores, threads, waits_per_s: None }],
        ..end(CLIENT, cores, None)
    };
    let idle = [(0.5, 0.0); 64];
    assert_limit(
        on_cpus(vec![client(4.0, 16), nginx(&[0.0, 0.99])], &idle),
        "cpu:server",
        "its thread used 0.99 cores: it hardly waited",
    );
    let (name, _) = on_cpus(vec![client(0.3, 1), nginx(&[0.3; 5])], &idle);
    assert_eq!(
        name, "unknown",
        "five workers that wait most of the time are not one that hardly does"
    );
    assert_eq!(on_cpus(vec![client(15.9, 16), nginx(&[0.5])], &idle).0, "cpu:client");
    // More threads than CPUs can be as busy as these.
    let held = Burden { cpus: Some([2, 3].into()), ..client(1.95, 16) };
    assert_limit(
        on_cpus(vec![held, nginx(&[0.5])], &idle),
        "cpu:client",
        "its 16 threads used 1.95 cores of the 2 that they may use",
    );
    assert_eq!(on_cpus(vec![client(1.95, 16), nginx(&[0.5])], &[(0.9, 0.0); 2]).0, "cpu:client");
}

#[test]
fn a_full_cpu_is_its_owners() {
    let ends =
        |client, server| vec![end(CLIENT, client, Some(&[0])), end(SERVER, server, Some(&[1]))];
    let (name, why) = on_cpus(ends(0.9, 0.7), &[(0.9, 0.1), (0.99, 0.2), (0.0, 0.0)]);
    assert_eq!(name, "cpu:server", "the client used more, but not of this CPU");
    assert_eq!(
        why,
        "CPU 1 was busy 99 %, 20 % in softirq; it is the CPU of the server: the server used 0.70 \
         cores"
    );
    let (name, _) = on_cpus(ends(0.9, 0.7), &[(0.9, 0.1), (0.9, 0.2), (1.0, 0.0)]);
    assert_eq!(name, "unknown", "what runs where no end may is no limit of the trial");
    let (name, why) = on_cpus(ends(0.9, 0.3), &[(0.9, 0.1), (0.99, 0.2), (1.0, 0.0)]);
    assert_eq!(name, "cpu:other", "{why}");
    // Somebody else's full CPU does not hide the one that is an end's own.
    let (name, _) = on_cpus(ends(0.3, 0.8), &[(1.0, 0.0), (0.99, 0.0)]);
    assert_eq!(name, "cpu:server");
    let (name, why) = on_cpus(ends(0.3, 0.3), &[(0.5, 0.0), (0.5, 0.0), (1.0, 0.9)]);
    assert_eq!(name, "softirq", "a node in between forwards there: {why}");
    assert!(why.ends_with("neither end may use it"), "{why}");
}

#[test]
fn ends_that_share_a_cpu_are_said_to() {
    let both = |set: Option<&[usize]>| vec![end(CLIENT, 0.48, set), end(SERVER, 0.46, set)];
    assert_limit(
        on_cpus(both(Some(&[0])), &[(1.0, 0.1), (0.2, 0.0)]),
        "cpu:shared",
        "CPU 0 was busy 100 %, 10 % in softirq; both ends share CPU 0: the client used 0.48 cores, \
         the server used 0.46 cores",
    );
    assert!(
        on_cpus(both(Some(&[0, 1])), &[(1.0, 0.1), (0.2, 0.0)])
            .1
            .contains("both ends share CPUs 0,1: ")
    );
    assert!(
        on_cpus(both(None), &[(1.0, 0.1), (0.2, 0.0)]).1.contains("both ends share all CPUs: ")
    );
    // Others did more there than both of them.
    assert_eq!(on_cpus(both(None), &[(1.0, 0.1), (1.0, 0.0)]).0, "cpu:other");
    let few = vec![end(CLIENT, 0.2, Some(&[0])), end(SERVER, 0.2, Some(&[0]))];
    assert_eq!(on_cpus(few, &[(1.0, 0.1), (0.2, 0.0)]).0, "cpu:other");
    let one = vec![end(CLIENT, 0.48, Some(&[0])), end(SERVER, 0.46, Some(&[1]))];
    assert_eq!(on_cpus(one, &[(1.0, 0.1), (0.5, 0.0)]).0, "cpu:other", "it is the client's alone");
}

#[test]
fn many_ends_are_not_called_a_process() {
    let mut ends = vec![end(CLIENT, 0.045, Some(&[0])); 20];
    ends.push(end(SERVER, 0.4, Some(&[1])));
    let (name, why) = on_cpus(ends, &[(1.0, 0.0), (0.5, 0.0)]);
    assert_eq!(name, "cpu:client");
    assert!(
        why.ends_with("it is the CPU of 20 clients: the 20 clients used 0.90 cores together"),
        "{why}"
    );
}

#[test]
fn machines_have_cpus_of_their_own() {
    let mut record = record(&[("requests_per_s", 1000.0)]);
    let node = |name: &str, busy| NodeCost {
        name: name.to_owned(),
        per_cpu_busy: vec![busy],
        ..NodeCost::default()
    };
    record.cost.nodes = vec![node("a", 0.5), node("b", 1.0)];
    let burdens = vec![end(CLIENT, 0.8, None), end(SERVER, 0.7, None)];
    let (name, _) =
        limited(&job("http"), &record, &Evidence { one_machine: false, ..evidence(burdens) });
    assert_eq!(name, "cpu:server", "the client used more, on the other machine");
}

#[test]
fn a_late_generator_is_told_in_a_unit_that_reads() {
    let mut record = record(&[("intended_per_s", 1000.0), ("requests_per_s", 900.0)]);
    record
        .latency
        .insert("lateness_ns".to_owned(), Latency { p99: 1_612_345, ..Latency::default() });
    let (name, why) = limited(&job("rr"), &record, &evidence(vec![]));
    assert_eq!(name, "generator");
    assert!(why.contains("1.61 ms late at p99"), "{why}");
}

/// A proxy with so many workers.
fn proxy(who: &str, cores: f64, workers: u32, cpus: Option<&[usize]>) -> Burden {
    Burden {
        processes: vec![WorkingProcess { cores, threads: workers, waits_per_s: None }],
        ..end(who, cores, cpus)
    }
}

#[test]
fn a_proxy_whose_workers_hardly_wait_is_the_limit() {
    let idle = [(0.5, 0.0); 8];
    let with =
        |one: Burden| on_cpus(vec![end(CLIENT, 0.5, None), end(SERVER, 0.4, None), one], &idle);
    assert_limit(
        with(proxy("client-sidecar", 1.93, 2, None)),
        "cpu:client-sidecar",
        "its 2 threads used 1.93 cores: they hardly waited",
    );
    assert_eq!(with(proxy("policy", 0.97, 1, None)).0, "cpu:policy");
    assert_eq!(
        with(proxy("gateway", 1.2, 2, None)).0,
        "unknown",
        "one of two could have taken more"
    );
    assert_limit(
        with(proxy("gateway", 0.96, 2, Some(&[3]))),
        "cpu:gateway",
        "its 2 threads used 0.96 cores of the 1 that they may use",
    );
    // An end that polls is busy whatever the traffic does; a proxy is not.
    let mut record = record(&[("requests_per_s", 1000.0)]);
    record.cost.nodes =
        vec![NodeCost { name: "a".to_owned(), per_cpu_busy: vec![0.9; 8], ..NodeCost::default() }];
    let polling = Job { engine: EngineKind::Spin, ..job("http") };
    let limit = |cores| {
        let burdens =
            vec![end(CLIENT, 1.0, None), end(SERVER, 1.0, None), proxy("gateway", cores, 2, None)];
        limited(&polling, &record, &Evidence { proxied: true, ..evidence(burdens) }).0
    };
    assert_eq!((limit(1.95).as_str(), limit(1.0).as_str()), ("cpu:gateway", "unknown"));
    let burdens = vec![end(CLIENT, 1.0, None), end(SERVER, 1.0, None)];
    record.cost.nodes[0].per_cpu_busy = vec![1.0; 2];
    let (name, why) = limited(&polling, &record, &evidence(burdens));
    assert_eq!(name, "unknown");
    assert!(why.starts_with("busy polling fills its CPUs"), "{why}");
}

#[test]
fn a_gateway_on_a_node_without_an_end_has_the_machines_cpus() {
    let mut record = record(&[("requests_per_s", 1000.0)]);
    record.cost.nodes =
        vec![NodeCost { name: "a".to_owned(), per_cpu_busy: vec![0.5; 2], ..NodeCost::default() }];
    let gateway = Burden { node: "c".to_owned(), ..proxy("gateway", 1.95, 4, None) };
    let limit = |one_machine| {
        let evidence = Evidence { one_machine, proxied: true, ..evidence(vec![gateway.clone()]) };
        limited(&job("http"), &record, &evidence)
    };
    assert_limit(
        limit(true),
        "cpu:gateway",
        "its 4 threads used 1.95 cores of the 2 that they may use",
    );
    assert_eq!(limit(false).0, "unknown", "nobody knows how many CPUs another machine has");
}

#[test]
fn behind_a_proxy_nothing_is_known_of_what_was_sent_again() {
    let says = |metrics: &[(&str, f64)], proxied| {
        let evidence = Evidence { proxied, ..evidence(vec![]) };
        limited(&job("stream"), &record(metrics), &evidence).1
    };
    let lossy = [("sent_bits_per_s", 8e6), ("retransmitted_bytes", 5e4)];
    assert_eq!(says(&lossy, false), "5.0 % of the bytes were sent again");
    assert_eq!(
        says(&lossy, true),
        "5.0 % of the bytes were sent again on the ends' own connections (behind the first proxy \
         this is not known)"
    );
    let quiet = [("sent_bits_per_s", 8e6)];
    assert_eq!(
        says(&quiet, false),
        "no CPU of the ends was full, few bytes were sent twice, no buffer was full for long"
    );
    assert_eq!(
        says(&quiet, true),
        "no CPU of ends or proxies was full, few bytes were sent twice on the ends' own \
         connections (behind the first proxy this is not known), no buffer was full for long"
    );
    // Without a time of its exchanges nothing is known of a round trip.
    assert!(
        says(&[("requests_per_s", 9.0)], true)
            .starts_with("no CPU of ends or proxies was full, few bytes ")
    );
}

#[test]
fn a_full_cpu_is_who_has_the_largest_share_of_it() {
    let on = |cpus: Option<&[usize]>, [client, first, second, server]: [f64; 4]| {
        let burdens = vec![
            end(CLIENT, client, cpus),
            end(SERVER, server, cpus),
            proxy("client-sidecar", first, 4, cpus),
            proxy("server-sidecar", second, 4, cpus),
        ];
        on_cpus(burdens, &[(1.0, 0.1), (0.9, 0.0)])
    };
    assert_limit(
        on(None, [0.3, 0.6, 0.5, 0.2]),
        "cpu:client-sidecar",
        "CPU 0 was busy 100 %, 10 % in softirq; the client, the server, the client-sidecar and the \
         server-sidecar share all CPUs: the client used 0.30 cores, the server used 0.20 cores, \
         the client-sidecar used 0.60 cores, the server-sidecar used 0.50 cores",
    );
    assert_eq!(on(Some(&[0, 1]), [0.7, 0.6, 0.5, 0.2]).0, "cpu:client");
    assert_eq!(on(Some(&[0, 1]), [0.2, 0.3, 0.3, 0.2]).0, "cpu:shared");
    assert_eq!(on(Some(&[0, 1]), [0.2, 0.3, 0.2, 0.2]).0, "cpu:other", "more is not theirs");
    let ends = |gateway: Option<&[usize]>| {
        vec![
            end(CLIENT, 0.3, Some(&[1])),
            end(SERVER, 0.3, Some(&[1])),
            proxy("gateway", 0.8, 4, gateway),
        ]
    };
    let (name, why) = on_cpus(ends(Some(&[0])), &[(1.0, 0.1), (0.6, 0.0)]);
    assert_eq!(name, "cpu:gateway");
    assert!(why.ends_with("it is the CPU of the gateway: the gateway used 0.80 cores"), "{why}");
    // Two servers' sidecars are of one sort.
    let mut sidecars = vec![proxy("server-sidecar", 0.45, 4, Some(&[0])); 2];
    sidecars.extend([end(CLIENT, 0.5, Some(&[1])), end(SERVER, 0.1, Some(&[1]))]);
    let (name, why) = on_cpus(sidecars, &[(1.0, 0.1), (0.6, 0.0)]);
    assert_eq!(name, "cpu:server-sidecar");
    assert!(
        why.ends_with(
            "the CPU of 2 server-sidecars: the 2 server-sidecars used 0.90 cores together"
        ),
        "{why}"
    );
}

#[test]
fn a_sender_that_waits_for_a_proxy_is_not_said_to_wait_for_the_receiver() {
    let waits = record(&[("sent_bits_per_s", 1e9), ("receive_window_limited_ratio", 0.9)]);
    let why =
        |proxied| limited(&job("stream"), &waits, &Evidence { proxied, ..evidence(vec![]) }).1;
    assert!(
        why(false).starts_with("the receiver's window was the limit for 90 %"),
        "{}",
        why(false)
    );
    assert!(
        why(true).starts_with("the window of the sender's proxy was the limit for 90 %"),
        "{}",
        why(true)
    );
}

/// A closed loop of 1 connection in a window of so many seconds, whose exchanges took 100 us each.
fn in_a_window_of(seconds: f64, client: f64, busy: f64) -> (String, String) {
    let mut record = record(&[("requests_per_s", 10_000.0)]);
    record.window_s = seconds;
    let service = Latency { count: 500, mean: 99_000.0, max: 400_000, ..Latency::default() };
    record.latency.insert("service_ns".to_owned(), service);
    record.cost.nodes =
        vec![NodeCost { name: "a".to_owned(), per_cpu_busy: vec![busy; 2], ..NodeCost::default() }];
    let burdens = vec![end(CLIENT, client, None), end(SERVER, 0.4, None)];
    limited(&job("rr"), &record, &evidence(burdens))
}

#[test]
fn in_a_short_window_processes_are_known_and_the_machine_is_not() {
    assert_eq!(in_a_window_of(0.05, 0.97, 0.8).0, "cpu:client", "its own time is exact");
    let (name, why) = in_a_window_of(0.05, 0.6, 1.0);
    assert_eq!(name, "round_trip", "5 ticks of a CPU are no ground for anything");
    let but = "no thread of the ends was busy all the time (a window of 0.050 s is too short for \
               the machine's CPUs, which count in ticks)";
    assert!(why.ends_with(but), "{why}");
    assert_eq!(in_a_window_of(0.5, 0.6, 1.0).0, "cpu:client");
}

#[test]
fn the_round_trip_limits_only_what_nothing_else_does() {
    let (name, why) = in_a_window_of(1.0, 0.6, 0.8);
    assert_eq!((name.as_str(), why.contains("metered")), ("round_trip", false), "{why}");
    let fits = |metrics: &[(&str, f64)], link| {
        let mut record = record(&[&[("requests_per_s", 10_000.0)], metrics].concat());
        let service = Latency { count: 10_000, mean: 99_000.0, max: 400_000, ..Latency::default() };
        record.latency.insert("service_ns".to_owned(), service);
        let evidence = Evidence { link, ..evidence(vec![]) };
        limited(&job("rr"), &record, &evidence)
    };
    let (name, why) = fits(&[("received_bits_per_s", 500e6)], Some(LINK));
    assert_eq!(name, "round_trip");
    assert!(
        why.ends_with("; nobody metered the server, whose own time is part of the round trip"),
        "{why}"
    );
    let fits = |metrics: &[(&str, f64)], link| fits(metrics, link).0;
    assert_eq!(fits(&[("received_bits_per_s", 940e6)], Some(LINK)), "nic");
    assert_eq!(
        fits(&[("sent_bits_per_s", 8e6), ("retransmitted_bytes", 5e4)], None),
        "retransmission"
    );
    assert_eq!(
        fits(&[("sent_bits_per_s", 8e6), ("receive_window_limited_ratio", 0.9)], None),
        "socket_buffer"
    );
}
