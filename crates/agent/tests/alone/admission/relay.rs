//! Ways to an agent that take their time.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use hopbench_model::Nanos;
use hopbench_sys::clock;

use super::MS;

/// A port of ours whose connections lead to an agent, every byte later by a fixed delay each way.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
}

impl Relay {
    /// Its threads end with their connections, and with the process.
    pub(crate) fn to(agent: SocketAddr, delay: Nanos) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                // As late as the rest: a connection is one more round trip.
                clock::sleep_until(clock::now() + delay);
                let Ok(server) = TcpStream::connect(agent) else { continue };
                let (client_too, server_too) =
                    (client.try_clone().unwrap(), server.try_clone().unwrap());
                delayed(client, server, delay);
                delayed(server_too, client_too, delay);
            }
        });
        Self { address }
    }
}

/// Carries bytes one way, each piece `delay` after it came.
fn delayed(mut from: TcpStream, mut to: TcpStream, delay: Nanos) {
    let (pieces, due) = mpsc::channel::<(Nanos, Vec<u8>)>();
    std::thread::spawn(move || {
        let mut buffer = [0; 16 << 10];
        while let Ok(got) = from.read(&mut buffer) {
            if got == 0 || pieces.send((clock::now() + delay, buffer[..got].to_vec())).is_err() {
                break;
            }
        }
    });
    std::thread::spawn(move || {
        for (at, piece) in due {
            clock::sleep_until(at);
            if to.write_all(&piece).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}

/// A way over this process that can become very slow.
pub(crate) struct Pipe {
    slow: Arc<AtomicBool>,
    over: Arc<AtomicBool>,
}

impl Pipe {
    pub(crate) fn between(client: UnixStream, agent: TcpStream) -> Self {
        let (slow, over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (mut from, mut to) = (client.try_clone().unwrap(), agent.try_clone().unwrap());
        let drips = Arc::clone(&slow);
        std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(got) = from.read(&mut buffer) {
                let piece = if drips.load(Ordering::Relaxed) { 1 } else { got.max(1) };
                for bytes in buffer[..got].chunks(piece) {
                    if drips.load(Ordering::Relaxed) {
                        clock::sleep_until(clock::now() + 10 * MS);
                    }
                    if to.write_all(bytes).is_err() {
                        return;
                    }
                }
                if got == 0 {
                    return;
                }
            }
        });
        let (mut from, mut to, ended) = (agent, client, Arc::clone(&over));
        std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(got @ 1..) = from.read(&mut buffer) {
                // Nobody may read any more.
                let _ = to.write_all(&buffer[..got]);
            }
            ended.store(true, Ordering::Relaxed);
        });
        Self { slow, over }
    }

    /// A byte each 10 ms towards the agent from here on.
    pub(crate) fn trickle(&mut self) {
        self.slow.store(true, Ordering::Relaxed);
    }

    /// Whether the agent has closed.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}
