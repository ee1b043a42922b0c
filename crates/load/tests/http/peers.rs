//! Servers that behave in ways that ours does not, each connection in a thread.

use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

/// An answer of two bytes.
pub(crate) const SMALL: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// A running server; it ends when it is dropped.
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    connections: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Peer {
    /// Serves every connection with `serve`.
    pub(crate) fn start(serve: impl Fn(Connection) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (connections, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, end, serve) = (Arc::clone(&connections), Arc::clone(&over), Arc::new(serve));
        let accepting = std::thread::spawn(move || {
            loop {
                let (stream, _) = listener.accept().unwrap();
                if end.load(Ordering::Acquire) {
                    return;
                }
                count.fetch_add(1, Ordering::AcqRel);
                stream.set_nodelay(true).unwrap();
                let serve = Arc::clone(&serve);
                std::thread::spawn(move || serve(Connection(BufReader::new(stream))));
            }
        });
        Self { address, connections, over, accepting: Some(accepting) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Connections that were accepted.
    pub(crate) fn connections(&self) -> u64 {
        self.connections.load(Ordering::Acquire)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        drop(TcpStream::connect(self.address));
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

/// One connection of a peer.
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    /// Reads a request without a body; `false` when the client closed or reset the connection.
    pub(crate) fn request(&mut self) -> bool {
        let mut line = String::new();
        loop {
            line.clear();
            match self.0.read_line(&mut line) {
                Ok(n) if n > 0 => {}
                _ => return false,
            }
            if line == "\r\n" {
                return true;
            }
        }
    }

    /// The socket, if nothing of it was read yet.
    pub(crate) fn into_stream(self) -> TcpStream {
        self.0.into_inner()
    }

    /// The client's address.
    pub(crate) fn client(&self) -> IpAddr {
        self.0.get_ref().peer_addr().unwrap().ip()
    }

    /// Reads until the client closes the connection.
    pub(crate) fn read_to_end(&mut self) {
        let _ = std::io::copy(&mut self.0, &mut std::io::sink());
    }

    /// Writes; a client that is gone will be noticed by the next read.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let _ = self.0.get_mut().write_all(bytes);
    }
}
