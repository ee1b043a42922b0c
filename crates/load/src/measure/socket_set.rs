//! The set of a trial's sockets, from which others read `TCP_INFO`.

use std::collections::BTreeMap;
use std::net::Shutdown;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

use hopbench_model::{FlowReport, TcpTotals};
use hopbench_sys::{Socket, TcpInfo, tcp_info};

/// Every socket of a trial that stays open for more than one exchange. Workers add and retire them;
/// the control thread reads `TCP_INFO` from them without disturbing a worker.
#[derive(Debug, Default)]
pub struct SocketSet {
    inner: Mutex<Inner>,
    described: AtomicUsize,
}

#[derive(Debug, Default)]
struct Inner {
    open: BTreeMap<u32, Weak<Socket>>,
    retired: TcpTotals,
    flows: Vec<FlowReport>,
    settings: BTreeMap<String, String>,
}

/// The number of flows that are described one by one.
const FLOWS_DESCRIBED: usize = 16;

impl SocketSet {
    /// Adds the socket of flow `flow`.
    pub fn add(&self, flow: u32, socket: &Arc<Socket>) {
        self.describe(flow, socket);
        self.lock().open.insert(flow, Arc::downgrade(socket));
    }

    /// Writes down the addresses of a socket, if it is among the first.
    pub fn describe(&self, flow: u32, socket: &Socket) {
        // Looked at without the lock: of a million connections only the first few are of interest.
        if self.described.load(Ordering::Relaxed) >= FLOWS_DESCRIBED {
            return;
        }
        let text = |address: std::io::Result<std::net::SocketAddr>| {
            address.map_or_else(|e| e.to_string(), |a| a.to_string())
        };
        let mut inner = self.lock();
        if inner.flows.len() < FLOWS_DESCRIBED {
            inner.flows.push(FlowReport {
                flow,
                local: text(socket.local()),
                peer: text(socket.peer()),
            });
            self.described.store(inner.flows.len(), Ordering::Relaxed);
        }
    }

    /// Takes the last reading of a socket that is about to be closed.
    pub fn retire(&self, flow: u32, socket: &Socket) {
        let mut inner = self.lock();
        inner.open.remove(&flow);
        add(&mut inner.retired, socket);
    }

    /// Sums over all sockets, closed ones as they were when they were closed.
    pub fn tcp_totals(&self) -> TcpTotals {
        let inner = self.lock();
        let mut totals = inner.retired;
        for socket in inner.open.values().filter_map(Weak::upgrade) {
            add(&mut totals, &socket);
        }
        // `smoothed_rtt_ns` was summed; make it a mean.
        totals.smoothed_rtt_ns =
            totals.smoothed_rtt_ns.checked_div(totals.connections).unwrap_or(0);
        totals
    }

    /// How many connections are not whole any more, though nobody here closed them. Sockets that
    /// are not TCP have none.
    pub fn broken(&self) -> usize {
        let inner = self.lock();
        let sockets = inner.open.values().filter_map(Weak::upgrade);
        sockets.filter(|socket| TcpInfo::of(socket).is_ok() && !socket.is_whole()).count()
    }

    /// Closes every socket in both directions, so that a thread that blocks on one returns.
    pub fn shut_all(&self) {
        for socket in self.lock().open.values().filter_map(Weak::upgrade) {
            socket.shutdown(Shutdown::Both);
        }
    }

    /// Sets the option of every socket; one that refuses keeps what it had.
    pub(crate) fn set_receive_low_water(&self, bytes: usize) {
        for socket in self.lock().open.values().filter_map(Weak::upgrade) {
            let _ = socket.set_receive_low_water(bytes);
        }
    }

    /// Notes what was asked for and what the system gave; the first socket speaks for all.
    pub fn note_setting(&self, name: &str, value: impl FnOnce() -> String) {
        let mut inner = self.lock();
        if !inner.settings.contains_key(name) {
            inner.settings.insert(name.to_owned(), value());
        }
    }

    /// The settings that were noted.
    pub fn settings(&self) -> BTreeMap<String, String> {
        self.lock().settings.clone()
    }

    /// The first flows.
    pub fn flows(&self) -> Vec<FlowReport> {
        self.lock().flows.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        // A panic of another worker does not make the sums wrong.
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn add(totals: &mut TcpTotals, socket: &Socket) {
    // A socket that is not TCP, or is gone, has nothing to add.
    let Ok(info) = TcpInfo::of(socket) else {
        return;
    };
    totals.connections += 1;
    totals.acked_bytes += info.bytes_acked;
    totals.received_bytes += info.bytes_received;
    totals.sent_bytes += info.bytes_sent;
    totals.retransmitted_bytes += info.bytes_retrans;
    totals.retransmitted_segments += u64::from(info.total_retrans);
    totals.send_queue_bytes += tcp_info::send_queue_bytes(socket).unwrap_or(0);
    totals.not_sent_bytes += u64::from(info.notsent_bytes);
    totals.receive_queue_bytes += tcp_info::receive_queue_bytes(socket).unwrap_or(0);
    totals.busy_ns += info.busy_time_us * 1000;
    totals.receive_window_limited_ns += info.rwnd_limited_us * 1000;
    totals.send_buffer_limited_ns += info.sndbuf_limited_us * 1000;
    totals.smoothed_rtt_ns += u64::from(info.rtt_us) * 1000;
    let min = u64::from(info.min_rtt_us) * 1000;
    // The kernel's "not measured yet" is all ones.
    if info.min_rtt_us != u32::MAX && (totals.min_rtt_ns == 0 || min < totals.min_rtt_ns) {
        totals.min_rtt_ns = min;
    }
}
