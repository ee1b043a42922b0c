//! Strangers at the port of an agent that serves trials of `http`: they get 401, and are in no
//! figure.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::flows::{connect, is_closed};
use crate::session::{self, Conductor, key, prepare_run, server};
use hopbench_agent::{Limits, Server};
use hopbench_model::{Counter, EndReport, Job, Nanos, SECOND, Timing, fixture};
use hopbench_sys::{clock, limits};
use hopbench_wire::{CREDENTIAL_CHARS, FromAgent, Role, ToAgent};
use serde_json::json;

const MS: Nanos = 1_000_000;

fn http(connections: u32) -> Job {
    let timing = Timing { interval_ns: SECOND, ..fixture::timing(60 * SECOND) };
    Job {
        workload: "http".to_owned(),
        params: json!({"url": "http://agent/"}).into(),
        connections,
        timing,
        ..session::job()
    }
}

/// A session that has made a server of this run ready and started it.
pub(crate) fn serving(server: &Server, run: u32, connections: u32) -> Conductor {
    let mut conductor = Conductor::of(server);
    conductor.send(&prepare_run(run, Role::Server, http(connections)));
    match conductor.answer(10) {
        Some(FromAgent::Ready { .. }) => {
            conductor.send(&ToAgent::Start { window_start_ns: clock::now() });
        }
        other => panic!("not ready: {other:?}"),
    }
    conductor
}

pub(crate) fn finish(mut conductor: Conductor) -> EndReport {
    conductor.send(&ToAgent::Finish);
    loop {
        match conductor.answer(20) {
            Some(FromAgent::Done(report)) => return *report,
            Some(FromAgent::Progress(_)) => {}
            other => panic!("no report: {other:?}"),
        }
    }
}

pub(crate) fn request(target: &str, shown: Option<&str>) -> String {
    let field = shown.map(|shown| format!("x-hopbench-run: {shown}\r\n")).unwrap_or_default();
    format!("GET {target} HTTP/1.1\r\nHost: agent\r\n{field}\r\n")
}

/// Sends a request and reads its answer, whose head and body are this long; `None` where it is no
/// 200.
fn exchange(stream: &mut TcpStream, request: &str) -> Option<usize> {
    stream.write_all(request.as_bytes()).unwrap();
    let mut said = Vec::new();
    let mut byte = [0];
    while !said.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        said.push(byte[0]);
    }
    let head = String::from_utf8(said).unwrap();
    let length = head
        .split_once("Content-Length: ")
        .unwrap()
        .1
        .split("\r\n")
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    if !head.starts_with("HTTP/1.1 200 ") {
        assert!(head.starts_with("HTTP/1.1 401 "), "{head}");
        return None;
    }
    Some(head.len() + length)
}

/// What a stranger is told, to the end of the connection.
fn told(agent: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = connect(agent);
    let _ = stream.write_all(bytes);
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said);
    String::from_utf8_lossy(&said).into_owned()
}

/// A stranger that does not begin as anybody does is told nothing, and sees an orderly end.
#[test]
fn what_begins_as_nothing_is_closed_without_a_reset() {
    let server = server(Limits::default());
    for bytes in [&b"INVALID CONNECTION PREFACE\r\n\r\n"[..], b"\0", &[b'x'; 1000]] {
        let mut stream = connect(server.address());
        stream.write_all(bytes).unwrap();
        let mut said = Vec::new();
        let end = stream.read_to_end(&mut said).map_err(|error| error.to_string());
        assert_eq!((end, said), (Ok(0), vec![]), "{bytes:?}");
    }
}

/// The requests of this trial have no bodies.
#[test]
fn whoever_overheard_a_credential_makes_the_agent_hold_no_body() {
    let server = server(Limits::default());
    let _serving = serving(&server, 7, 2);
    let shown = key().credential(7);
    let head = format!(
        "POST / HTTP/1.1\r\nHost: agent\r\nx-hopbench-run: {shown}\r\nContent-Length: 16000000\r\n\
         \r\n"
    );
    let said = told(server.address(), head.as_bytes());
    assert!(said.starts_with("HTTP/1.1 413 "), "{said:.400}");
}

