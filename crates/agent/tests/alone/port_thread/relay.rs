//! A relay of TCP connections that passes their first bytes on late.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

use hopbench_model::Nanos;
use hopbench_sys::clock;

/// Runs until the process ends.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
}

impl Relay {
    /// Connects to `target` at once for each connection that comes in, and sends nothing there for
    /// the time `late`, ns: whoever listens accepts before the first byte is there.
    pub(crate) fn start(target: SocketAddr, late: Nanos) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for ours in listener.incoming().map_while(Result::ok) {
                std::thread::spawn(move || pass(&ours, target, late));
            }
        });
        Self { address }
    }
}

/// Both ways to their ends; an error on either way ends the connection, as it would without a
/// relay.
fn pass(ours: &TcpStream, target: SocketAddr, late: Nanos) {
    let Ok(theirs) = TcpStream::connect(target) else { return };
    let both = [ours, &theirs].map(|stream| stream.set_nodelay(true));
    assert!(both.iter().all(Result::is_ok), "{both:?}");
    clock::sleep_until(clock::now() + late);
    std::thread::scope(|scope| {
        for (from, to) in [(ours, &theirs), (&theirs, ours)] {
            scope.spawn(move || {
                let (mut reader, mut writer) = (from, to);
                let _ = io::copy(&mut reader, &mut writer);
                let _ = to.shutdown(Shutdown::Write);
            });
        }
    });
}
