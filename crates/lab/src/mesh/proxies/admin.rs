//! A proxy's admin endpoint: HTTP/1.1 over one connection that stays open, because it is asked
//! around every trial.

use std::io::{self, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

use hopbench_model::Nanos;
use hopbench_model::printable::excerpt;
use hopbench_sys::clock;

use crate::network::namespace::Namespace;

/// The longest answer of an admin endpoint.
const MOST_BYTES: usize = 64 << 20;
const MOST_HEADERS: usize = 32;
const OK: u16 = 200;

/// A connection to an admin endpoint.
#[derive(Debug)]
pub(super) struct AdminConnection {
    stream: UnixStream,
    /// Bytes that came and were not looked at yet.
    bytes: Vec<u8>,
}

/// How a body is to be read.
enum Length {
    Bytes(usize),
    Chunked,
}

impl AdminConnection {
    /// Connects to the abstract Unix socket `name` (without `@`) of a network namespace.
    pub(super) fn connect(namespace: &Namespace, name: &str) -> io::Result<Self> {
        let address = SocketAddr::from_abstract_name(name)?;
        let stream = namespace.run(|| UnixStream::connect_addr(&address))??;
        Ok(Self { stream, bytes: Vec::new() })
    }

    /// The body of the answer to a GET, at most after this time. Another status than 200 is an
    /// error. After a late or bad answer the connection is of no more use.
    pub(super) fn get(&mut self, path: &str, within: Nanos) -> io::Result<Vec<u8>> {
        let end = clock::now() + within;
        let request = format!("GET {path} HTTP/1.1\r\nHost: admin\r\n\r\n");
        self.stream.set_write_timeout(Some(Duration::from_nanos(within)))?;
        self.stream.write_all(request.as_bytes())?;
        let (status, length) = self.head(end)?;
        let body = match length {
            Length::Bytes(count) => self.take(count, end)?,
            Length::Chunked => self.chunks(end)?,
        };
        if status == OK {
            return Ok(body);
        }
        Err(io::Error::other(format!(
            "{path}: status {status}: {}",
            excerpt(String::from_utf8_lossy(&body).trim(), 300)
        )))
    }

    fn head(&mut self, end: Nanos) -> io::Result<(u16, Length)> {
        loop {
            let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
            let mut response = httparse::Response::new(&mut headers);
            if let httparse::Status::Complete(count) =
                response.parse(&self.bytes).map_err(io::Error::other)?
            {
                let head = (response.code.unwrap_or(0), length(response.headers)?);
                self.bytes.drain(..count);
                return Ok(head);
            }
            self.more(end)?;
        }
    }

    fn chunks(&mut self, end: Nanos) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let parsed = httparse::parse_chunk_size(&self.bytes)
                .map_err(|_| io::Error::other("a chunk without a size"))?;
            let httparse::Status::Complete((count, size)) = parsed else {
                self.more(end)?;
                continue;
            };
            self.bytes.drain(..count);
            let size = usize::try_from(size)
                .ok()
                .filter(|size| *size <= MOST_BYTES - body.len())
                .ok_or_else(too_long)?;
            body.extend(self.take(size, end)?);
            // A chunk ends with an empty line; so does the answer, which has no trailers, after a
            // chunk of nothing.
            if self.take(2, end)? != b"\r\n" {
                return Err(io::Error::other("a chunk without an end"));
            }
            if size == 0 {
                return Ok(body);
            }
        }
    }

    fn take(&mut self, count: usize, end: Nanos) -> io::Result<Vec<u8>> {
        while self.bytes.len() < count {
            self.more(end)?;
        }
        Ok(self.bytes.drain(..count).collect())
    }

    /// Waits for more bytes.
    fn more(&mut self, end: Nanos) -> io::Result<()> {
        if self.bytes.len() > MOST_BYTES {
            return Err(too_long());
        }
        let left = end.saturating_sub(clock::now());
        if left == 0 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(Duration::from_nanos(left)))?;
        let mut buffer = [0; 16384];
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.bytes.extend_from_slice(&buffer[..count]);
                Ok(())
            }
            // That is what a timeout looks like; the next look at the clock says so.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

fn length(headers: &[httparse::Header<'_>]) -> io::Result<Length> {
    let value = |name: &str| {
        let header = headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(header.value).ok()
    };
    if value("transfer-encoding").is_some_and(|coding| coding.eq_ignore_ascii_case("chunked")) {
        return Ok(Length::Chunked);
    }
    let count = value("content-length").and_then(|count| count.trim().parse().ok());
    count
        .filter(|count| *count <= MOST_BYTES)
        .map(Length::Bytes)
        .ok_or_else(|| io::Error::other("a body without a length"))
}

fn too_long() -> io::Error {
    io::Error::other(format!("an answer of more than {MOST_BYTES} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE_NS: Nanos = 5_000_000_000;

    /// What comes of these answers, which come byte by byte, each to a request of its own over the
    /// same connection.
    fn asked(answers: &'static [&str]) -> Vec<Result<String, String>> {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut admin = AdminConnection { stream: ours, bytes: Vec::new() };
        let server = std::thread::Builder::new().spawn(move || {
            for answer in answers {
                let expected = "GET /stats HTTP/1.1\r\nHost: admin\r\n\r\n";
                let mut request = vec![0; expected.len()];
                theirs.read_exact(&mut request).unwrap();
                assert_eq!(String::from_utf8_lossy(&request), expected);
                answer.bytes().for_each(|byte| theirs.write_all(&[byte]).unwrap());
            }
        });
        let mut get = || admin.get("/stats", PATIENCE_NS).map_err(|e| e.to_string());
        let got =
            answers.iter().map(|_| get().map(|body| String::from_utf8(body).unwrap())).collect();
        server.unwrap().join().unwrap();
        got
    }

    #[test]
    fn answers_in_chunks_and_of_known_length_are_read_one_after_the_other() {
        let got = asked(&[
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\na: 1\n\r\n1A;x=y\r\n\
             abcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nLIVE",
            "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 13\r\n\r\nINITIALIZING\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
        ]);
        let expected = [
            Ok("a: 1\nabcdefghijklmnopqrstuvwxyz"),
            Ok("LIVE"),
            Err("/stats: status 503: INITIALIZING"),
            Ok(""),
        ];
        assert_eq!(got, expected.map(|one| one.map(str::to_owned).map_err(str::to_owned)));
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        for (answer, why) in [
            ("SSH-2.0-x\r\n", "invalid"),
            ("HTTP/1.1 200 OK\r\n\r\n", "a body without a length"),
            ("HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n", "a body without a length"),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
                "a chunk without a size",
            ),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n",
                "a chunk without an end",
            ),
            (
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffff\r\n",
                "an answer of more than",
            ),
            ("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", "unexpected end"),
        ] {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            let mut admin = AdminConnection { stream: ours, bytes: Vec::new() };
            theirs.write_all(answer.as_bytes()).unwrap();
            theirs.shutdown(std::net::Shutdown::Write).unwrap();
            let error = admin.get("/stats", PATIENCE_NS).unwrap_err().to_string();
            assert!(error.to_lowercase().contains(why), "{answer:?}: {error}");
        }
    }

    #[test]
    fn an_endpoint_that_says_nothing_is_not_waited_for_longer_than_asked() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut admin = AdminConnection { stream: ours, bytes: Vec::new() };
        let start = clock::now();
        theirs.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf").unwrap();
        let error = admin.get("/stats", 50_000_000).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!((50_000_000..PATIENCE_NS).contains(&(clock::now() - start)));
    }
}
