//! One HTTP request, for nginx's own count of its requests.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};

const TIMEOUT: Duration = Duration::from_secs(5);

/// The whole answer to a request, headers included.
///
/// # Errors
/// When there is no answer.
pub(crate) fn get(target: SocketAddr, path: &str) -> Result<String> {
    let mut stream = TcpStream::connect_timeout(&target, TIMEOUT)
        .with_context(|| format!("connection to {target}"))?;
    stream.set_read_timeout(Some(TIMEOUT)).context("read timeout")?;
    // In one piece: `write!` would send each part by itself, and a plain server sees the path only
    // in one.
    let request = format!("GET {path} HTTP/1.1\r\nHost: {target}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).context("request")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).with_context(|| format!("answer of {target}"))?;
    Ok(answer)
}
