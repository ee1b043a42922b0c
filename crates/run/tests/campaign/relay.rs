//! A service: one address, several backends in turn.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Gives every new connection to the next backend. Ends with the process. Returns its address, and
/// how many connections are open.
pub(crate) fn service(backends: Vec<SocketAddr>) -> (SocketAddr, Arc<AtomicU64>) {
    let open = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&open);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (stream, backend) in listener.incoming().zip(backends.iter().cycle()) {
            let (Ok(client), Ok(server)) = (stream, TcpStream::connect(backend)) else { continue };
            let (client_back, server_back) =
                (client.try_clone().unwrap(), server.try_clone().unwrap());
            count.fetch_add(1, Ordering::SeqCst);
            let count = Arc::clone(&count);
            std::thread::spawn(move || {
                copy(client, server);
                count.fetch_sub(1, Ordering::SeqCst);
            });
            std::thread::spawn(move || copy(server_back, client_back));
        }
    });
    (address, open)
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 64 * 1024];
    while let Ok(n) = from.read(&mut buffer) {
        if n == 0 || to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    // An end that comes is passed on; bytes of the other direction are still under way.
    let _ = to.shutdown(Shutdown::Write);
}
