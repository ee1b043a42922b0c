//! A server, a listener that reads flow headers, and a client, all in this process.

use std::collections::HashSet;
use std::io::Read;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use hopbench_load::{Accepted, Acceptor, Context, FlowLimit, workload};
use hopbench_model::{Fault, Job};
use hopbench_sys::{Epoll, Events, Listener, Socket, Waker};

use crate::trial::{Measured, context, drive, report};

/// Runs a server on `listen` and a client against it.
pub(crate) fn run_both(job: &Job, listen: SocketAddr) -> Result<Measured, Fault> {
    let workload = workload(&job.workload).unwrap();
    let context = context(job, listen);
    let (server, acceptor) = workload.server(&context)?;
    let front = Front::start(listen, acceptor);
    let context = Context { target: front.address, ..context };
    let workers = workload.client(&context)?;
    let (client, fault) = drive(&context, workers);
    front.stop();
    let counts = server.counts_handle();
    server.close();
    let (recorder, server_fault) = server.join();
    let server = report(&recorder, counts());
    Ok(Measured {
        client,
        server: Some(server),
        faults: fault.into_iter().chain(server_fault).collect(),
        job: job.clone(),
    })
}

/// The listener in front of a server.
struct Front {
    address: SocketAddr,
    stop: Arc<Waker>,
    thread: std::thread::JoinHandle<()>,
}

impl Front {
    fn start(listen: SocketAddr, acceptor: Acceptor) -> Self {
        let listener = Listener::bind(listen, 1024).unwrap();
        let address = listener.local().unwrap();
        let stop = Arc::new(Waker::new().unwrap());
        let epoll = Epoll::new().unwrap();
        epoll.add(&listener, 0).unwrap();
        epoll.add(&*stop, 1).unwrap();
        let thread = std::thread::spawn(move || {
            let (mut seen, mut events) = (HashSet::new(), Events::with_capacity(2));
            loop {
                epoll.wait(&mut events, None).unwrap();
                while let Ok((socket, _)) = listener.accept() {
                    if let Some(accepted) = read_header(socket) {
                        assert!(seen.insert(accepted.flow), "flow {} came twice", accepted.flow);
                        acceptor(accepted);
                    }
                }
                if events.iter().any(|event| event.token == 1 && event.readable) {
                    return;
                }
            }
        });
        Self { address, stop, thread }
    }

    fn stop(self) {
        self.stop.wake();
        self.thread.join().unwrap();
    }
}

/// `None` for a connection without a header: the client's look whether anybody is there.
fn read_header(socket: Socket) -> Option<Accepted> {
    let mut stream = TcpStream::from(OwnedFd::from(socket));
    stream.set_nonblocking(false).unwrap();
    let mut header = [0; 32];
    stream.read_exact(&mut header).ok()?;
    assert_eq!(header[4..], [b'h'; 28]);
    stream.set_nonblocking(true).unwrap();
    let flow = u32::from_le_bytes(header[..4].try_into().unwrap());
    let flow_guard = FlowLimit::new(None).take().unwrap();
    let socket = Arc::new(Socket::from(OwnedFd::from(stream)));
    Some(Accepted { flow, from_server: false, socket, registration: None, flow_guard })
}
