//! Whether HTTP requests on the port are answered, and by whom.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hopbench_load::TargetAcceptor;
use hopbench_sys::Socket;

/// Those who answer HTTP on the port. While there is none, HTTP connections are closed without a word.
#[derive(Default)]
pub(crate) struct Gate {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: u64,
    /// In the order in which they came.
    answering: Vec<(u64, TargetAcceptor)>,
}

/// Keeps the gate open for one of them; dropping it ends that.
pub(crate) struct Pass {
    gate: Arc<Gate>,
    number: u64,
}

impl Gate {
    /// New connections go to `acceptor`, until somebody opens the gate after it, and again when that one is gone.
    pub(crate) fn open(self: &Arc<Self>, acceptor: TargetAcceptor) -> Pass {
        let mut open = self.lock();
        let number = open.next;
        open.next += 1;
        open.answering.push((number, acceptor));
        Pass { gate: Arc::clone(self), number }
    }

    /// Hands a connection to who answers; it is closed where nobody does.
    pub(crate) fn enter(&self, socket: Socket) {
        let last = self.lock().answering.last().map(|(_, acceptor)| Arc::clone(acceptor));
        if let Some(acceptor) = last {
            acceptor(socket);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        // Both fields are right after every statement.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.gate.lock().answering.retain(|(number, _)| *number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn counting() -> (TargetAcceptor, Arc<AtomicU32>) {
        let count = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&count);
        (Arc::new(move |_| _ = counted.fetch_add(1, Ordering::Relaxed)), count)
    }

    #[test]
    fn the_last_to_open_answers_and_closed_is_closed() {
        let gate = Arc::new(Gate::default());
        let knock = || gate.enter(Socket::tcp("127.0.0.1:1".parse().unwrap()).unwrap());
        let ((first, a), (second, b)) = (counting(), counting());
        let seen = || (a.load(Ordering::Relaxed), b.load(Ordering::Relaxed));
        knock();
        let one = gate.open(first);
        knock();
        assert_eq!(seen(), (1, 0), "before it was open nobody answered");
        let two = gate.open(second);
        knock();
        assert_eq!(seen(), (1, 1));
        drop(two);
        knock();
        assert_eq!(seen(), (2, 1));
        drop(one);
        knock();
        assert_eq!(seen(), (2, 1));
    }
}
