//! The queue of flows between the thread that accepts them and the worker that serves them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hopbench_sys::{Socket, Waker};

use crate::admission::flow_limit::FlowGuard;

/// A flow that was accepted and made.
#[derive(Debug)]
pub(crate) struct AcceptedFlow<F> {
    pub(crate) number: u32,
    pub(crate) socket: Arc<Socket>,
    pub(crate) flow: F,
    /// Its place among the open flows.
    pub(crate) flow_guard: FlowGuard,
}

/// A worker's inbox.
#[derive(Debug)]
pub(crate) struct Inbox<F> {
    queue: Mutex<VecDeque<AcceptedFlow<F>>>,
    /// Length of the queue, so that an empty inbox costs a worker one load a turn.
    waiting: AtomicUsize,
    closed: AtomicBool,
    waker: Arc<Waker>,
}

impl<F> Inbox<F> {
    pub(crate) fn new(waker: Arc<Waker>) -> Self {
        Self {
            queue: Mutex::default(),
            waiting: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            waker,
        }
    }

    pub(crate) fn waker(&self) -> Arc<Waker> {
        Arc::clone(&self.waker)
    }

    pub(crate) fn put(&self, arrival: AcceptedFlow<F>) {
        let mut queue = self.queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        queue.push_back(arrival);
        self.waiting.store(queue.len(), Ordering::Release);
        drop(queue);
        self.waker.wake();
    }

    pub(crate) fn take(&self) -> Option<AcceptedFlow<F>> {
        if self.waiting.load(Ordering::Acquire) == 0 {
            return None;
        }
        let mut queue = self.queue.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let item = queue.pop_front();
        self.waiting.store(queue.len(), Ordering::Release);
        item
    }

    /// No more flows will come.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.waker.wake();
    }

    pub(crate) fn closed(&self) -> bool {
        self.closed.load(Ordering::Acquire) && self.waiting.load(Ordering::Acquire) == 0
    }
}
