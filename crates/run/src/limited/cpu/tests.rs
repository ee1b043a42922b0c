use super::super::evidence::CLIENT;
use super::super::tests::{end, evidence, job, on_cpus, on_node};
use super::*;

/// An end whose one thread used so many cores and waited so often.
fn waiting(who: &str, cores: f64, waits_per_s: f64, cpus: Option<&[usize]>) -> Burden {
    Burden {
        processes: vec![WorkingProcess { cores, threads: 1, waits_per_s: Some(waits_per_s) }],
        ..end(who, cores, cpus)
    }
}

#[test]
fn a_server_that_nobody_meters_may_have_filled_a_cpu() {
    // The client by itself, by hand: it cannot have filled CPU 0, where 1.3 cores are somebody
    // else's.
    let (name, why) = on_cpus(vec![end(CLIENT, 0.6, None)], &[(1.0, 0.1), (0.9, 0.0)]);
    assert_eq!(name, "cpu:other");
    assert_eq!(
        why,
        "CPU 0 was busy 100 %, 10 % in softirq; on all CPUs the client used 0.60 cores and what is \
         not metered 1.30, of which the server may be a part"
    );
    assert_eq!(
        on_cpus(vec![end(CLIENT, 0.9, None)], &[(1.0, 0.1), (0.3, 0.0)]).0,
        "cpu:client",
        "1.3 in all"
    );
    // Where the client is held to a CPU, what others do elsewhere is not on it.
    assert_eq!(
        on_cpus(vec![end(CLIENT, 0.6, Some(&[0]))], &[(1.0, 0.1), (0.9, 0.0)]).0,
        "cpu:client"
    );
    assert_eq!(
        on_cpus(vec![end(CLIENT, 0.4, Some(&[0]))], &[(1.0, 0.1), (0.9, 0.0)]).0,
        "cpu:other"
    );
    // The server fills a CPU that the client may not use.
    let (name, why) = on_cpus(vec![end(CLIENT, 0.6, Some(&[0]))], &[(0.6, 0.1), (1.0, 0.0)]);
    assert_eq!(name, "cpu:other", "{why}");
    assert!(why.contains("no end that is metered may use it"), "{why}");
    // A server that is metered is known not to be there.
    let both = vec![end(CLIENT, 0.6, Some(&[0])), end(SERVER, 0.2, Some(&[0]))];
    assert_eq!(on_cpus(both, &[(0.8, 0.1), (1.0, 0.0)]).0, "unknown");
    let both = vec![end(CLIENT, 0.6, None), end(SERVER, 0.2, None)];
    assert_eq!(on_cpus(both, &[(1.0, 0.1), (0.9, 0.0)]).0, "cpu:client");
}

#[test]
fn in_a_short_window_the_time_of_all_on_a_cpu_says_that_it_was_full() {
    let short = |burdens: Vec<Burden>, engine| {
        let job = Job { engine, ..job("rr") };
        let record = Record { window_s: 0.12, ..hopbench_model::fixture::record(&[]) };
        full(&job, &record, &evidence(burdens))
    };
    let one = || Some(&[1usize][..]);
    let sidecar = || end("server-sidecar", 0.62, one());
    let both = || vec![end(CLIENT, 0.4, Some(&[0])), end(SERVER, 0.36, one()), sidecar()];
    let (name, why) = short(both(), EngineKind::Epoll).expect("a limit");
    assert_eq!(name, "cpu:server-sidecar");
    assert!(
        why.ends_with(
            "the server used 0.36 cores, the server-sidecar used 0.62 cores; the kernel's work for \
             their packets is a part of it"
        ),
        "{why}"
    );
    let shared = vec![end(CLIENT, 0.48, one()), end(SERVER, 0.49, one())];
    assert_eq!(short(shared, EngineKind::Epoll).expect("a limit").0, "cpu:shared");
    let room = vec![end(SERVER, 0.3, one()), sidecar()];
    assert_eq!(short(room, EngineKind::Epoll), None);
    // Whoever polls fills a CPU whatever the traffic does, and whoever is held to none may be on
    // any.
    assert_eq!(short(both(), EngineKind::Spin), None);
    assert_eq!(short(vec![end(CLIENT, 0.9, None)], EngineKind::Epoll), None);
}

#[test]
fn a_thread_that_waits_thousands_of_times_is_not_said_to_hardly_wait() {
    let limit = |waits, cpus: &[(f64, f64)]| {
        on_cpus(vec![end(CLIENT, 0.3, None), waiting(SERVER, 0.97, waits, None)], cpus)
    };
    let half_idle = [(0.8, 0.1), (0.8, 0.2)];
    let (name, why) = limit(120.0, &half_idle);
    assert_eq!(
        (name.as_str(), why.as_str()),
        ("cpu:server", "its thread used 0.97 cores and waited 120 times a second")
    );
    assert_eq!(limit(5000.0, &half_idle).0, "unknown", "it had nothing to do 5000 times a second");
    let (name, why) = limit(5000.0, &[(1.0, 0.3), (0.3, 0.0)]);
    assert_eq!(name, "cpu:server", "it is busy all the same, and its CPU is full");
    assert!(why.starts_with("CPU 0 was busy 100 %, 30 % in softirq; "), "{why}");
    // Two threads may wait twice as often.
    let two = |waits| {
        let both = WorkingProcess { cores: 1.95, threads: 2, waits_per_s: Some(waits) };
        on_cpus(vec![Burden { processes: vec![both], ..end(SERVER, 1.95, None) }], &[(0.9, 0.1); 4])
            .0
    };
    assert_eq!([two(1500.0), two(2500.0)], ["cpu:server", "unknown"]);
}

