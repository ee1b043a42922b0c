//! TLS around a flow: what the flow sends leaves in TLS records, and what it receives came in some.
//!
//! The flow inside knows nothing of it. It hears that its connection stands when the handshake is
//! over. A connection that the flow ends is ended with an alert that says so, as TLS wants it.
//!
//! ```text
//!                   Secured                          engine
//!   Op::Send     ── encrypts ──► records ── Op::Send ──►
//!   Received     ◄─ decrypts ─── records ◄─ Received ───
//! ```

mod anybody;
mod client;
mod error;
mod identity;
mod layer;
mod reach;
mod records;
mod server;
mod session;
mod side;
mod sizes;
#[cfg(test)]
mod tests;

use std::io;

use hopbench_model::{Fault, LatencyKind, Nanos};

pub(crate) use self::client::{TlsClient, TlsClientSettings, TlsClients};
pub(crate) use self::error::reason;
use self::error::{broken, early_end};
pub(crate) use self::identity::Identity;
pub(crate) use self::layer::Layer;
pub(crate) use self::reach::reach;
use self::records::Records;
pub(crate) use self::server::TlsServer;
use self::session::{Session, Turn};
use self::side::Side;
pub(crate) use self::sizes::{MOST_PLAIN, RECEIVE_BYTES, RECORD_BYTES, most_on_wire};
use self::sizes::{common_filler, most_plain_bytes, on_wire, plain_in};
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::Recorder;

/// Figure: handshakes that were completed.
pub(crate) const HANDSHAKES: &str = "tls_handshakes";
/// Figure: those of them that resumed an earlier session.
pub(crate) const RESUMED: &str = "tls_resumed";
/// Figure: connections that the peer closed without saying so first.
pub(crate) const CUT_OFF: &str = "tls_cut_off";
/// All figures of TLS.
pub(crate) const FIGURES: &[&str] = &[HANDSHAKES, RESUMED, CUT_OFF];

/// A flow over TLS; see the [module](self).
pub(crate) struct Secured<F> {
    side: Side,
    /// Bytes of the flow that are encrypted at once, at most.
    most_plain_bytes: usize,
    /// What the kernel sends as one packet, bytes, where the flow asks for it.
    packet_bytes: Option<usize>,
    entry: Entry,
    /// `None` while there is no connection.
    session: Option<Session>,
    records: Records,
    state: State,
    /// Bytes of the flow in the records that are being sent.
    offered: usize,
    /// When the handshake began.
    began: Nanos,
    /// When a handshake on a connection that stood has to be over.
    deadline: Nanos,
    /// The peer closed the connection after it had ended TLS.
    is_closed: bool,
    /// Why the handshake failed, until the peer was told.
    failure: Option<rustls::Error>,
    inner: F,
}

/// How a flow comes to its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// It connects, as often as it wants.
    Connects {
        /// Whether it hears of the end of TLS only when the peer has closed the connection.
        awaits_close: bool,
    },
    /// The connection stands when the flow begins; its handshake may take so long, ns.
    Stands(Nanos),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// There is no connection, or the flow inside waits for something else than bytes.
    Idle,
    Connecting,
    Shaking,
    /// The last records of the handshake are being sent; then the flow inside begins.
    Greeting,
    Sending,
    /// The flow inside wants up to so many bytes.
    Receiving(usize),
    /// The same, unless an exchange is due.
    Awaiting(usize),
    /// It wants up to so many bytes to be dropped.
    Discarding(usize),
    /// It ends what it sends.
    Finishing,
    /// It ends the connection.
    Closing,
    /// It is over.
    Ending,
    /// The peer is told why the handshake failed.
    Refusing,
}

impl<F: Flow> Secured<F> {
    fn new(side: Side, entry: Entry, inner: F) -> Self {
        Self {
            most_plain_bytes: most_plain_bytes(&side),
            packet_bytes: None,
            side,
            entry,
            session: None,
            records: Records::default(),
            state: State::Idle,
            offered: 0,
            began: 0,
            deadline: 0,
            is_closed: false,
            failure: None,
            inner,
        }
    }

