//! An HTTP server whose speed is known: so many requests at a time, each for so long.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use hopbench_sys::clock;

/// Places to work at.
#[derive(Debug)]
struct Places {
    free: Mutex<usize>,
    freed: Condvar,
}

/// Starts a server with so many workers that takes `service_ns` for each request; ends with the
/// process. Its address.
pub(crate) fn workshop(workers: usize, service_ns: u64) -> SocketAddr {
    let places = Arc::new(Places { free: Mutex::new(workers), freed: Condvar::new() });
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let places = Arc::clone(&places);
            std::thread::spawn(move || serve(&stream, &places, service_ns));
        }
    });
    address
}

fn serve(stream: &TcpStream, places: &Places, service_ns: u64) {
    let _ = stream.set_nodelay(true);
    let (mut lines, mut answers) = (BufReader::new(stream).lines(), stream);
    while let Some(Ok(line)) = lines.next() {
        // The empty line that ends a head; there are no bodies.
        if !line.is_empty() {
            continue;
        }
        let mut free =
            places.freed.wait_while(places.free.lock().unwrap(), |free| *free == 0).unwrap();
        *free -= 1;
        drop(free);
        clock::sleep_until(clock::now() + service_ns);
        *places.free.lock().unwrap() += 1;
        places.freed.notify_one();
        if answers.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
            break;
        }
    }
}
