//! An agent's limits: on flows, over everything that opens some, and on the time that a trial may
//! take.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Barrier;

use crate::flows::{self, Datagrams, header, healthy, is_closed, open, welcomed};
use crate::session::{Conductor, job, key, options, prepare_run, server};
use hopbench_agent::{Limits, Options, Server};
use hopbench_model::{EngineKind, FaultKind, Job, Nanos, SECOND, Timing, fixture};
use hopbench_sys::{clock, limits};
use hopbench_wire::udp::{NO_COOKIE, register};
use hopbench_wire::{FlowKind, FromAgent, Role, ToAgent};
use serde_json::json;

const MS: Nanos = 1_000_000;

/// An agent with an HTTP target.
fn http_server(flows: Option<u32>) -> Server {
    let limits = Limits { flows, ..Limits::default() };
    Server::start(&Options { http: true, ..options(limits) }).unwrap()
}

fn at_most(flows: u32) -> Limits {
    Limits { flows: Some(flows), ..Limits::default() }
}

fn crr(connections: u32) -> Job {
    Job { workload: "crr".to_owned(), connections, ..job() }
}

/// Makes a run ready, or says why the agent does not.
fn make_ready(conductor: &mut Conductor, run: u32, job: Job) -> Result<(), String> {
    conductor.send(&prepare_run(run, Role::Server, job));
    match conductor.answer(10) {
        Some(FromAgent::Ready { .. }) => Ok(()),
        Some(FromAgent::Failed { fault, .. }) => Err(fault.text),
        other => panic!("neither ready nor refused: {other:?}"),
    }
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let give_up = clock::now() + 20 * SECOND;
    while !holds() {
        assert!(clock::now() < give_up, "not within 20 s: {what}");
        clock::sleep_until(clock::now() + 5 * MS);
    }
}

/// The flow numbers of `crr` are not bounded by its connections: only what counts every flow can
/// hold them.
#[test]
fn the_sum_over_sessions_is_bounded() {
    let server = server(at_most(4));
    let agent = server.address();
    let (mut first, mut second) = (Conductor::of(&server), Conductor::of(&server));
    make_ready(&mut first, 1, crr(2)).unwrap();
    make_ready(&mut second, 2, crr(2)).unwrap();
    let refusal = make_ready(&mut Conductor::of(&server), 3, crr(1)).unwrap_err();
    assert!(refusal.contains("4 flows") && refusal.contains("4 are taken"), "{refusal}");

    // Ten for four places, over both sessions; none of them has sent its request yet.
    let flows: Vec<TcpStream> = (0..10).map(|i| open(agent, &crr_header(1 + i % 2, i))).collect();
    let closed = || flows.iter().filter(|flow| is_closed(flow)).count();
    until("six of ten flows are refused", || closed() >= 6);
    clock::sleep_until(clock::now() + 200 * MS);
    assert_eq!(closed(), 6, "so many are let in as there are places, and no fewer");

    // Those that were let in are served, and give their place back.
    for mut flow in flows.into_iter().filter(|flow| !is_closed(flow)) {
        flow.write_all(b"x").unwrap();
        assert_eq!(flow.read(&mut [0; 8]).unwrap(), 1, "the answer");
        assert_eq!(flow.read(&mut [0; 8]).unwrap(), 0, "the server closes first");
    }
    let again: Vec<_> = (10..14).map(|i| open(agent, &crr_header(1 + i % 2, i))).collect();
    clock::sleep_until(clock::now() + 200 * MS);
    assert!(!again.iter().any(is_closed), "who saw the end of a flow finds its place free");
}

/// Strangers at the HTTP target have as many connections as there are flows, and none of a trial's.
#[test]
fn strangers_at_the_http_target_take_no_place_of_a_trial() {
    let server = http_server(Some(2));
    let agent = server.address();
    let mut strangers: Vec<_> = (0..8).map_while(|_| healthy(agent)).collect();
    assert_eq!(strangers.len(), 8, "one more than there are places for displaces another");
    until("all but two made room", || {
        strangers.retain_mut(|stream| !is_over(stream));
        strangers.len() == 2
    });
    let mut conductor = Conductor::of(&server);
    make_ready(&mut conductor, 7, Job { connections: 2, ..job() }).unwrap();
    let more: Vec<_> = (0..8).map_while(|_| healthy(agent)).collect();
    let flows = [0, 1].map(|flow| welcomed(agent, &rr_header(FlowKind::Tcp, 7, flow)));
    assert!(flows.iter().all(Option::is_some), "what was promised is kept");
    assert_eq!(more.len(), 8);
    assert!(healthy(agent).is_some(), "and a trial takes none of theirs");
}