    /// The connection stands: the handshake begins.
    fn shake(&mut self, now: Nanos, out: &mut Recorder) -> Op {
        self.began = now;
        self.offered = 0;
        self.records.clear();
        self.records.put_ahead(self.inner.prelude());
        match Session::new(&self.side) {
            Ok(session) => {
                self.session = Some(session);
                self.go_on(now, out)
            }
            Err(error) => self.failed(broken(&error), now, out),
        }
    }

    /// The handshake, as far as it goes with what was received.
    fn go_on(&mut self, now: Nanos, out: &mut Recorder) -> Op {
        let Some(session) = &mut self.session else { return Op::End };
        let turn = session.turn(&mut self.records, None);
        self.state = match turn {
            Ok(Turn::NeedsMore) => State::Shaking,
            // Who says in one breath that it ends has finished the handshake, too.
            Ok(Turn::Open | Turn::Ended) => State::Greeting,
            Err(error) => {
                session.alert(&mut self.records);
                self.failure = Some(error);
                State::Refusing
            }
        };
        if self.records.has_outgoing() { Op::Send } else { self.sent_all(now, out) }
    }

    /// All records that were to be sent are sent.
    fn sent_all(&mut self, now: Nanos, out: &mut Recorder) -> Op {
        match self.state {
            State::Shaking => Op::Recv(RECEIVE_BYTES),
            State::Greeting => self.stands(now, out),
            State::Sending => {
                let sent = std::mem::take(&mut self.offered);
                self.tell(Event::Sent(sent), now, out)
            }
            State::Finishing => Op::FinishSending,
            State::Closing => self.disconnect(),
            State::Ending => {
                self.session = None;
                Op::End
            }
            State::Refusing => {
                let error = self.failure.take();
                let error = error.as_ref().map_or_else(early_end, broken);
                self.failed(error, now, out)
            }
            State::Idle
            | State::Connecting
            | State::Receiving(_)
            | State::Awaiting(_)
            | State::Discarding(_) => {
                unreachable!("nothing is being sent")
            }
        }
    }

    /// The handshake is over.
    fn stands(&mut self, now: Nanos, out: &mut Recorder) -> Op {
        out.latency(LatencyKind::Tls, self.began, now.saturating_sub(self.began));
        out.add_extra(HANDSHAKES, 1.0);
        if self.session.as_ref().is_some_and(Session::is_resumed) {
            out.add_extra(RESUMED, 1.0);
        }
        if let (Side::Client(client), Some(session)) = (&self.side, &self.session) {
            client.note(|| session.agreed());
        }
        // Now it is known what a record has beyond its content.
        if let Some(packet_bytes) = self.packet_bytes {
            self.fit_packets(packet_bytes);
        }
        self.state = State::Idle;
        match self.entry {
            Entry::Connects { .. } => self.tell(Event::Connected, now, out),
            Entry::Stands(_) => {
                if let Some(protocol) = self.session.as_ref().and_then(Session::protocol) {
                    self.inner.agreed_on(protocol);
                }
                let op = self.inner.start(now);
                self.ask(op, now, out)
            }
        }
    }

    /// What a record has beyond its content, bytes.
    fn beyond_bytes(&self) -> usize {
        self.session.as_ref().map_or(session::MOST_BEYOND_BYTES, Session::beyond_bytes)
    }

    /// The flow inside hears of an event, and what it wants then is done.
    fn tell(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        self.state = State::Idle;
        let op = self.inner.on(event, now, out);
        self.ask(op, now, out)
    }

    fn failed(&mut self, error: io::Error, now: Nanos, out: &mut Recorder) -> Op {
        self.session = None;
        match self.side {
            Side::Client(_) => self.tell(Event::Failed(error), now, out),
            // Nobody inside has begun.
            Side::Server(_) => Op::End,
        }
    }

