//! Servers whose agent answers HTTP, or only looks on, and onlookers beside a path.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use hopbench_meter::delta;
use hopbench_model::{Counter, FaultKind, SECOND, Timing};
use hopbench_sys::clock;
use hopbench_wire::{FlowKey, FromAgent, Role, ToAgent};

use crate::rig::{Agent, MS, TestTrial, ask, assert_sound, job, moved, params};

/// What a stranger is told.
fn http(address: SocketAddr) -> String {
    ask(address, b"GET /healthz HTTP/1.1\r\nHost: agent\r\n\r\n")
}

/// What somebody is told who shows the credential of a run.
fn http_of(run: u32, address: SocketAddr) -> String {
    let shown = FlowKey::new([3; 32]).credential(run);
    ask(
        address,
        format!("GET /healthz HTTP/1.1\r\nHost: agent\r\nX-Hopbench-Run: {shown}\r\n\r\n")
            .as_bytes(),
    )
}

#[test]
fn http_is_answered_while_a_trial_is_prepared_and_the_answers_are_counted() {
    let (mut client, mut server) = (Agent::start(), Agent::start());
    let trial = TestTrial::new(job("http", params("http", server.address), 4), server.address);
    assert_eq!(http(server.address), "", "before");
    server.send(&trial.prepare(1, Role::Server, 0, 1));
    server.ready();
    assert!(http_of(1, server.address).starts_with("HTTP/1.1 200 "), "while it is prepared");
    assert!(http(server.address).starts_with("HTTP/1.1 401 "), "nobody else's");
    assert!(http_of(2, server.address).starts_with("HTTP/1.1 401 "), "nor another run's");
    assert_eq!(http(client.address), "", "at another agent");
    server.send(&ToAgent::Abort);
    assert!(matches!(server.answer(), FromAgent::Failed { .. }));
    assert_eq!(
        (http(server.address), http_of(1, server.address)),
        (String::new(), String::new()),
        "after"
    );

    let outcome = trial.run(2, &mut [&mut client], &mut [&mut server]);
    let (seen, served) = (&outcome.clients[0], &outcome.servers[0]);
    let stated = assert_sound(&trial, seen, served);
    assert!(stated.contains("answered_le_served"), "{stated:?}");
    let answered = seen.drained.of(Counter::Completed);
    assert!(answered > 0);
    // Both ends are drained: not one answer was lost on the way.
    assert_eq!(served.drained.of(Counter::Completed), answered);
    assert!(served.drained.of(Counter::SentBytes) >= 100 * answered);
    let in_window = served.end.counts.since(&served.start.counts).of(Counter::Completed);
    assert!(
        0 < in_window && in_window < answered,
        "{in_window} of {answered}: warm-up is not in the window"
    );
    assert_eq!(served.flows.len(), 4, "{:?}", served.flows);
    assert_eq!(http(server.address), "", "after a trial");

    // A program answers, not the agent.
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    let watching =
        TestTrial { watch: vec![child.id()], ..TestTrial::new(trial.job, server.address) };
    server.send(&watching.prepare(3, Role::Server, 0, 1));
    let answer = server.answer();
    let said = http(server.address);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(matches!(answer, FromAgent::Ready { .. }), "{answer:?}");
    assert_eq!(said, "");
    server.send(&ToAgent::Abort);
    assert!(matches!(server.answer(), FromAgent::Failed { .. }));
    // Nor where nobody can see the program.
    let unseen =
        TestTrial { watch: Vec::new(), ..TestTrial::new(watching.job.clone(), server.address) };
    let ToAgent::Prepare(mut order) = unseen.prepare(5, Role::Server, 0, 1) else { unreachable!() };
    order.looks_on = true;
    server.send(&ToAgent::Prepare(order));
    assert!(matches!(server.answer(), FromAgent::Ready { .. }));
    assert_eq!(http(server.address), "");
    server.send(&ToAgent::Abort);
    assert!(matches!(server.answer(), FromAgent::Failed { .. }));
    server.send(&watching.prepare(4, Role::Server, 0, 1));
    match server.answer() {
        FromAgent::Failed { fault, .. } => {
            assert_eq!(fault.kind, FaultKind::Environment);
            assert!(fault.text.contains(&format!("/proc/{}", child.id())), "{fault:?}");
        }
        other => panic!("a program that ended was watched: {other:?}"),
    }
    assert_eq!((client.bye(), server.bye()), (Ok(()), Ok(())));
}