fn crr_header(run: u32, flow: u32) -> hopbench_wire::FlowHeader {
    header("crr", FlowKind::Tcp, run, flow)
}

fn rr_header(kind: FlowKind, run: u32, flow: u32) -> hopbench_wire::FlowHeader {
    header("rr", kind, run, flow)
}

#[test]
fn sessions_that_prepare_at_once_are_not_promised_the_same_places() {
    let server = server(at_most(4));
    let together = Barrier::new(3);
    for round in 0..20 {
        let ready: usize = std::thread::scope(|scope| {
            let ask = |run| {
                let mut conductor = Conductor::of(&server);
                together.wait();
                let ready =
                    make_ready(&mut conductor, run, Job { connections: 3, ..job() }).is_ok();
                // Held until all have asked.
                together.wait();
                if ready {
                    conductor.send(&ToAgent::Abort);
                    conductor.refusal(5);
                }
                usize::from(ready)
            };
            let sessions: Vec<_> = (1..=3).map(|run| scope.spawn(move || ask(run))).collect();
            sessions.into_iter().map(|session| session.join().unwrap()).sum()
        });
        assert_eq!(ready, 1, "round {round}");
    }
}

/// Opens one flow of `crr` more than its run has connections: it takes a place that another run
/// waits for.
fn one_too_many(agent: SocketAddr, conductor: &mut Conductor) -> [TcpStream; 2] {
    make_ready(conductor, 6, crr(1)).unwrap();
    let taken = [0, 1].map(|flow| open(agent, &crr_header(6, flow)));
    clock::sleep_until(clock::now() + 100 * MS);
    assert!(!taken.iter().any(is_closed));
    taken
}

#[test]
fn a_refused_connection_may_try_again_under_its_number() {
    let server = server(at_most(3));
    let agent = server.address();
    let (mut conductor, mut other) = (Conductor::of(&server), Conductor::of(&server));
    make_ready(&mut conductor, 7, Job { connections: 2, ..job() }).unwrap();
    let taken = one_too_many(agent, &mut other);
    let _first = welcomed(agent, &rr_header(FlowKind::Tcp, 7, 0)).unwrap();
    assert!(welcomed(agent, &rr_header(FlowKind::Tcp, 7, 1)).is_none(), "a flow too many");
    drop(taken);
    until("the place is free", || welcomed(agent, &rr_header(FlowKind::Tcp, 7, 1)).is_some());
}

#[test]
fn a_registration_above_the_limit_is_not_answered() {
    let server = server(at_most(3));
    let agent = server.address();
    let (mut conductor, mut other) = (Conductor::of(&server), Conductor::of(&server));
    let job = Job { connections: 2, params: json!({"size": "1B", "udp": true}).into(), ..job() };
    make_ready(&mut conductor, 7, job).unwrap();
    let taken = one_too_many(agent, &mut other);
    let (first, second) = (Datagrams::to(agent), Datagrams::to(agent));
    assert!(first.register(&rr_header(FlowKind::Udp, 7, 0), 10));
    assert!(!second.register(&rr_header(FlowKind::Udp, 7, 1), 3), "a flow too many");
    drop(taken);
    assert!(second.register(&rr_header(FlowKind::Udp, 7, 1), 20), "its number was not used up");
}

#[test]
fn flows_are_given_back_however_their_trial_ends() {
    for engine in [EngineKind::Epoll, EngineKind::Uring, EngineKind::Threads] {
        let server = server(at_most(2));
        let agent = server.address();
        let job = Job { connections: 2, engine, ..job() };
        let mut other = Conductor::of(&server);
        // Opens both flows and keeps them open: it is the agent that must end them.
        let take_all = |conductor: &mut Conductor, other: &mut Conductor| {
            make_ready(conductor, 1, job.clone()).unwrap_or_else(|why| panic!("{engine}: {why}"));
            let flows =
                [0, 1].map(|flow| welcomed(agent, &rr_header(FlowKind::Tcp, 1, flow)).unwrap());
            let refusal = make_ready(other, 2, Job { connections: 1, ..job.clone() }).unwrap_err();
            assert!(refusal.contains("2 are taken"), "{engine}: {refusal}");
            flows
        };
        let ended = |flows: [TcpStream; 2]| {
            until("the agent closes the flows", || flows.iter().all(is_closed));
        };

        // Aborted.
        let mut conductor = Conductor::of(&server);
        let flows = take_all(&mut conductor, &mut other);
        conductor.send(&ToAgent::Abort);
        conductor.refusal(5);
        ended(flows);

        // To its regular end, with clients that do not go.
        let flows = take_all(&mut conductor, &mut other);
        conductor.send(&ToAgent::Start { window_start_ns: clock::now() });
        conductor.send(&ToAgent::Finish);
        loop {
            match conductor.answer(10) {
                Some(FromAgent::Progress(_)) => {}
                Some(FromAgent::Done(_) | FromAgent::Failed { .. }) => break,
                answer => panic!("{engine}: the trial does not end: {answer:?}"),
            }
        }
        ended(flows);

        // With its session.
        let flows = take_all(&mut conductor, &mut other);
        drop(conductor);
        ended(flows);
        until("the places are free", || make_ready(&mut other, 3, job.clone()).is_ok());
        let _flows =
            [0, 1].map(|flow| welcomed(agent, &rr_header(FlowKind::Tcp, 3, flow)).unwrap());
    }
}

