//! The port's thread while load runs: what was handed over no longer wakes it.

mod relay;

use std::fs;

use crate::alone;
use crate::rig::{Agent, MS, Measured, TestTrial, job, params};
use crate::session::{self, Conductor};
use hopbench_agent::Limits;
use hopbench_model::{Counter, Nanos};
use hopbench_wire::{FromAgent, Role, ToAgent};
use relay::Relay;

/// Wake-ups that a window may cost the port's thread, however much is sent in it. None is needed;
/// a stray timer or signal costs one.
const HANDFUL: u64 = 8;
/// Wake-ups for each connection that comes in: the listener's edge, that of its first bytes, and
/// one more where these come in two parts.
const EACH_CONNECTION: u64 = 3;
/// How much later than its connection a header comes.
const LATE: Nanos = 20 * MS;

/// How often the port threads of this process went to sleep, or were interrupted: each time they
/// had woken up.
fn wakeups() -> u64 {
    wakeups_of(|name| name == "hb-port")
}

/// The same of the threads whose names are these.
fn wakeups_of(is_one: impl Fn(&str) -> bool) -> u64 {
    let of_task = |task: fs::DirEntry| {
        let read = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let number = |line: &str| line.rsplit(char::is_whitespace).next()?.parse::<u64>().ok();
        let status = read("status");
        let switches =
            status.lines().filter(|line| line.contains("_ctxt_switches:")).filter_map(number);
        if is_one(read("comm").trim()) { switches.sum() } else { 0 }
    };
    fs::read_dir("/proc/self/task").unwrap().flatten().map(of_task).sum()
}

/// A trial of one client; what came of it, and the port threads' wake-ups from the moment at which
/// all was ready to the last report.
fn woken(trial: &TestTrial, run: u32, client: &mut Agent, server: &mut Agent) -> (Measured, u64) {
    server.send(&trial.prepare(run, Role::Server, 0, 1));
    server.ready();
    client.send(&trial.prepare(run, Role::Client, 0, 1));
    client.ready();
    // The client's last flow may be ready before the port's thread sleeps again.
    hopbench_sys::clock::sleep_until(hopbench_sys::clock::now() + 10 * MS);
    let before = wakeups();
    let outcome = trial.measure(&mut [client], &mut [server]);
    (outcome, wakeups() - before)
}

#[test]
fn a_window_wakes_the_ports_thread_a_handful_of_times() {
    let _alone = alone();
    let (mut client, mut server) = (Agent::start(), Agent::start());
    let late = Relay::start(server.address, LATE);
    let mut busy = Vec::new();
    let mut run = 0;
    for name in ["stream", "push", "rr", "rr-udp", "crr", "udp", "ping", "http"] {
        let workload = name.trim_end_matches("-udp");
        // Datagrams and echoes go by the relay, which knows TCP only.
        let over_tcp = !matches!(name, "rr-udp" | "udp" | "ping");
        for target in [Some(server.address), over_tcp.then_some(late.address)].into_iter().flatten()
        {
            run += 1;
            let trial = TestTrial::new(job(workload, params(name, target), 4), target);
            let (outcome, woken) = woken(&trial, run, &mut client, &mut server);
            let counts = outcome.clients[0].drained;
            let connections = if name == "crr" { counts.of(Counter::Connects) } else { 0 };
            let (sent, received) =
                (counts.of(Counter::SentBytes), counts.of(Counter::ReceivedBytes));
            assert!(sent + received > 0, "{name}: nothing was sent");
            if woken > HANDFUL + EACH_CONNECTION * connections {
                let way = if target == late.address { ", headers late" } else { "" };
                busy.push(format!(
                    "{name}{way}: {woken} wake-ups, {connections} connections, {sent} B sent"
                ));
            }
        }
    }
    assert!(busy.is_empty(), "{busy:#?}");
    assert_eq!((client.bye(), server.bye()), (Ok(()), Ok(())));
}

#[test]
fn hundreds_of_prepared_trials_rest() {
    let _alone = alone();
    let (mut client, mut server) = (Agent::start(), Agent::start());
    let runs = 200;
    for run in 1..=runs {
        let mut job = job("rr", params("rr", server.address), 1);
        (job.timing.warmup_ns, job.timing.window_ns) = (0, MS);
        let trial = TestTrial::new(job, server.address);
        for (end, role) in [(&mut server, Role::Server), (&mut client, Role::Client)] {
            let ToAgent::Prepare(mut order) = trial.prepare(run, role, 0, 1) else {
                unreachable!()
            };
            order.stays = true;
            end.send(&ToAgent::Prepare(order));
            end.ready();
        }
        trial.measure(&mut [&mut client], &mut [&mut server]);
    }
    let worker = |name: &str| name == "hb-epoll";
    let before = wakeups_of(worker);
    hopbench_sys::clock::sleep_until(hopbench_sys::clock::now() + 1000 * MS);
    let woken = wakeups_of(worker) - before;
    // Each looks once in 10 s whether it should end.
    assert!(woken <= u64::from(runs), "{woken} wake-ups of {} workers in a second", 2 * runs);
    assert_eq!((client.bye(), server.bye()), (Ok(()), Ok(())));
}

#[test]
fn a_control_session_wakes_only_its_own_thread() {
    let _alone = alone();
    let server = session::server(Limits::default());
    let late = Relay::start(server.address(), LATE);
    let mut conductor = Conductor::at(late.address);
    let before = wakeups();
    for _ in 0..100 {
        conductor.send(&ToAgent::Clock);
        assert!(matches!(conductor.answer(5), Some(FromAgent::Clock { .. })));
    }
    let woken = wakeups() - before;
    assert!(woken <= HANDFUL, "{woken} wake-ups for 100 messages");
}