#[test]
fn ping_needs_no_server_and_may_have_one_that_looks_on() {
    let (mut client, mut server) = (Agent::start(), Agent::start());
    let mut trial = TestTrial::new(job("ping", params("ping", server.address), 1), server.address);
    trial.target.set_port(0);
    let outcome = trial.run(1, &mut [&mut client], &mut [&mut server]);
    let (seen, looked_on) = (&outcome.clients[0], &outcome.servers[0]);
    // 200 ms of one echo every 10 ms.
    assert_eq!(seen.drained.of(Counter::Counted) + seen.drained.of(Counter::CountedErrors), 20);
    assert_sound(&trial, seen, looked_on);
    assert_eq!(looked_on.drained.of(Counter::Completed), 0);
    assert!(looked_on.incomplete.is_none());
    assert_eq!((looked_on.window_ns, looked_on.ticks.len()), (200 * MS, seen.ticks.len()));
    assert!(
        looked_on.start.readings.contains_key("cpu") && looked_on.end.readings.contains_key("self")
    );
    assert_eq!((client.bye(), server.bye()), (Ok(()), Ok(())));
}

#[test]
fn an_onlooker_reads_its_meters_at_the_edges_and_carries_nothing() {
    let (mut client, mut server, mut onlooker) = (Agent::start(), Agent::start(), Agent::start());
    for (run, name) in (1..).zip(["rr", "http", "ping"]) {
        let job = job(name, params(name, server.address), 2);
        let mut trial = TestTrial::new(job, server.address);
        if name == "ping" {
            trial.target.set_port(0);
        }
        onlooker.send(&trial.prepare(run, Role::Onlooker, 0, 1));
        onlooker.ready();
        assert_eq!(http_of(run, onlooker.address), "", "{name}: it answers somebody");
        server.send(&trial.prepare(run, Role::Server, 0, 1));
        server.ready();
        client.send(&trial.prepare(run, Role::Client, 0, 1));
        client.ready();
        let outcome = trial.measure(&mut [&mut client], &mut [&mut server, &mut onlooker]);
        let (seen, looked_on) = (&outcome.clients[0], &outcome.servers[1]);
        assert_sound(&trial, seen, &outcome.servers[0]);
        assert!(moved(seen) > 0 && moved(looked_on) == 0, "{name}");
        assert!(looked_on.flows.is_empty(), "{name}: {:?}", looked_on.flows);
        assert_eq!((looked_on.window_ns, &looked_on.incomplete), (200 * MS, &None), "{name}");
        for edge in [&looked_on.start, &looked_on.end] {
            let read = &edge.readings;
            assert!(read.contains_key("cpu") && read.contains_key("self"), "{name}: {read:?}");
        }
    }
    assert_eq!((client.bye(), server.bye(), onlooker.bye()), (Ok(()), Ok(()), Ok(())));
}

/// CPU time of a process with one thread, ns.
fn run_ns(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn what_a_server_program_spends_is_read_at_the_edges() {
    let burn = || {
        let mut shell = Command::new("sh");
        shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().unwrap()
    };
    let mut children = [burn(), burn()];
    let pids: Vec<u32> = children.iter().map(Child::id).collect();
    let (mut client, mut server) = (Agent::start(), Agent::start());
    let mut job = job("ping", params("ping", server.address), 1);
    job.timing = Timing { warmup_ns: 0, window_ns: 2 * SECOND, ..job.timing };
    let mut trial = TestTrial { watch: pids.clone(), ..TestTrial::new(job, server.address) };
    trial.target.set_port(0);
    // The edges are where the server's report says they were; this thread has to be there without
    // knowing them before.
    let (samples, sampling) = (Mutex::new(Vec::new()), AtomicBool::new(true));
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            // The last sample is taken after the trial, so that there is one after its last edge.
            loop {
                let was_over = !sampling.load(Ordering::Relaxed);
                let spent = pids.iter().copied().map(run_ns).sum::<u64>();
                samples.lock().unwrap().push((clock::now(), spent));
                if was_over {
                    break;
                }
                clock::sleep_until(clock::now() + 5 * MS);
            }
        });
        let mut outcome = trial.run(1, &mut [&mut client], &mut [&mut server]);
        sampling.store(false, Ordering::Relaxed);
        outcome.servers.remove(0)
    });
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let samples = samples.into_inner().unwrap();
    let at = |t_ns: i64| {
        let at = report.window_start_ns.saturating_add_signed(t_ns);
        samples.iter().find(|(when, _)| *when >= at).unwrap().1
    };
    let oracle_s = (at(report.end.t_ns) - at(report.start.t_ns)) as f64 / 1e9;
    let spent = delta::window(&report.start.readings["program"], &report.end.readings["program"]);
    let spent_s = spent["user_s"] + spent["system_s"];
    assert!(
        (spent_s - oracle_s).abs() <= 0.2 * oracle_s,
        "{spent_s} s were read, {oracle_s} s were burnt"
    );
    assert!(report.end.readings["program"]["rss_bytes"] > 0.0);
    assert_eq!(report.end.readings["program"]["processes"], 2.0);
    let own = delta::window(&report.start.readings["self"], &report.end.readings["self"]);
    assert!(own["user_s"] < oracle_s, "the agent's own is its own: {own:?}");
    assert_eq!((client.bye(), server.bye()), (Ok(()), Ok(())));
}
