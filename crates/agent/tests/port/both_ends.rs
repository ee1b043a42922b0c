//! An agent behind a port that may be a client, too: only where it was told so, and within its own
//! limits.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

use crate::session::{Conductor, job, options, prepare, prepare_run, server};
use hopbench_agent::{Limits, Options, Server};
use hopbench_model::{Counter, EndReport, FaultKind, Job, Nanos, SECOND, Timing, fixture};
use hopbench_sys::clock;
use hopbench_wire::{BOTH_ENDS, FromAgent, Prepare, Role, ToAgent};
use serde_json::{Value, json};

const MS: Nanos = 1_000_000;

/// An agent that may be both ends.
fn both(limits: Limits) -> Server {
    Server::start(&Options { http: true, both_ends: true, ..options(limits) }).unwrap()
}

/// The order to make ready as the client of run `run` against `target`.
fn client_of(run: u32, target: SocketAddr, job: Job) -> ToAgent {
    let ToAgent::Prepare(order) = prepare_run(run, Role::Client, job) else { unreachable!() };
    ToAgent::Prepare(Box::new(Prepare { target: Some(target.to_string()), ..*order }))
}

/// The order to look on while these processes serve.
fn watching(pids: Vec<u32>) -> ToAgent {
    let job = Job {
        workload: "http".to_owned(),
        params: json!({"url": "http://127.0.0.1:9/"}).into(),
        ..job()
    };
    let ToAgent::Prepare(order) = prepare(Role::Server, job) else { unreachable!() };
    ToAgent::Prepare(Box::new(Prepare { watch: pids, looks_on: true, ..*order }))
}

fn short(window_ms: u64) -> Job {
    let timing = Timing { interval_ns: 50 * MS, ..fixture::timing(window_ms * MS) };
    Job { timing, ..job() }
}

fn ready(conductor: &mut Conductor, order: &ToAgent) -> Result<Vec<String>, String> {
    conductor.send(order);
    match conductor.answer(10) {
        Some(FromAgent::Ready { limited }) => Ok(limited),
        Some(FromAgent::Failed { fault, .. }) => Err(fault.text),
        other => panic!("neither ready nor refused: {other:?}"),
    }
}

fn done(conductor: &mut Conductor) -> EndReport {
    loop {
        match conductor.answer(10) {
            Some(FromAgent::Progress(_)) => {}
            Some(FromAgent::Done(report)) => return *report,
            other => panic!("the trial does not end well: {other:?}"),
        }
    }
}

/// A trial between two agents, the first one its client; what the client saw, and what the agents
/// did not grant.
fn measure(client: &Server, server: &Server, job: &Job) -> (EndReport, Vec<String>) {
    let (mut ours, mut theirs) = (Conductor::of(client), Conductor::of(server));
    ready(&mut theirs, &prepare(Role::Server, job.clone())).unwrap();
    let limited = ready(&mut ours, &client_of(7, server.address(), job.clone())).unwrap();
    let start = ToAgent::Start { window_start_ns: clock::now() + 10 * MS };
    theirs.send(&start);
    ours.send(&start);
    let report = done(&mut ours);
    theirs.send(&ToAgent::Finish);
    done(&mut theirs);
    (report, limited)
}

/// Its server answers nobody else.
#[test]
fn a_trial_over_http2_is_known_before_its_first_request() {
    let (client, agent) = (both(Limits::default()), server(Limits::default()));
    for tls in [false, true] {
        let url = format!("http://{}/?size=10", agent.address());
        let params = json!({"url": url, "http2": true, "streams": 4, "tls": tls});
        let job = Job { workload: "http".to_owned(), params: params.into(), ..short(200) };
        let (report, _) = measure(&client, &agent, &job);
        let counted = report.drained.of(Counter::Counted);
        assert!(counted > 10 && report.errors.is_empty(), "{tls}: {counted}, {:?}", report.errors);
    }
}