#[test]
fn a_flow_of_the_wrong_transport_opens_nothing() {
    let server = server(Limits::default());
    let agent = server.address();
    let mut conductor = Conductor::of(&server);
    let (tcp, udp) = (rr_header(FlowKind::Tcp, 7, 0), rr_header(FlowKind::Udp, 7, 0));
    // Each as its transport wants it, for a job of the other one.
    make_ready(&mut conductor, 7, job()).unwrap();
    assert!(!Datagrams::to(agent).register(&udp, 3), "datagrams for a job over TCP");
    assert!(welcomed(agent, &udp).is_none(), "a header for datagrams on a connection");
    assert!(welcomed(agent, &tcp).is_some(), "none of them used up the number");
    conductor.send(&ToAgent::Abort);
    conductor.refusal(5);

    let job = Job { params: json!({"size": "1B", "udp": true}).into(), ..job() };
    make_ready(&mut conductor, 7, job).unwrap();
    assert!(welcomed(agent, &tcp).is_none(), "a connection for a job over UDP");
    let datagrams = Datagrams::to(agent);
    assert!(
        !datagrams.is_answered(&register(&tcp, &key(), &NO_COOKIE)),
        "a header for a connection in a datagram"
    );
    assert!(datagrams.register(&udp, 10), "none of them used up the number");
    conductor.send(&ToAgent::Abort);
    conductor.refusal(5);

    // A workload that is datagrams by its traits, not by its parameters.
    let params = json!({"size": "100B", "rate": "1000pps", "gso": 1});
    make_ready(
        &mut conductor,
        7,
        Job { workload: "udp".to_owned(), params: params.into(), ..self::job() },
    )
    .unwrap();
    assert!(welcomed(agent, &header("udp", FlowKind::Tcp, 7, 0)).is_none());
    assert!(Datagrams::to(agent).register(&header("udp", FlowKind::Udp, 7, 0), 10));
}

#[test]
fn the_http_target_has_a_bound_of_its_own_and_keeps_nobody_out() {
    const MOST: usize = 1024;
    // Both ends of each connection are in this process.
    limits::raise_open_files(4096).unwrap();
    let server = http_server(None);
    let agent = server.address();
    let mut open: Vec<_> = (0..MOST + 20).map_while(|_| healthy(agent)).collect();
    assert_eq!(open.len(), MOST + 20, "one more than there are places for is let in");
    let mut closed = Vec::new();
    until("the longest idle make room", || {
        closed = (0..open.len()).filter(|i| is_over(&mut open[*i])).collect();
        closed.len() >= 20
    });
    assert_eq!(closed, (0..20).collect::<Vec<_>>(), "those who came first, and nobody else");
    // It binds nobody else.
    let mut conductor = Conductor::of(&server);
    make_ready(&mut conductor, 7, job()).unwrap();
    assert!(welcomed(agent, &rr_header(FlowKind::Tcp, 7, 0)).is_some());
    // Half a head holds its place no better than silence.
    open.clear();
    let half: Vec<_> = (0..MOST)
        .map(|_| {
            let mut stream = flows::connect(agent);
            stream.write_all(b"GET / HTTP/1.1\r\n").unwrap();
            stream
        })
        .collect();
    assert!(healthy(agent).is_some(), "half heads fill the table");
    until("one of them made room", || half.iter().any(is_closed));
}