#[test]
fn a_thread_whose_cpu_processes_packets_is_not_the_limit_itself() {
    let ends =
        |cpus: Option<&[usize]>| vec![end(CLIENT, 0.3, None), waiting(SERVER, 0.97, 20.0, cpus)];
    let (name, why) = on_cpus(ends(Some(&[1])), &[(0.6, 0.1), (1.0, 0.62)]);
    assert_eq!(name, "softirq");
    assert_eq!(
        why,
        "CPU 1 was busy 100 %, 62 % in softirq; of the server: its thread used 0.97 cores and \
         waited 20 times a second"
    );
    assert_eq!(on_cpus(ends(Some(&[1])), &[(0.6, 0.1), (1.0, 0.4)]).0, "cpu:server");
    assert_eq!(
        on_cpus(ends(Some(&[0])), &[(1.0, 0.1), (1.0, 0.9)]).0,
        "cpu:server",
        "packets are processed elsewhere"
    );
    // A thread that any CPU may have: one CPU is full of work, and one is enough for it.
    assert_eq!(on_cpus(ends(None), &[(1.0, 0.1), (1.0, 0.9)]).0, "cpu:server");
    assert_eq!(on_cpus(ends(None), &[(0.7, 0.1), (1.0, 0.9)]).0, "softirq");
}

#[test]
fn a_server_that_nobody_meters_is_only_where_it_can_be() {
    let mut record = hopbench_model::fixture::record(&[("requests_per_s", 1000.0)]);
    let node =
        NodeCost { name: "a".to_owned(), per_cpu_busy: vec![1.0, 0.9], ..NodeCost::default() };
    record.cost.nodes = vec![node];
    let with_server_on = |nodes: Option<&str>| {
        let server_nodes = nodes.map(|name| [name.to_owned()].into());
        let burdens = vec![end(CLIENT, 0.6, None)];
        let evidence = Evidence { server_nodes, one_machine: false, ..evidence(burdens) };
        super::super::limited(&job("http"), &record, &evidence).0
    };
    assert_eq!(
        [None, Some("a"), Some("b")].map(with_server_on),
        ["cpu:other", "cpu:other", "cpu:client"]
    );
}

/// The verdict on CPUs that were so busy, and of which the hypervisor gave so much away.
fn on_stolen(burdens: Vec<Burden>, cpus: &[(f64, f64)]) -> (String, String) {
    let (per_cpu_busy, per_cpu_steal) = cpus.iter().copied().unzip();
    on_node(burdens, &NodeCost { per_cpu_busy, per_cpu_steal, ..NodeCost::default() })
}

#[test]
fn a_stolen_cpu_is_nobodys_fault_here() {
    let ends =
        |client, server| vec![end(CLIENT, client, Some(&[0])), end(SERVER, server, Some(&[1]))];
    let (name, why) = on_stolen(ends(0.6, 0.5), &[(1.0, 0.4), (0.7, 0.0)]);
    assert_eq!(
        (name.as_str(), why.as_str()),
        (
            "steal",
            "CPU 0 was busy 60 %, and the hypervisor gave 40 % of it to other machines; it is the \
             CPU of the client"
        )
    );
    // A tick or two do not fill it.
    assert_eq!(on_stolen(ends(0.94, 0.5), &[(1.0, 0.04), (0.7, 0.0)]).0, "cpu:client");
    // One that has time left is no limit, and neither is one that no end may use.
    assert_eq!(on_stolen(ends(0.4, 0.5), &[(0.8, 0.4), (0.7, 0.0)]).0, "unknown");
    assert_eq!(on_stolen(ends(0.4, 0.5), &[(0.8, 0.0), (0.7, 0.0), (1.0, 0.4)]).0, "unknown");
    // The other end filled a CPU with its own work.
    assert_eq!(on_stolen(ends(0.6, 0.8), &[(1.0, 0.4), (1.0, 0.0)]).0, "cpu:server");
    // Some kernels charge a thread for time in which its CPU was given away.
    let (name, why) = on_stolen(ends(0.98, 0.5), &[(1.0, 0.4), (0.7, 0.0)]);
    assert_eq!(name, "steal");
    assert!(
        why.ends_with("; of the client: its thread used 0.98 cores: it hardly waited"),
        "{why}"
    );
    let anywhere = vec![end(CLIENT, 0.98, None), end(SERVER, 0.3, None)];
    assert_eq!(on_stolen(anywhere, &[(1.0, 0.0), (1.0, 0.4)]).0, "cpu:client", "it had CPU 0");
    // What was stolen is not work that nobody meters.
    let alone = vec![end(CLIENT, 0.7, None)];
    assert_eq!(on_stolen(alone, &[(1.0, 0.0), (0.9, 0.9)]).0, "cpu:client");
}