/// What the server takes is exactly what a call sends.
#[test]
fn calls_of_any_size_are_taken_by_their_trial() {
    let (client, agent) = (both(Limits::default()), server(Limits::default()));
    let kind = hopbench_load::workload("grpc").unwrap().kind().carried("grpc");
    for mut params in [
        json!({"size": "1B"}),
        json!({"size": "1MiB", "streams": 2}),
        json!({"size": "100kB", "messages": 3, "tls": true}),
        json!({"message_hex": "0aff", "path": "/grpc.health.v1.Health/Check"}),
    ] {
        let path = params["path"].take();
        params.as_object_mut().unwrap().remove("path");
        let path = path.as_str().unwrap_or("/?size=10");
        params["url"] = json!(format!("http://{}{path}", agent.address()));
        let job =
            Job { workload: "grpc".to_owned(), params: params.clone().into(), kind, ..short(200) };
        let (report, _) = measure(&client, &agent, &job);
        let counted = report.drained.of(Counter::Counted);
        assert!(
            counted > 3 && report.errors.is_empty(),
            "{params}: {counted}, {:?}",
            report.errors
        );
    }
}

/// Somebody whom no load should reach: whether anybody connects within half a second.
fn is_left_alone(victim: &TcpListener) -> bool {
    victim.set_nonblocking(true).unwrap();
    let until = clock::now() + 500 * MS;
    while clock::now() < until {
        match victim.accept() {
            Ok(_) => return false,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        clock::sleep_until(clock::now() + 5 * MS);
    }
    true
}

/// Who has the token and means no good asks an agent that only serves, in every way there is, to
/// connect elsewhere.
#[test]
fn without_the_flag_no_session_makes_it_connect_anywhere() {
    let server = server(Limits::default());
    let victim = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = victim.local_addr().unwrap();
    let url = json!({"url": format!("http://{target}/")});
    let mut conductor = Conductor::of(&server);
    assert_eq!(conductor.hello.machine.get(BOTH_ENDS), None);
    for (workload, params) in [
        ("rr", json!({"size": "1B"})),
        ("crr", json!({"size": "1B"})),
        ("stream", json!({"size": "1KiB"})),
        ("http", url),
        ("ping", json!({})),
    ] {
        let job = Job { workload: workload.to_owned(), params: params.into(), ..short(100) };
        conductor.send(&client_of(7, target, job));
        // Right behind it, in case the order was taken.
        conductor.send(&ToAgent::Abort);
        let (kind, text) = conductor.refusal(5);
        assert_eq!(kind, FaultKind::Environment, "{workload}");
        assert!(text.contains("only serves") && text.contains("--both-ends"), "{workload}: {text}");
    }
    // A target smuggled into a server's orders is no order to connect.
    let ToAgent::Prepare(order) = prepare(Role::Server, short(100)) else { unreachable!() };
    let smuggled =
        ToAgent::Prepare(Box::new(Prepare { target: Some(target.to_string()), ..*order }));
    ready(&mut conductor, &smuggled).unwrap();
    conductor.send(&ToAgent::Start { window_start_ns: clock::now() });
    assert!(is_left_alone(&victim), "it connected to somebody else");
}

#[test]
fn with_it_two_agents_are_the_two_ends() {
    let (client, server) = (both(Limits::default()), both(Limits::default()));
    assert_eq!(Conductor::of(&client).hello.machine[BOTH_ENDS], "yes");
    let http = json!({"url": format!("http://{}/healthz", server.address())});
    for (workload, params) in [
        ("rr", json!({"size": "1B"})),
        ("udp", json!({"rate": "1000pps", "size": "100B", "gso": 1})),
        ("http", http),
    ] {
        let (report, limited) = measure(
            &client,
            &server,
            &Job { workload: workload.to_owned(), params: params.into(), ..short(200) },
        );
        assert!(limited.is_empty());
        let sent = report.end.counts.since(&report.start.counts).of(Counter::SentBytes);
        assert!(
            sent > 0 && report.errors.is_empty(),
            "{workload}: {sent} bytes, {:?}",
            report.errors
        );
    }
}

#[test]
fn flows_and_times_of_a_client_are_limited_like_a_servers() {
    let server = both(Limits::default());
    let client =
        both(Limits { flows: Some(4), duration_ns: Some(2 * SECOND), ..Limits::default() });
    let (mut first, mut second) = (Conductor::of(&client), Conductor::of(&client));
    let mut theirs = Conductor::of(&server);
    let with = |connections: u32| Job { connections, ..short(200) };
    let why = ready(&mut first, &client_of(7, server.address(), with(5))).unwrap_err();
    assert!(why.contains("4 flows at once") && why.contains("--max-flows"), "{why}");
    let why = ready(&mut first, &client_of(7, server.address(), short(3000))).unwrap_err();
    assert!(why.contains("--max-duration"), "{why}");
    // Those of a client count beside those of another client and those that a server waits for.
    ready(&mut theirs, &prepare(Role::Server, with(3))).unwrap();
    ready(&mut first, &client_of(7, server.address(), with(3))).unwrap();
    for order in [client_of(8, server.address(), with(2)), prepare_run(9, Role::Server, with(2))] {
        let why = ready(&mut second, &order).unwrap_err();
        assert!(why.contains("3 are taken and 2 were asked for"), "{why}");
    }
    // They are free again however the trial ended: aborted, done, or with its session.
    first.send(&ToAgent::Abort);
    first.refusal(5);
    ready(&mut second, &prepare_run(9, Role::Server, with(4))).unwrap();
    let why = ready(&mut first, &client_of(7, server.address(), with(1))).unwrap_err();
    assert!(why.contains("4 are taken"), "{why}");
    second.send(&ToAgent::Abort);
    second.refusal(5);
    theirs.send(&ToAgent::Abort);
    theirs.refusal(5);
    assert!(measure(&client, &server, &with(4)).0.errors.is_empty());
    ready(&mut second, &prepare_run(9, Role::Server, with(4))).unwrap();
}

#[test]
fn the_rate_of_a_client_is_limited_like_a_servers() {
    let (client, server) = (
        both(Limits { bits_per_s: Some(8_000_000), ..Limits::default() }),
        both(Limits::default()),
    );
    let params: Value = json!({"size": "16KiB", "direction": "to-server", "receive": "copy"});
    let (report, limited) = measure(
        &client,
        &server,
        &Job { workload: "stream".to_owned(), params: params.into(), ..short(1000) },
    );
    assert!(limited.iter().any(|text| text.contains("--max-rate")), "{limited:?}");
    let bits = 8 * report.end.counts.since(&report.start.counts).of(Counter::SentBytes);
    // What a bucket holds when the window begins comes on top of what flows in.
    assert!((4_000_000..14_000_000).contains(&bits), "{bits} bits in a second, of 8 Mbit/s");
}

/// What the processes of a machine spend is told only by an agent that may be both ends, and of so
/// many processes as a server program has.
#[test]
fn few_processes_are_watched_and_each_once() {
    let own = std::process::id();
    let serving = server(Limits::default());
    let why = ready(&mut Conductor::of(&serving), &watching(vec![own])).unwrap_err();
    assert!(why.contains("only serves") && why.contains("--both-ends"), "{why}");
    ready(&mut Conductor::of(&serving), &watching(Vec::new())).unwrap();

    let either = both(Limits::default());
    let mut conductor = Conductor::of(&either);
    let why = ready(&mut conductor, &watching(vec![own, 1, own])).unwrap_err();
    assert!(why.contains(&format!("process {own} twice")), "{why}");
    let why = ready(&mut conductor, &watching((1..=65).collect())).unwrap_err();
    assert!(why.contains("65 processes") && why.contains("at most 64"), "{why}");
    ready(&mut conductor, &watching(vec![own])).unwrap();
}
