//! Tests of `limited_by` where the culprit is known and real: a generator that is stopped, a server
//! that is stopped, a server that nobody meters. Shares and orders only; no time is asserted that
//! the machine could change.

use std::thread;

use hopbench_model::{Record, WarningKind};
use hopbench_sys::clock;

use crate::lab::namespace::inside;
use crate::lab::pair::B;
use crate::lab::process::signal;
use crate::lab::program::Running;
use crate::lab::records::{metric, one};
use crate::lab::{Agent, Pair, Turn, program};

fn sleep_ms(ms: u64) {
    clock::sleep_until(clock::now() + ms * 1_000_000);
}

/// The record of a client that is stopped for 40 of every 100 ms, in which 40 requests come due.
/// Most of its 16 connections rest then.
fn stopped_again_and_again(url: &str) -> Record {
    let arguments =
        ["http", url, "--json", "--rate", "1000", "-t", "2s", "--warmup", "200ms", "-c", "16"];
    let mut client = Running::start(&mut program(&arguments));
    // Far more rounds than it lives.
    for _ in 0..300 {
        sleep_ms(60);
        if !client.runs() {
            break;
        }
        client.signal("STOP");
        sleep_ms(40);
        client.signal("CONT");
    }
    one(&client.finish())
}

#[test]
fn a_generator_that_stalls_is_no_lack_of_connections() {
    let _turn = Turn::alone();
    let agent = Agent::insecure(&["--http"]);
    let url = format!("http://{}/?size=100", agent.target());
    let mut shares = Vec::new();
    // A server that has no CPU for a while keeps all connections busy; one time of three it has
    // one.
    while shares.len() < 3 {
        let record = stopped_again_and_again(&url);
        let intended = metric(&record, "intended_per_s") * record.window_s;
        assert!(intended >= 1999.0, "{:?}", record.metrics);
        shares.push(metric(&record, "queued") / intended);
        if shares.last().is_some_and(|share| *share < 0.1) {
            let warned =
                record.warnings.iter().any(|warning| warning.kind == WarningKind::GeneratorLimited);
            assert!(warned, "{:?} {:?}", record.warnings, record.metrics);
            return;
        }
    }
    panic!("{shares:?} of the requests are said to have waited for a connection");
}

/// The record of a client whose server is stopped for 100 of every 300 ms, in which 100 requests
/// come due. All 16 connections are soon busy then.
fn beside_a_stopped_server(url: &str, server: u32) -> Record {
    let arguments =
        ["http", url, "--json", "--rate", "1000", "-t", "2s", "--warmup", "200ms", "-c", "16"];
    let mut client = Running::start(&mut program(&arguments));
    // Far more rounds than it lives.
    for _ in 0..100 {
        sleep_ms(200);
        if !client.runs() {
            break;
        }
        signal(server, "STOP");
        sleep_ms(100);
        signal(server, "CONT");
    }
    one(&client.finish())
}

#[test]
fn a_server_that_stands_still_is_no_late_generator() {
    let _turn = Turn::alone();
    let agent = Agent::insecure(&["--http"]);
    let url = format!("http://{}/?size=100", agent.target());
    let mut told = Vec::new();
    // A machine without a CPU for the client makes it late as well; one time of three it has one.
    while told.len() < 3 {
        let record = beside_a_stopped_server(&url, agent.pid());
        let intended = metric(&record, "intended_per_s") * record.window_s;
        assert!(metric(&record, "queued") > 0.1 * intended, "{:?}", record.metrics);
        let warning =
            record.warnings.iter().find(|warning| warning.kind == WarningKind::GeneratorLimited);
        match warning {
            None if record.limited_by != "generator" => return,
            _ => told.push((record.limited_by, warning.map(|warning| warning.detail.clone()))),
        }
    }
    panic!("{told:?}");
}

/// Four connections of 20 ms an exchange can do 200 a second.
#[test]
fn connections_that_are_all_busy_are_the_limit() {
    let _turn = Turn::alone();
    let agent = Agent::insecure(&["--http"]);
    let url = format!("http://{}/?delay=20ms", agent.target());
    let arguments =
        ["http", &url, "--json", "--rate", "400", "-t", "400ms", "--warmup", "200ms", "-c", "4"];
    let record = one(&program::run(&mut program(&arguments)));
    let why = (&record.limited_because, &record.metrics);
    assert_eq!(record.limited_by, "connections", "{why:?}");
    let done = metric(&record, "completed_per_s") / metric(&record, "intended_per_s");
    assert!(done < 0.6, "{why:?}");
    assert!(record.limited_because.contains("4 connections / "), "{why:?}");
}

/// By hand an HTTP server is somebody's, and may fill a CPU that the client may not use.
#[test]
fn a_client_is_not_blamed_for_a_cpu_that_it_may_not_use() {
    let _turn = Turn::alone();
    let cpus = hopbench_sys::cpu::allowed().expect("an affinity");
    let [first, second, ..] = cpus[..] else {
        let skip = "SKIP a_client_is_not_blamed_for_a_cpu_that_it_may_not_use: one CPU only";
        let _ = std::io::Write::write_all(&mut std::io::stdout(), format!("\n{skip}\n").as_bytes());
        return;
    };
    // Processes inherit the CPUs of the thread that starts them.
    let on = move |cpu: usize, start: fn() -> Agent| {
        thread::spawn(move || {
            hopbench_sys::cpu::pin_thread(&[cpu]).expect("a CPU");
            start()
        })
    };
    let server = on(second, || Agent::insecure(&["--http"])).join().expect("a server");
    let url = format!("http://{}/?size=100", server.target());
    let arguments =
        ["http", &url, "--json", "-t", "1s", "--warmup", "200ms", "-c", "16"].map(str::to_owned);
    let client = thread::spawn(move || {
        hopbench_sys::cpu::pin_thread(&[first]).expect("a CPU");
        one(&Running::start(&mut program(&arguments)).finish())
    });
    let record = client.join().expect("a client");
    assert_eq!(record.settings["cpus_allowed"], first.to_string(), "{:?}", record.settings);
    let node = &record.cost.nodes[0];
    if record.limited_by == "cpu:client" {
        assert!(
            node.per_cpu_busy[first] >= 0.95 || record.cost.client["cores"] >= 0.95,
            "{}",
            record.limited_because
        );
    }
    if record.limited_because.starts_with(&format!("CPU {second} ")) {
        assert!(
            ["cpu:other", "softirq", "steal"].contains(&record.limited_by.as_str()),
            "{}",
            record.limited_by
        );
    }
}

#[test]
fn the_offloads_of_interfaces_are_part_of_the_environment() {
    inside(|| {
        let lab = Pair::build();
        lab.shell("a", "ip link add other0 type bridge");
        let _agent = lab.agent(&[]);
        let record = one(&lab.measure(&["rr", B, "-t", "200ms", "--warmup", "0s"]));
        let of = |end: &std::collections::BTreeMap<String, String>, name: &str| {
            end[&format!("nic_{name}_offloads")].clone()
        };
        // A veth has no wire to check; a bridge has nobody to check for it.
        for end in [&record.environment.client, &record.environment.server] {
            let eth0 = of(end, "eth0");
            assert!(
                eth0.starts_with("tso on, gso on, gro ") && eth0.ends_with("rx-checksum on"),
                "{eth0}"
            );
        }
        let other = of(&record.environment.client, "other0");
        assert!(
            other.starts_with("tso on, gso on, gro ") && other.ends_with("rx-checksum off"),
            "{other}"
        );
        assert!(
            !record.environment.server.contains_key("nic_other0_offloads"),
            "that is the other end's"
        );
    });
}