    /// Does what the flow inside wants, as far as no socket is needed.
    fn ask(&mut self, mut op: Op, now: Nanos, out: &mut Recorder) -> Op {
        loop {
            op = match op {
                Op::Connect => {
                    self.state = State::Connecting;
                    return Op::Connect;
                }
                Op::Send => return self.send(None, now, out),
                Op::SendFill(most) => return self.send(Some(most), now, out),
                Op::Recv(most) | Op::Await(most) => {
                    let Some(bytes) = self.records.plain(most) else {
                        let state = match op {
                            Op::Await(_) => State::Awaiting(most),
                            _ => State::Receiving(most),
                        };
                        return self.receive(state, now, out);
                    };
                    let taken = bytes.len();
                    let next = self.inner.on(Event::Received(bytes), now, out);
                    self.records.take(taken);
                    next
                }
                Op::Discard(most) => {
                    let Some(bytes) = self.records.plain(most) else {
                        return self.receive(State::Discarding(most), now, out);
                    };
                    let taken = bytes.len();
                    self.records.take(taken);
                    self.inner.on(Event::Discarded(taken), now, out)
                }
                Op::FinishSending => return self.end(State::Finishing, now, out),
                Op::Disconnect => return self.end(State::Closing, now, out),
                Op::End if self.session.is_some() => return self.end(State::Ending, now, out),
                other => return other,
            }
        }
    }

    /// Encrypts the next bytes of the flow, or filler, and has them sent.
    fn send(&mut self, filler: Option<usize>, now: Nanos, out: &mut Recorder) -> Op {
        // What is encrypted already has to be sent first, whatever came between.
        if self.offered > 0 && self.records.has_outgoing() {
            self.state = State::Sending;
            return Op::Send;
        }
        let bytes = match filler {
            Some(most) => &common_filler()[..most.min(MOST_PLAIN)],
            None => self.inner.outgoing(),
        };
        let bytes = &bytes[..bytes.len().min(self.most_plain_bytes)];
        let Some(session) = &mut self.session else { return self.tell(Event::Closed, now, out) };
        match session.turn(&mut self.records, Some(bytes)) {
            Ok(_) => {
                self.offered = bytes.len();
                self.state = State::Sending;
                Op::Send
            }
            Err(error) => self.tell(Event::Failed(broken(&error)), now, out),
        }
    }

    /// Nothing of the peer is left to be read: more is received, or it has ended.
    fn receive(&mut self, state: State, now: Nanos, out: &mut Recorder) -> Op {
        let awaits_close = self.entry == Entry::Connects { awaits_close: true };
        if self.session.as_ref().is_none_or(|session| session.has_ended() && !awaits_close) {
            return self.tell(Event::Closed, now, out);
        }
        self.state = state;
        let most = match state {
            State::Receiving(most) | State::Awaiting(most) | State::Discarding(most) => most,
            _ => 0,
        };
        // Who answers may wait long for the next request, with many others.
        if matches!(self.side, Side::Server(_)) && most <= RECEIVE_BYTES {
            self.records.rest();
        }
        match state {
            State::Awaiting(_) => Op::Await(RECEIVE_BYTES),
            _ => Op::Recv(on_wire(most, self.beyond_bytes()).max(RECEIVE_BYTES)),
        }
    }

    /// Received records, while the flow inside waits for their content.
    fn received(&mut self, bytes: &[u8], now: Nanos, out: &mut Recorder) -> Op {
        self.records.received(bytes);
        let Some(session) = &mut self.session else { return Op::End };
        if let Err(error) = session.turn(&mut self.records, None) {
            return self.tell(Event::Failed(broken(&error)), now, out);
        }
        let op = match self.state {
            State::Discarding(most) => Op::Discard(most),
            State::Receiving(most) => Op::Recv(most),
            State::Awaiting(most) => Op::Await(most),
            _ => unreachable!("the flow inside waits for bytes"),
        };
        self.ask(op, now, out)
    }

    /// Tells the peer that nothing more comes, unless something before that could not be sent.
    fn end(&mut self, state: State, now: Nanos, out: &mut Recorder) -> Op {
        self.state = state;
        // Where a record of the flow was cut off, nothing can follow it. A peer that closed the
        // connection would answer with a reset.
        if self.offered > 0 || std::mem::take(&mut self.is_closed) {
            return self.sent_all(now, out);
        }
        if let Some(session) = &mut self.session {
            session.finish(&mut self.records);
        }
        if self.records.has_outgoing() { Op::Send } else { self.sent_all(now, out) }
    }

    fn disconnect(&mut self) -> Op {
        self.session = None;
        self.offered = 0;
        self.records = Records::default();
        self.state = State::Idle;
        Op::Disconnect
    }
}

