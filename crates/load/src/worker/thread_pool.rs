//! The thread pool of a server that serves each connection by a thread.
//!
//! A thread whose connection has ended takes the next one. So there are never more threads than
//! connections were open at once.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hopbench_model::{Fault, Nanos};
use hopbench_sys::Waker;

use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;
use crate::worker::inbox::{AcceptedFlow, Inbox};

/// The threads' inboxes, by seat.
#[derive(Debug)]
pub(crate) struct Pool<F> {
    seats: Mutex<Seats<F>>,
    idle: Arc<Idle>,
}

#[derive(Debug)]
struct Seats<F> {
    inboxes: Vec<Arc<Inbox<Seated<F>>>>,
    closed: bool,
}

/// The seats whose threads have nothing to do.
#[derive(Debug, Default)]
struct Idle(Mutex<Vec<usize>>);

/// A flow that gives its seat back when it is over.
#[derive(Debug)]
pub(crate) struct Seated<F> {
    flow: F,
    seat: usize,
    idle: Arc<Idle>,
}

impl<F> Pool<F> {
    pub(crate) fn new() -> Self {
        Self {
            seats: Mutex::new(Seats { inboxes: Vec::new(), closed: false }),
            idle: Arc::default(),
        }
    }

    /// Gives a flow to a thread that is idle, or to a new one, which `start` starts for a seat and
    /// an inbox. After [`Pool::close`] the flow's socket is closed instead.
    pub(crate) fn put(
        &self,
        arrival: AcceptedFlow<F>,
        start: impl FnOnce(usize, Arc<Inbox<Seated<F>>>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut seats = lock(&self.seats);
        if seats.closed {
            return Ok(());
        }
        let idle = lock(&self.idle.0).pop();
        let seat = match idle {
            Some(seat) => seat,
            None => {
                let waker = Waker::new().map_err(|error| {
                    Fault::environment(format!("cannot start a worker thread: {error}"))
                })?;
                let inbox = Arc::new(Inbox::new(Arc::new(waker)));
                let seat = seats.inboxes.len();
                start(seat, Arc::clone(&inbox))?;
                seats.inboxes.push(inbox);
                seat
            }
        };
        let AcceptedFlow { number, socket, flow, flow_guard } = arrival;
        let flow = Seated { flow, seat, idle: Arc::clone(&self.idle) };
        seats.inboxes[seat].put(AcceptedFlow { number, socket, flow, flow_guard });
        Ok(())
    }

    /// No more flows will come: threads end with the flow they serve.
    pub(crate) fn close(&self) {
        let mut seats = lock(&self.seats);
        seats.closed = true;
        for inbox in &seats.inboxes {
            inbox.close();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these mutexes guard is right after every single statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<F: Flow> Flow for Seated<F> {
    fn start(&mut self, now: Nanos) -> Op {
        self.flow.start(now)
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        self.flow.on(event, now, out)
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        self.flow.outgoing()
    }

    fn bulk_bytes(&self) -> Option<usize> {
        self.flow.bulk_bytes()
    }

    fn fit_packets(&mut self, packet_bytes: usize) -> bool {
        self.flow.fit_packets(packet_bytes)
    }

    fn is_idle(&self) -> bool {
        self.flow.is_idle()
    }

    fn visited(&mut self, out: &mut Recorder) {
        self.flow.visited(out);
    }

    fn closing(&mut self, out: &mut Recorder) {
        self.flow.closing(out);
        lock(&self.idle.0).push(self.seat);
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        self.flow.deadline()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use hopbench_sys::Socket;

    use crate::admission::flow_limit::FlowLimit;
    use crate::measure::window::Window;

    use super::*;

    struct Nothing;

    impl Flow for Nothing {
        fn start(&mut self, _now: Nanos) -> Op {
            Op::End
        }

        fn on(&mut self, _event: Event<'_>, _now: Nanos, _out: &mut Recorder) -> Op {
            Op::End
        }
    }

    #[test]
    fn a_thread_that_is_idle_is_taken_before_a_new_one() {
        let pool = Pool::new();
        let started = RefCell::new(Vec::new());
        let flow_limit = FlowLimit::new(None);
        let put = |number| {
            let socket = Arc::new(Socket::udp(([127, 0, 0, 1], 9).into()).unwrap());
            let arrival = AcceptedFlow {
                number,
                socket,
                flow: Nothing,
                flow_guard: flow_limit.take().unwrap(),
            };
            pool.put(arrival, |seat, inbox| {
                started.borrow_mut().push(inbox);
                assert_eq!(seat + 1, started.borrow().len());
                Ok(())
            })
            .unwrap();
        };
        let take = |seat: usize| {
            started.borrow()[seat].take().map(|arrival| (arrival.number, arrival.flow))
        };
        put(10);
        put(11);
        let (number, _busy) = take(0).unwrap();
        let (other, mut over) = take(1).unwrap();
        assert_eq!((number, other), (10, 11));
        over.closing(&mut Recorder::new(Arc::new(Window::default()), Arc::default(), false));
        put(12);
        assert_eq!(started.borrow().len(), 2, "seat 1 was free");
        assert_eq!(take(1).unwrap().0, 12);
        put(13);
        assert_eq!(started.borrow().len(), 3, "no seat was free");
        pool.close();
        put(14);
        assert_eq!(started.borrow().len(), 3, "a closed pool takes nothing");
        assert_eq!(flow_limit.open(), 1, "only 13 waits: what ended or was not taken has no place");
        assert!(started.borrow().iter().all(|inbox| take_all(inbox) && inbox.closed()));
    }

    fn take_all(inbox: &Inbox<Seated<Nothing>>) -> bool {
        while inbox.take().is_some() {}
        true
    }
}
