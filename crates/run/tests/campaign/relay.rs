//! A service: one address, several backends in turn.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

/// Gives every new connection to the next backend. Ends with the process.
pub(crate) fn service(backends: Vec<SocketAddr>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for (stream, backend) in listener.incoming().zip(backends.iter().cycle()) {
            let (Ok(client), Ok(server)) = (stream, TcpStream::connect(backend)) else { continue };
            let (client_back, server_back) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || copy(client, server));
            std::thread::spawn(move || copy(server_back, client_back));
        }
    });
    address
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
