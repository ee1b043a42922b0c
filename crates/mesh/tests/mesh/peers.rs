//! The ends of the traffic: applications that count, and clients.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// What an application saw.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) connections: AtomicU64,
    pub(crate) requests: AtomicU64,
}

/// How an application behaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum App {
    /// Answers HTTP requests; echoes bytes that do not begin like one.
    Answers,
    /// Speaks first, one byte, then echoes.
    SpeaksFirst,
}

/// An application on this port of the loopback, which ends with the process.
pub(crate) fn app(port: u16, app: App) -> Arc<Seen> {
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let seen = Arc::<Seen>::default();
    let all = Arc::clone(&seen);
    thread::spawn(move || {
        for socket in listener.incoming() {
            let seen = Arc::clone(&all);
            seen.connections.fetch_add(1, Ordering::SeqCst);
            thread::spawn(move || serve(socket.unwrap(), app, &seen));
        }
    });
    seen
}

fn serve(mut socket: TcpStream, app: App, seen: &Seen) {
    if app == App::SpeaksFirst {
        socket.write_all(b"!").unwrap();
    }
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = socket.read(&mut buffer) {
        let text = String::from_utf8_lossy(&buffer[..read]).into_owned();
        let Some(target) = text.strip_prefix("GET ") else {
            socket.write_all(&buffer[..read]).unwrap();
            continue;
        };
        seen.requests.fetch_add(1, Ordering::SeqCst);
        let status = match target.split(' ').next().unwrap() {
            "/close" => return,
            // What only costs and tells the application nothing is not there.
            _ if target.replace("x-envoy-external-address", "").contains("x-envoy") => {
                "500 Envoy's headers"
            }
            "/missing" => "404 Not Found",
            "/slow" => {
                thread::sleep(Duration::from_millis(300));
                "200 OK"
            }
            _ => "200 OK",
        };
        write!(socket, "HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nok").unwrap();
    }
}

/// A connection to a port of the loopback.
pub(crate) fn connect(port: u16) -> TcpStream {
    let socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket
}

/// Asks, and reads the answer: its status, and its flags if it has any.
pub(crate) fn get(socket: &TcpStream, path: &str) -> (u16, Option<String>) {
    write!(&mut &*socket, "GET {path} HTTP/1.1\r\nhost: app\r\n\r\n").unwrap();
    let mut reader = BufReader::new(socket);
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    let first = line();
    let status = first
        .split(' ')
        .nth(1)
        .unwrap_or_else(|| panic!("not an answer: {first:?}"))
        .parse()
        .unwrap();
    let (mut flags, mut length) = (None, 0);
    loop {
        let field = line();
        match field.split_once(": ") {
            Some((hopbench_model::FLAGS_HEADER, value)) => flags = Some(value.to_owned()),
            Some(("content-length", value)) => length = value.parse().unwrap(),
            // What only costs and tells nothing is not there.
            Some(("server", value)) => panic!("server: {value}"),
            Some((name, _)) if name.starts_with("x-envoy") => panic!("{field}"),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    assert!(reader.buffer().is_empty());
    (status, flags)
}

/// One byte there and back.
pub(crate) fn echo(socket: &mut TcpStream) {
    socket.write_all(b"x").unwrap();
    let mut byte = [0];
    socket.read_exact(&mut byte).unwrap();
    assert_eq!(&byte, b"x");
}

/// Whether the other side closes without a word.
pub(crate) fn is_closed(socket: &mut TcpStream) -> bool {
    match socket.read(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}