/// Whether the agent closed the connection, after what was not read yet.
fn is_over(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let end = stream.read_to_end(&mut Vec::new());
    stream.set_nonblocking(false).unwrap();
    end.map_or_else(|error| error.kind() != std::io::ErrorKind::WouldBlock, |_| true)
}

/// A conductor that lives and never says `Start`: its trial keeps nothing for longer than half a
/// minute.
#[test]
fn a_trial_that_is_never_started_ends_by_itself() {
    let server = server(Limits {
        flows: Some(1),
        duration_ns: Some(SECOND),
        threads: Some(1),
        ..Limits::default()
    });
    let agent = server.address();
    let mut conductor = Conductor::of(&server);
    let timing = Timing { timeout_ns: 10 * MS, ..fixture::timing(100 * MS) };
    let before = clock::now();
    make_ready(&mut conductor, 7, Job { timing, ..job() }).unwrap();
    let flow = welcomed(agent, &rr_header(FlowKind::Tcp, 7, 0)).unwrap();
    let (kind, text) = conductor.refusal(40);
    let took = clock::now() - before;
    assert_eq!(kind, FaultKind::Measuring);
    assert!(text.contains("not started within 30s"), "{text}");
    assert!((29 * SECOND..33 * SECOND).contains(&took), "it ended after {} ms", took / MS);
    until("its flow is closed", || is_closed(&flow));
    // The session and the agent go on, with the same run, its one place and its one thread.
    make_ready(&mut conductor, 7, job()).unwrap();
    assert!(welcomed(agent, &rr_header(FlowKind::Tcp, 7, 0)).is_some());
}

/// Whether a server that gets this order makes ready, and is visited for 50 ms.
fn is_visited(conductor: &mut Conductor, order: &ToAgent) -> bool {
    conductor.send(order);
    if !matches!(conductor.answer(5), Some(FromAgent::Ready { .. })) {
        return false;
    }
    conductor.send(&ToAgent::Start { window_start_ns: clock::now() + 5 * MS });
    clock::sleep_until(clock::now() + 70 * MS);
    conductor.send(&ToAgent::Finish);
    let mut said = std::iter::from_fn(|| conductor.answer(5));
    let end = said.find(|said| !matches!(said, FromAgent::Progress(_)));
    assert!(matches!(end, Some(FromAgent::Done(_))), "{end:?}");
    true
}

/// A conductor that lives and has a trial rest: where the agent is not its own, that ends, too.
#[test]
fn a_trial_that_rests_for_long_makes_room_for_others() {
    let server = server(Limits { threads: Some(1), ..Limits::default() });
    let (mut first, mut second) = (Conductor::of(&server), Conductor::of(&server));
    let timing = Timing { timeout_ns: 10 * MS, ..fixture::timing(50 * MS) };
    let ToAgent::Prepare(mut order) = prepare_run(7, Role::Server, Job { timing, ..job() }) else {
        unreachable!()
    };
    order.stays = true;
    let again = ToAgent::Revisit { run: 7, warmup_ns: 0 };
    assert!(is_visited(&mut first, &ToAgent::Prepare(order)) && is_visited(&mut first, &again));
    let why = make_ready(&mut second, 8, job()).unwrap_err();
    assert!(why.contains("worker threads"), "{why}");
    let until = clock::now() + 31 * SECOND;
    while clock::now() < until {
        assert!(first.lives() && second.lives());
        clock::sleep_until(clock::now() + SECOND);
    }
    make_ready(&mut second, 8, job()).unwrap();
    assert!(!is_visited(&mut first, &again), "it is to be prepared again");
}

/// What a trial holds, it holds until its timeout is over: that is part of how long it may take.
#[test]
fn a_short_trial_has_no_long_timeout() {
    let server = server(Limits { duration_ns: Some(SECOND), ..Limits::default() });
    let mut conductor = Conductor::of(&server);
    let with = |timeout_ns: Nanos| {
        let timing = Timing { timeout_ns, ..fixture::timing(100 * MS) };
        Job { timing, ..job() }
    };
    for timeout in [3600 * SECOND, 10 * SECOND + 1] {
        let why = make_ready(&mut conductor, 7, with(timeout)).unwrap_err();
        assert!(why.contains("timeouts of 10s") && why.contains("--max-duration"), "{why}");
    }
    make_ready(&mut conductor, 7, with(10 * SECOND)).unwrap();
    // Longer trials may wait longer.
    let patient = self::server(Limits { duration_ns: Some(60 * SECOND), ..Limits::default() });
    let mut conductor = Conductor::of(&patient);
    make_ready(&mut conductor, 7, with(60 * SECOND)).unwrap();
}

