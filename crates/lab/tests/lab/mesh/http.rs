//! HTTP/1.1 without agents: a client and a server of the simplest kind, and the reports that agents
//! would give.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hopbench_lab::Lab;
use hopbench_model::{Counter, EndReport, FlowReport};
use hopbench_testbed::{AgentId, Route};

use crate::traffic::{Ends, PATIENCE, beside_servers, count, everywhere, namespace};

/// Bytes of an answer's body.
const BODY: usize = 5000;

/// Each client makes `connections` connections to the route's target, with `requests` requests on
/// each. Where a server program answers, nobody else does.
pub(crate) fn http(
    lab: &Lab,
    route: &Route,
    connections: u32,
    requests: u32,
) -> Result<(Ends, Ends), String> {
    let servers = if route.programs.is_empty() { &route.servers[..] } else { &[] };
    let ask = |id: &AgentId| {
        namespace(lab, id)
            .run(|| client(route.target, connections, requests))
            .expect("a namespace to enter")
    };
    // One client after the other.
    let clients = || route.clients.iter().map(|id| Ok((id.clone(), ask(id)?))).collect();
    beside_servers(lab, servers, server, clients)
}

fn client(target: SocketAddr, connections: u32, requests: u32) -> Result<EndReport, String> {
    let mut report = EndReport::default();
    for _ in 0..connections {
        let failed = |e: std::io::Error| format!("{target}: {e}");
        let stream = TcpStream::connect_timeout(&target, PATIENCE).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        count(&mut report, Counter::Connects, 1);
        let mut stream = BufReader::new(stream);
        for _ in 0..requests {
            let question = format!("GET /bytes/{BODY} HTTP/1.1\r\nHost: {target}\r\n\r\n");
            stream.get_mut().write_all(question.as_bytes()).map_err(failed)?;
            count(&mut report, Counter::Sent, 1);
            count(&mut report, Counter::SentBytes, question.len() as u64);
            let (status, bytes) = answer(&mut stream).map_err(failed)?;
            if status != 200 {
                return Err(format!("{target}: status {status}"));
            }
            count(&mut report, Counter::ReceivedBytes, bytes);
            count(&mut report, Counter::Completed, 1);
        }
    }
    report.extra.insert("body_bytes".to_owned(), f64::from(connections * requests) * BODY as f64);
    Ok(report)
}

/// Status and length of an answer.
fn answer(stream: &mut BufReader<TcpStream>) -> std::io::Result<(u16, u64)> {
    let (mut bytes, mut body, mut status) = (0, 0, 0);
    loop {
        let mut line = String::new();
        bytes += stream.read_line(&mut line)? as u64;
        if line.is_empty() {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(rest) = line.strip_prefix("HTTP/1.1 ") {
            status = rest[..3].parse().expect("a status");
        } else if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            body = value.trim().parse().expect("a length");
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut rest = vec![0; body];
    stream.read_exact(&mut rest)?;
    Ok((status, bytes + body as u64))
}

/// Answers on all connections until it is over: proxies keep theirs.
fn server(port: u16, ready: &Barrier, over: &AtomicBool) -> EndReport {
    let listener = TcpListener::bind(everywhere(port)).expect("the port");
    listener.set_nonblocking(true).expect("a setting");
    ready.wait();
    let mut report = EndReport::default();
    let (received, sent) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        while !over.load(Ordering::Acquire) {
            let Ok((stream, peer)) = listener.accept() else {
                std::thread::sleep(Duration::from_micros(200));
                continue;
            };
            let flow = report.flows.len() as u32;
            report.flows.push(FlowReport { flow, local: String::new(), peer: peer.to_string() });
            let (received, sent) = (&received, &sent);
            scope.spawn(move || serve(stream, over, received, sent));
        }
    });
    count(&mut report, Counter::ReceivedBytes, received.into_inner());
    count(&mut report, Counter::SentBytes, sent.into_inner());
    report
}

fn serve(stream: TcpStream, over: &AtomicBool, received: &AtomicU64, sent: &AtomicU64) {
    stream.set_nonblocking(false).expect("a setting");
    stream.set_read_timeout(Some(Duration::from_millis(5))).expect("a setting");
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while !over.load(Ordering::Acquire) {
        // What was read before a timeout stays in the line.
        match stream.read_line(&mut line) {
            Ok(0) => return,
            Ok(_) => {
                received.fetch_add(line.len() as u64, Ordering::Relaxed);
                if line == "\r\n" {
                    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {BODY}\r\n\r\n");
                    let answer = [head.into_bytes(), vec![b'h'; BODY]].concat();
                    stream.get_mut().write_all(&answer).expect("an answer");
                    sent.fetch_add(answer.len() as u64, Ordering::Relaxed);
                }
                line.clear();
            }
            Err(_) => {}
        }
    }
}
