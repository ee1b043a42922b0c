//! The repeated answer to the registration of a datagram flow.
//!
//! The first answer can be lost. The client then registers again. By now that datagram comes to the
//! flow's own socket, so only the flow can answer it.

use hopbench_model::Nanos;

use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;

/// A registration that may come once more, and what is to be answered then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UdpRegistration {
    /// The client's datagram, to the byte.
    pub request: Box<[u8]>,
    /// The answer, not longer than the request.
    pub answer: Box<[u8]>,
}

/// A server's flow of datagrams that answers its client's registration again until something else
/// comes.
#[derive(Debug)]
pub(crate) struct WithRegistration<F> {
    inner: F,
    registration: Option<UdpRegistration>,
    /// What the flow itself wants to receive, bytes.
    wanted: usize,
    answering: bool,
}

impl<F: Flow> WithRegistration<F> {
    pub(crate) fn new(inner: F, registration: Option<UdpRegistration>) -> Self {
        Self { inner, registration, wanted: 0, answering: false }
    }

    /// The request must fit into what is received, also where the flow expects less.
    #[inline]
    fn widen(&mut self, op: Op) -> Op {
        match (&self.registration, op) {
            (Some(registration), Op::Recv(n)) => {
                self.wanted = n;
                Op::Recv(n.max(registration.request.len() + 1))
            }
            (_, op) => op,
        }
    }
}

impl<F: Flow> Flow for WithRegistration<F> {
    fn start(&mut self, now: Nanos) -> Op {
        let op = self.inner.start(now);
        self.widen(op)
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        let Some(registration) = &self.registration else {
            return self.inner.on(event, now, out);
        };
        let event = match event {
            Event::Received(bytes) if *bytes == *registration.request => {
                self.answering = true;
                return Op::Send;
            }
            // An answer that cannot be sent is as good as one that is lost.
            Event::Sent(_) | Event::Failed(_) if self.answering => {
                self.answering = false;
                return self.widen(Op::Recv(self.wanted));
            }
            // An empty datagram may be the kernel's word that the socket was shut down.
            Event::Received([]) => Event::Received(&[]),
            // The client goes on, so it knows.
            Event::Received(bytes) => {
                self.registration = None;
                Event::Received(&bytes[..bytes.len().min(self.wanted)])
            }
            other => other,
        };
        self.answering = false;
        let op = self.inner.on(event, now, out);
        self.widen(op)
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        match &self.registration {
            Some(registration) if self.answering => &registration.answer,
            _ => self.inner.outgoing(),
        }
    }

    fn is_idle(&self) -> bool {
        self.inner.is_idle()
    }

    fn visited(&mut self, out: &mut Recorder) {
        self.inner.visited(out);
    }

    fn closing(&mut self, out: &mut Recorder) {
        self.inner.closing(out);
    }

    #[inline]
    fn deadline(&self) -> Option<Nanos> {
        self.inner.deadline()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::recorder::Live;
    use crate::measure::window::Window;

    /// Takes datagrams of at most 2 bytes, and says what came.
    struct Ears(Vec<Vec<u8>>);

    impl Flow for Ears {
        fn start(&mut self, _now: Nanos) -> Op {
            Op::Recv(2)
        }

        fn on(&mut self, event: Event<'_>, _now: Nanos, _out: &mut Recorder) -> Op {
            match event {
                Event::Received(bytes) => self.0.push(bytes.to_vec()),
                _ => return Op::End,
            }
            Op::Recv(2)
        }
    }

    #[test]
    fn a_registration_is_answered_again_until_the_client_goes_on() {
        let mut out = Recorder::new(
            std::sync::Arc::new(Window::default()),
            std::sync::Arc::new(Live::default()),
            false,
        );
        let registration =
            UdpRegistration { request: b"HELLO"[..].into(), answer: b"yes"[..].into() };
        let mut flow = WithRegistration::new(Ears(Vec::new()), Some(registration));
        assert!(
            matches!(flow.start(0), Op::Recv(6)),
            "the request fits, and one that is longer shows"
        );
        for _ in 0..2 {
            assert!(matches!(flow.on(Event::Received(b"HELLO"), 0, &mut out), Op::Send));
            assert_eq!(flow.outgoing(), b"yes");
            assert!(matches!(flow.on(Event::Sent(3), 0, &mut out), Op::Recv(6)));
        }
        assert!(flow.inner.0.is_empty(), "no registration is taken for load");
        // What is longer than the flow wants shows as such, and no more of it than the flow asked
        // for.
        assert!(matches!(flow.on(Event::Received(b"HELL"), 0, &mut out), Op::Recv(2)));
        assert!(matches!(flow.on(Event::Received(b"HELLO"), 0, &mut out), Op::Recv(2)));
        assert_eq!(flow.inner.0, [b"HE".to_vec(), b"HELLO".to_vec()]);
        assert!(matches!(flow.on(Event::Closed, 0, &mut out), Op::End));
    }
}