/// All trials together have so many worker threads, whatever their engines and however they end.
#[test]
fn worker_threads_are_bounded_over_all_trials() {
    let server = server(Limits { threads: Some(8), ..Limits::default() });
    let (mut first, mut second) = (Conductor::of(&server), Conductor::of(&server));
    let with = |threads: u32| Job { connections: 16, threads, ..job() };
    let why = make_ready(&mut first, 7, with(9)).unwrap_err();
    assert!(
        why.contains("8 worker threads")
            && why.contains("9 were asked for")
            && why.contains("--max-threads"),
        "{why}"
    );
    let a_thread_each = Job { engine: EngineKind::Threads, ..with(1) };
    let why = make_ready(&mut first, 7, a_thread_each.clone()).unwrap_err();
    assert!(why.contains("16 were asked for") && why.contains("one a connection"), "{why}");
    make_ready(&mut first, 7, with(6)).unwrap();
    let why = make_ready(&mut second, 8, with(3)).unwrap_err();
    assert!(why.contains("6 are taken and 3 were asked for"), "{why}");
    make_ready(&mut second, 8, with(2)).unwrap();
    first.send(&ToAgent::Abort);
    first.refusal(5);
    make_ready(&mut first, 9, Job { connections: 6, ..a_thread_each }).unwrap();
    // A session that ends gives them back, too.
    drop(second);
    until("two threads are free", || {
        let mut third = Conductor::of(&server);
        make_ready(&mut third, 10, with(2)).is_ok()
    });
}

/// A trial that only looks on keeps its session's place: there are no more of them than of threads.
#[test]
fn who_looks_on_takes_a_thread() {
    let server = server(Limits { threads: Some(2), ..Limits::default() });
    let looks_on = |conductor: &mut Conductor, run| {
        let job = Job {
            workload: "http".to_owned(),
            params: json!({"url": "http://127.0.0.1:9/"}).into(),
            ..job()
        };
        let ToAgent::Prepare(mut order) =
            prepare_run(run, Role::Server, Job { threads: 4, connections: 4, ..job })
        else {
            unreachable!()
        };
        order.looks_on = true;
        conductor.send(&ToAgent::Prepare(order));
        match conductor.answer(10) {
            Some(FromAgent::Ready { .. }) => Ok(()),
            Some(FromAgent::Failed { fault, .. }) => Err(fault.text),
            other => panic!("neither ready nor refused: {other:?}"),
        }
    };
    let [mut first, mut second, mut third] = [1, 2, 3].map(|_| Conductor::of(&server));
    looks_on(&mut first, 1).unwrap();
    looks_on(&mut second, 2).unwrap();
    let why = looks_on(&mut third, 3).unwrap_err();
    assert!(why.contains("2 are taken and 1 were asked for"), "{why}");
    first.send(&ToAgent::Abort);
    first.refusal(5);
    looks_on(&mut third, 3).unwrap();
}

/// CPU time of this process's threads of a name, ms.
fn spent_by(name: &str) -> u64 {
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default();
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let of_name = tasks.filter(|task| read(task.join("comm")).trim() == name);
    of_name
        .filter_map(|task| read(task.join("schedstat")).split(' ').next()?.parse::<u64>().ok())
        .sum::<u64>()
        / MS
}

/// Workers that spin do so while there is load, at both ends. An order to start may never come.
#[test]
fn workers_that_spin_sleep_until_the_load_begins() {
    let server = server(Limits::default());
    let mut conductor = Conductor::of(&server);
    let timing = Timing { interval_ns: 100 * MS, ..fixture::timing(2 * SECOND) };
    let job = Job { engine: EngineKind::Spin, connections: 32, threads: 32, timing, ..job() };
    make_ready(&mut conductor, 7, job).unwrap();
    let flows: Vec<_> = (0..32)
        .map(|flow| welcomed(server.address(), &rr_header(FlowKind::Tcp, 7, flow)))
        .collect();
    assert!(flows.iter().all(Option::is_some));
    clock::sleep_until(clock::now() + 50 * MS);
    let before = spent_by("hb-spin");
    clock::sleep_until(clock::now() + 500 * MS);
    let asleep = spent_by("hb-spin") - before;
    assert!(asleep < 50, "{asleep} ms of CPU in 500 ms before the load");
    conductor.send(&ToAgent::Start { window_start_ns: clock::now() });
    // A busy machine gives them less, and later.
    until("they spin for 100 ms of CPU", || spent_by("hb-spin") - before - asleep > 100);
}