impl<F: Flow> Flow for Secured<F> {
    fn start(&mut self, now: Nanos) -> Op {
        let Entry::Stands(handshake_ns) = self.entry else {
            return match self.inner.start(now) {
                Op::Connect => {
                    self.state = State::Connecting;
                    Op::Connect
                }
                // Without a connection there is nothing to encrypt.
                other => other,
            };
        };
        self.deadline = now.saturating_add(handshake_ns);
        self.began = now;
        let begun = Session::new(&self.side).and_then(|mut session| {
            // A client speaks first.
            session.turn(&mut self.records, None).map(|_| session)
        });
        match (begun, &self.side) {
            (Ok(session), _) => {
                self.session = Some(session);
                self.state = State::Shaking;
                if self.records.has_outgoing() { Op::Send } else { Op::Recv(RECEIVE_BYTES) }
            }
            (Err(error), Side::Client(_)) => {
                Op::Abort(Box::new(Fault::measuring(format!("TLS cannot begin: {error}"))))
            }
            (Err(_), Side::Server(_)) => Op::End,
        }
    }

    #[inline]
    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        match (self.state, event) {
            (
                State::Receiving(_) | State::Awaiting(_) | State::Discarding(_),
                Event::Received(bytes),
            ) => self.received(bytes, now, out),
            (_, Event::Sent(n)) => {
                self.records.sent(n);
                if self.records.has_outgoing() { Op::Send } else { self.sent_all(now, out) }
            }
            (State::Connecting, Event::Connected) => self.shake(now, out),
            // A handshake costs more than to be cut off.
            (State::Shaking, Event::Received(_)) if self.inner.is_displaced() => Op::End,
            (State::Shaking, Event::Received(bytes)) => {
                self.records.received(bytes);
                self.go_on(now, out)
            }
            // Whatever keeps the last alert from being sent: the connection goes all the same.
            (State::Closing, _) => self.disconnect(),
            (State::Ending, _) => Op::End,
            (State::Finishing, Event::FinishedSending) => {
                self.tell(Event::FinishedSending, now, out)
            }
            (State::Shaking | State::Greeting, Event::Closed) => self.failed(early_end(), now, out),
            (State::Refusing, _) => self.sent_all(now, out),
            (State::Shaking | State::Greeting, _) if matches!(self.side, Side::Server(_)) => {
                Op::End
            }
            (State::Receiving(_) | State::Awaiting(_) | State::Discarding(_), Event::Closed) => {
                self.is_closed = self.session.as_ref().is_some_and(Session::has_ended);
                if !self.is_closed {
                    // Without the alert that ends it: a part may be missing.
                    out.add_extra(CUT_OFF, 1.0);
                }
                self.tell(Event::Closed, now, out)
            }
            (_, event) => self.tell(event, now, out),
        }
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        self.records.outgoing()
    }

    fn bulk_bytes(&self) -> Option<usize> {
        self.inner.bulk_bytes()
    }

    /// What is encrypted at once fills a packet.
    fn fit_packets(&mut self, packet_bytes: usize) -> bool {
        self.packet_bytes = Some(packet_bytes);
        let most_bytes = most_plain_bytes(&self.side);
        let plain_bytes = plain_in(packet_bytes, self.beyond_bytes());
        let fits = (1..=most_bytes).contains(&plain_bytes) && self.inner.fit_packets(plain_bytes);
        self.most_plain_bytes = if fits { plain_bytes } else { most_bytes };
        fits
    }

    fn is_idle(&self) -> bool {
        self.inner.is_idle()
    }

    fn visited(&mut self, out: &mut Recorder) {
        self.inner.visited(out);
    }

    fn closing(&mut self, out: &mut Recorder) {
        self.inner.closing(out);
        // The slot keeps the flow until another takes its place.
        self.session = None;
        self.records = Records::default();
    }

    fn is_displaced(&self) -> bool {
        self.inner.is_displaced()
    }

    fn may_read_late(&self) -> bool {
        matches!(self.state, State::Receiving(_)) && self.inner.may_read_late()
    }

    fn room(&self) -> usize {
        self.inner.room()
    }

    fn deadline(&self) -> Option<Nanos> {
        let shakes = matches!(self.state, State::Shaking | State::Greeting | State::Refusing);
        if shakes && matches!(self.entry, Entry::Stands(_)) {
            Some(self.deadline)
        } else {
            self.inner.deadline()
        }
    }
}