#[test]
fn only_participants_are_answered_and_only_they_are_counted() {
    let server = server(Limits::default());
    let agent = server.address();
    let (mut seven, mut eight) = (serving(&server, 7, 2), serving(&server, 8, 2));
    let (of_seven, of_eight) = (key().credential(7), key().credential(8));
    assert_eq!(of_seven.len(), CREDENTIAL_CHARS);
    let mut forged = of_seven.clone().into_bytes();
    forged[40] = if forged[40] == b'0' { b'1' } else { b'0' };
    let forged = String::from_utf8(forged).unwrap();
    let mut other_run = of_seven.clone();
    other_run.replace_range(..8, "00000008");
    // Each answer is a head; none has the GiB that was asked for.
    let strangers = || {
        for shown in [None, Some(""), Some(&*forged), Some(&*other_run), Some(&of_seven[9..])] {
            for target in ["/?size=1GiB", "/healthz"] {
                let said = told(agent, request(target, shown).as_bytes());
                assert!(
                    said.starts_with("HTTP/1.1 401 Unauthorized\r\n") && said.len() < 300,
                    "{shown:?}: {said:.400}"
                );
            }
        }
        let post = format!(
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999\r\n\r\n{}",
            "x".repeat(99_999)
        );
        assert!(told(agent, post.as_bytes()).starts_with("HTTP/1.1 401 "));
    };
    strangers();
    let mut one = connect(agent);
    let mut other = connect(agent);
    let ours = request("/?size=1000", Some(&of_seven));
    let theirs = request("/?size=10", Some(&of_eight));
    let mut answered = [0; 2];
    for conductor in [&mut seven, &mut eight] {
        conductor.send(&ToAgent::Ping);
    }
    for _ in 0..5 {
        answered[0] += exchange(&mut one, &ours).unwrap();
        answered[1] += exchange(&mut other, &theirs).unwrap();
    }
    strangers();
    for conductor in [&mut seven, &mut eight] {
        conductor.send(&ToAgent::Ping);
    }
    // Who is in has to show it every time: a proxy may put a stranger's request on a participant's
    // connection.
    assert_eq!(exchange(&mut one, &request("/?size=1000", None)), None);
    assert_eq!(one.read(&mut [0; 16]).unwrap(), 0, "it is closed");
    assert_eq!(
        exchange(&mut other, &request("/?size=10", Some(&of_seven))),
        None,
        "not this trial's"
    );
    // Cut in the middle of the credential, a head is one all the same; its bytes are counted once
    // it is whole.
    let mut cut = connect(agent);
    answered[0] += exchange(&mut cut, &ours).unwrap();
    let (first, rest) = ours.split_at(ours.len() - 20);
    cut.write_all(first.as_bytes()).unwrap();
    clock::sleep_until(clock::now() + 50 * MS);
    answered[0] += exchange(&mut cut, rest).unwrap();
    for (conductor, requests, request, answered) in
        [(seven, 7, &ours, answered[0]), (eight, 5, &theirs, answered[1])]
    {
        let report = finish(conductor);
        let of = |counter| report.drained.of(counter);
        assert_eq!((of(Counter::Completed), of(Counter::Errors)), (requests, 0));
        assert_eq!(of(Counter::ReceivedBytes), requests * request.len() as u64);
        assert_eq!(of(Counter::SentBytes), answered as u64);
        assert!(report.extra.is_empty(), "{:?}", report.extra);
        assert!(report.flows.len() <= 2, "{:?}", report.flows);
    }
    assert_eq!(told(agent, request("/", Some(&of_seven)).as_bytes()), "", "after the trial");
}

#[test]
fn no_number_of_strangers_keeps_a_participant_out() {
    const STRANGERS: usize = 1500;
    limits::raise_open_files(8192).unwrap();
    let server = server(Limits::default());
    let agent = server.address();
    let mut conductor = serving(&server, 7, 4);
    let ours = request("/?size=100", Some(&key().credential(7)));
    let mut before = connect(agent);
    assert!(exchange(&mut before, &ours).is_some());
    // More than the trial has places, and more than may wait.
    let strangers: Vec<_> = (0..STRANGERS)
        .map(|i| {
            if i % 100 == 0 {
                conductor.send(&ToAgent::Ping);
            }
            let mut stream = connect(agent);
            let half = b"GET / HTTP/1.1\r\nHost: h\r\n";
            let _ = if i % 8 == 0 {
                stream.write_all(request("/", None).as_bytes())
            } else {
                stream.write_all(half)
            };
            stream
        })
        .collect();
    conductor.send(&ToAgent::Ping);
    let mut after = connect(agent);
    for _ in 0..3 {
        assert!(exchange(&mut before, &ours).is_some() && exchange(&mut after, &ours).is_some());
    }
    // Those with half a head; the others were told 401.
    let half = || strangers.iter().enumerate().filter(|(i, _)| i % 8 != 0);
    let waiting = || half().filter(|(_, stream)| !is_closed(stream)).count();
    let give_up = clock::now() + 5 * SECOND;
    while waiting() > 1024 && clock::now() < give_up {
        clock::sleep_until(clock::now() + 20 * MS);
    }
    assert!(half().count() > 1024 && waiting() <= 1024, "{} strangers wait", waiting());
    let report = finish(conductor);
    assert_eq!(report.drained.of(Counter::Completed), 7);
    assert_eq!(report.flows.len(), 2);
    assert!(report.extra.is_empty(), "{:?}", report.extra);
}
