//! An application that answers HTTP, and a client of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(10);
/// What it answers.
pub(crate) const BODY: &str = "hello";

/// It runs as long as the test.
pub(crate) struct Application {
    pub(crate) address: SocketAddr,
    requests: Arc<AtomicU64>,
}

impl Application {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let requests = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counted = Arc::clone(&counted);
                std::thread::spawn(move || answer(&stream, &counted));
            }
        });
        Self { address, requests }
    }

    /// Requests that reached it.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }
}

/// Answers the requests of a connection; they have no body.
fn answer(stream: &TcpStream, counted: &AtomicU64) {
    let mut lines = BufReader::new(stream).lines();
    while let Some(Ok(line)) = lines.next() {
        if line.is_empty() {
            counted.fetch_add(1, Ordering::Relaxed);
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{BODY}", BODY.len());
            if (&*stream).write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }
}

/// An answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    /// Lines of the header in lower case.
    pub(crate) header: Vec<String>,
    pub(crate) body: String,
}

/// Asks for a path on a connection that stays open, with more lines of header; `None` where it was
/// closed instead.
pub(crate) fn get(stream: &TcpStream, path: &str, more: &str) -> Option<Answer> {
    stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
    let request = format!("GET {path} HTTP/1.1\r\nhost: application\r\n{more}\r\n");
    (&*stream).write_all(request.as_bytes()).ok()?;
    let mut reader = BufReader::new(stream);
    let mut header = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
        match line.trim_end() {
            "" => break,
            line => header.push(line.to_ascii_lowercase()),
        }
    }
    let length = header
        .iter()
        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let code = header.first()?.split(' ').nth(1)?.parse().ok()?;
    Some(Answer { code, header, body: String::from_utf8_lossy(&body).into_owned() })
}
