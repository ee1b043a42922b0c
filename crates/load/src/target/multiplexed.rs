//! One connection of the HTTP target over HTTP/2.
//!
//! ```text
//!   Reading ──► (Working) ──► Writing ──► Reading ...
//!      │ until the next delayed answer is due
//!      └── an error ──► Leaving: the peer is told why ──► Draining, as the target of HTTP/1.1 does
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use hopbench_model::{Counter, Nanos};

use super::connection_table::Activity;
use super::flow::{DRAIN_NS, RECEIVE_BYTES, TargetSettings};
use super::timeouts::Pace;
use crate::admission::memory::{MemoryLimit, MemoryShare};
use crate::flow::{Event, Flow, Op};
use crate::http::Responder;
use crate::http::h2::{Farewell, OpenBody, Serving, ServingBounds};
use crate::measure::recorder::Recorder;

/// Answers are written up to so many bytes ahead of what was sent. Strangers get less: what they do
/// not read is held.
const AHEAD_BYTES: usize = 64 * 1024;
const STRANGERS_AHEAD_BYTES: usize = 16 * 1024;
/// Bytes that a connection may hold besides the memory that is bounded.
const FREE_BYTES: usize = 4 * 1024;

/// The state machine of one connection.
pub(super) struct MultiplexedTarget {
    settings: Arc<TargetSettings>,
    activity: Option<Arc<Activity>>,
    share: MemoryShare,
    serving: Serving,
    responder: Responder,
    /// Answers that wait, and calls whose requests are not all there: until when, and their
    /// streams.
    delayed: BinaryHeap<Reverse<(Nanos, u32)>>,
    state: State,
    /// Bytes that came before a request showed what it has to.
    unjudged: u64,
    /// What the peer sends, and what it takes.
    reading: Pace,
    writing: Pace,
    is_writing: bool,
    /// The oldest body that is not all there, as it was last seen.
    body: Option<OpenBody>,
    /// The oldest stream of which the answer to a message is being sent.
    turned: Option<u32>,
    /// When what is under way has to have gone on.
    until: Until,
}

/// Times by which the peer has to have done something, of which those count that it can do.
#[derive(Debug, Default, Clone, Copy)]
struct Until {
    /// Sent the rest of a request.
    read: Nanos,
    /// Taken a part of an answer.
    write: Nanos,
    /// Begun a request, or gone when it was told to go.
    idle: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    Working,
    Writing,
    /// The last bytes are being sent.
    Leaving,
    /// What still comes is dropped, so that they arrive.
    Draining,
}

impl MultiplexedTarget {
    pub(super) fn new(
        settings: Arc<TargetSettings>,
        activity: Option<Arc<Activity>>,
        memory: Option<Arc<MemoryLimit>>,
    ) -> Self {
        Self {
            serving: Serving::new(settings.multiplexed.clone()),
            share: MemoryShare::of(memory).with_free(FREE_BYTES),
            settings,
            activity,
            responder: Responder::default(),
            delayed: BinaryHeap::new(),
            state: State::Reading,
            unjudged: 0,
            reading: Pace::default(),
            writing: Pace::default(),
            is_writing: false,
            body: None,
            turned: None,
            until: Until::default(),
        }
    }

    /// The first bytes of the connection came.
    pub(super) fn begin(&mut self, bytes: &[u8], now: Nanos, out: &mut Recorder) -> Op {
        self.until.read = now + self.settings.timeouts.head_ns;
        self.until.idle = now + self.settings.timeouts.idle_ns;
        self.received(bytes, now, out)
    }

    fn received(&mut self, bytes: &[u8], now: Nanos, out: &mut Recorder) -> Op {
        self.unjudged += bytes.len() as u64;
        let was_inside = self.serving.is_inside();
        let read = self.serving.receive(bytes, now);
        self.delayed.extend(self.serving.take_timed().map(Reverse));
        if self.serving.is_known() {
            out.count(Counter::ReceivedBytes, std::mem::take(&mut self.unjudged));
        }
        if let Err(why) = read {
            return self.leave(why, now, out);
        }
        let moved = self.serving.take_moved();
        self.go_on_reading(was_inside && !moved, now);
        self.work(now).unwrap_or_else(|| self.go_on(now, out))
    }

    /// Decides about the requests that are to be answered; what they cost ahead of their answers.
    fn work(&mut self, now: Nanos) -> Option<Op> {
        let begun = self.decide(now);
        (begun > 0 && self.settings.work_ns > 0).then(|| {
            self.state = State::Working;
            Op::Spin(now + self.settings.work_ns * begun)
        })
    }

    /// Bytes came, of what `was_under_way` or of something else.
    fn go_on_reading(&mut self, was_under_way: bool, now: Nanos) {
        self.watch_body(now);
        if self.body.is_none() && self.serving.is_inside() && !was_under_way {
            self.until.read = now + self.settings.timeouts.head_ns;
        }
    }

    /// Renews the time of the oldest body that is not all there if it went on, or if it is another
    /// one now. What goes on beside it renews nothing.
    fn watch_body(&mut self, now: Nanos) {
        let timeouts = &self.settings.timeouts;
        let body = self.serving.oldest_body();
        let renews = match (body, self.body) {
            (Some(body), Some(old)) if body.is_of(old) => {
                self.reading.moved(body.bytes.saturating_sub(old.bytes), timeouts)
            }
            _ => {
                self.reading.begin();
                body.is_some()
            }
        };
        if renews {
            self.until.read = now + timeouts.body_ns;
        }
        self.body = body;
    }

    /// Whether the oldest body that is not all there is of this stream.
    fn is_oldest(&self, stream: u32) -> bool {
        self.body.is_some_and(|body| body.stream == stream)
    }

    /// Decides when the requests that are due are answered; how many there were.
    fn decide(&mut self, now: Nanos) -> u64 {
        let mut begun = 0;
        while let Some((number, request, is_refused)) = self.serving.next_request(now) {
            begun += u64::from(!request.is_answered());
            let delay_ns =
                if is_refused { 0 } else { self.responder.decide(request, now).delay_ns };
            self.delayed.push(Reverse((now + delay_ns, number)));
        }
        // What is over waits for nothing. A stream that is open has two places at most.
        if self.delayed.len() > 4 * self.settings.multiplexed.most_streams {
            let serving = &self.serving;
            self.delayed.retain(|Reverse((_, number))| serving.has(*number));
        }
        begun
    }

    /// Begins the answers that are due, as far as there is room for them.
    fn answer_due(&mut self, ahead: usize, now: Nanos) {
        while let Some(Reverse((due, number))) = self.delayed.peek().copied()
            && due <= now
            && self.serving.outgoing().len() < ahead
        {
            self.delayed.pop();
            self.serving.answer(number, &mut self.responder, now);
        }
    }

    /// Writes what is due, and what the windows allow of it.
    fn go_on(&mut self, now: Nanos, out: &Recorder) -> Op {
        let is_bounded = self.share.is_bounded();
        let ahead = if is_bounded { STRANGERS_AHEAD_BYTES } else { AHEAD_BYTES };
        // The answer to a message was sent: the client has the next word, or has had it already.
        if let Some(stream) = self.turned.take() {
            if self.is_oldest(stream) {
                self.until.read = now + self.settings.timeouts.body_ns;
            }
            if let Some(op) = self.work(now) {
                return op;
            }
        }
        loop {
            self.answer_due(ahead, now);
            self.serving.write(&self.settings.filler, ahead);
            let Some(stream) = self.serving.take_turned() else { break };
            self.delayed.extend(self.serving.take_timed().map(Reverse));
            self.turned = Some(self.turned.map_or(stream, |first| first.min(stream)));
            // An answer is sent before the work for the next one begins.
            if self.settings.work_ns > 0 || self.serving.outgoing().len() >= ahead {
                break;
            }
            self.decide(now);
        }
        if let Some(stream) = self.turned {
            self.watch_body(now);
            // Until it is sent, the time to take it counts.
            if self.is_oldest(stream) {
                self.until.read = Nanos::MAX;
            }
        }
        let completed = self.serving.take_completed();
        out.count(Counter::Completed, completed);
        if is_bounded {
            if self.serving.open() == 0 && !self.serving.is_inside() {
                self.serving.rest();
                // No stream is open that anything could wait for.
                self.delayed = BinaryHeap::new();
            }
            self.responder.forget_long(FREE_BYTES);
            if !self.share.set(self.held_bytes()) {
                return self.leave(Farewell::EnhanceYourCalm, now, out);
            }
        }
        let sends = !self.serving.outgoing().is_empty();
        let was_writing =
            std::mem::replace(&mut self.is_writing, sends || self.serving.has_answer());
        if self.is_writing && !was_writing {
            self.writing.begin();
            self.until.write = now + self.settings.timeouts.read_ns;
        }
        if completed > 0 {
            self.until.idle = now + self.settings.timeouts.idle_ns;
        }
        if sends {
            self.state = State::Writing;
            return Op::Send;
        }
        self.state = State::Reading;
        Op::Recv(RECEIVE_BYTES)
    }

    /// Until when the peer is waited for.
    fn patience(&self) -> Nanos {
        match self.state {
            State::Leaving => return self.until.write,
            State::Draining => return self.until.idle,
            _ => {}
        }
        let is_inside = self.serving.is_inside();
        let read = if is_inside { self.until.read } else { Nanos::MAX };
        let write = if self.is_writing { self.until.write } else { Nanos::MAX };
        let rests = !is_inside && !self.is_writing && self.serving.open() == 0;
        let idle = if rests { self.until.idle } else { Nanos::MAX };
        read.min(write).min(idle)
    }

    /// Bytes that the peer made it hold.
    fn held_bytes(&self) -> usize {
        self.serving.held_bytes() + self.delayed.capacity() * size_of::<Reverse<(Nanos, u32)>>()
    }

    fn leave(&mut self, why: Farewell, now: Nanos, out: &Recorder) -> Op {
        if self.serving.is_known() {
            out.count(Counter::Errors, 1);
        }
        self.serving.end(why);
        self.delayed = BinaryHeap::new();
        let _ = self.share.set(self.held_bytes());
        self.until.write = now + self.settings.timeouts.read_ns;
        self.state = State::Leaving;
        Op::Send
    }

    fn sent(&mut self, bytes: usize, now: Nanos, out: &Recorder) -> Op {
        if self.serving.is_known() {
            out.count(Counter::SentBytes, bytes as u64);
        }
        self.serving.sent(bytes);
        if self.state == State::Writing && self.writing.moved(bytes, &self.settings.timeouts) {
            self.until.write = now + self.settings.timeouts.read_ns;
        }
        match self.state {
            _ if !self.serving.outgoing().is_empty() => Op::Send,
            State::Leaving => {
                self.state = State::Draining;
                self.until.idle = now + DRAIN_NS;
                Op::FinishSending
            }
            _ => self.go_on(now, out),
        }
    }
}

impl Flow for MultiplexedTarget {
    fn start(&mut self, now: Nanos) -> Op {
        self.until.idle = now + self.settings.timeouts.idle_ns;
        Op::Recv(RECEIVE_BYTES)
    }

    fn on(&mut self, event: Event<'_>, now: Nanos, out: &mut Recorder) -> Op {
        if let Some(activity) = &self.activity
            && matches!(event, Event::Received(_) | Event::Sent(_))
        {
            activity.moved(now);
        }
        match (self.state, event) {
            (State::Reading, Event::Received(bytes)) => self.received(bytes, now, out),
            (State::Working, Event::Timer) => self.go_on(now, out),
            (State::Writing | State::Leaving, Event::Sent(n)) => self.sent(n, now, out),
            // An answer that waited is due.
            (State::Reading, Event::TimedOut) if now < self.patience() => self.go_on(now, out),
            (State::Draining, Event::FinishedSending) => Op::Recv(RECEIVE_BYTES),
            (State::Draining, Event::Received(_)) if now < self.until.idle => {
                Op::Recv(RECEIVE_BYTES)
            }
            // Closed, failed, too slow or over.
            _ => Op::End,
        }
    }

    fn outgoing(&self) -> &[u8] {
        self.serving.outgoing()
    }

    fn closing(&mut self, _out: &mut Recorder) {
        self.serving = Serving::new(ServingBounds::of_strangers(0));
        self.responder = Responder::default();
        self.delayed = BinaryHeap::new();
        self.share = MemoryShare::default();
    }

    fn is_displaced(&self) -> bool {
        self.activity.as_ref().is_some_and(|activity| activity.is_displaced())
    }

    fn deadline(&self) -> Option<Nanos> {
        let patience = self.patience();
        let due = self.delayed.peek().filter(|_| self.state == State::Reading);
        Some(due.map_or(patience, |Reverse((due, _))| patience.min(*due)))
    }
}

#[cfg(test)]
mod tests {
    use hopbench_model::SECOND;

    use super::super::timeouts::Timeouts;
    use super::*;
    use crate::http::grpc::{BIDI_STREAM, EchoRequest, UNARY};
    use crate::http::h2::PREFACE;
    use crate::measure::recorder::Live;
    use crate::measure::window::Window;

    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const WHOLE: u8 = 4;
    const LAST: u8 = 1;

    /// A connection of a stranger, whose time is only told.
    struct Stranger {
        target: MultiplexedTarget,
        out: Recorder,
    }

    fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
        let head = [&(content.len() as u32).to_be_bytes()[1..], &[kind, flags]].concat();
        [&head, &stream.to_be_bytes()[..], content].concat()
    }

    /// The head of a request whose fields stand in no table.
    fn asks(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
        let mut block = Vec::new();
        for (name, value) in [(":method", "POST"), (":scheme", "http")].iter().chain(fields) {
            block.push(0);
            for text in [name, value] {
                block.push(text.len() as u8);
                block.extend_from_slice(text.as_bytes());
            }
        }
        frame(HEADERS, WHOLE | flags, stream, &block)
    }

    impl Stranger {
        fn new() -> Self {
            let settings = TargetSettings {
                filler: vec![b'x'; 8192].into(),
                credential: None,
                timeouts: Timeouts::STRANGERS,
                most_body_bytes: 1 << 20,
                multiplexed: ServingBounds::of_strangers(1 << 20),
                work_ns: 0,
            };
            let mut target = MultiplexedTarget::new(Arc::new(settings), None, None);
            let mut out =
                Recorder::new(Arc::new(Window::default()), Arc::new(Live::default()), false);
            let settings = frame(4, 0, 0, &[]);
            target.start(0);
            target.begin(&[PREFACE, &settings].concat(), 0, &mut out);
            let mut stranger = Self { target, out };
            stranger.take(0);
            stranger
        }

        /// Takes all that is sent.
        fn take(&mut self, now: Nanos) {
            while self.target.state == State::Writing {
                let bytes = self.target.outgoing().len();
                self.target.on(Event::Sent(bytes), now, &mut self.out);
            }
        }

        /// Sends, and takes what comes; whether the connection is still there.
        fn says(&mut self, bytes: &[u8], now: Nanos) -> bool {
            if now >= self.target.patience() {
                return false;
            }
            self.target.on(Event::Received(bytes), now, &mut self.out);
            self.take(now);
            true
        }
    }

    #[test]
    fn what_goes_on_beside_a_body_does_not_renew_its_time() {
        let mut stranger = Stranger::new();
        assert!(stranger.says(&asks(1, 0, &[(":path", "/")]), SECOND));
        let lasts = (1..40).find(|n| {
            let now = SECOND + n * 2 * SECOND;
            let other = asks(1 + 2 * *n as u32, LAST, &[(":path", "/?size=1")]);
            !stranger.says(&[other, frame(DATA, 0, 1, &[0])].concat(), now)
        });
        assert_eq!(lasts, Some(5), "10 s");
    }

    #[test]
    fn a_body_that_keeps_its_pace_lasts() {
        let mut stranger = Stranger::new();
        assert!(stranger.says(&asks(1, 0, &[(":path", "/")]), SECOND));
        let part = frame(DATA, 0, 1, &[0; 8192]);
        assert!((1..20).all(|n| stranger.says(&part, SECOND + n * 4 * SECOND)));
    }

    #[test]
    fn a_call_lasts_as_long_as_its_messages_come() {
        let mut stranger = Stranger::new();
        let fields = [(":path", BIDI_STREAM), ("content-type", "application/grpc")];
        assert!(stranger.says(&asks(1, 0, &fields), SECOND));
        let message = EchoRequest { response_bytes: 100, ..EchoRequest::default() }.message(b"");
        let message = frame(DATA, 0, 1, &message);
        assert!((1..20).all(|n| stranger.says(&message, SECOND + n * 9 * SECOND)));
        assert!(!stranger.says(&message, SECOND + 19 * 9 * SECOND + 11 * SECOND));
    }

    /// Whatever is missing of its request, and whether it comes or not.
    #[test]
    fn a_call_ends_at_its_deadline() {
        let mut stranger = Stranger::new();
        let fields =
            [(":path", UNARY), ("content-type", "application/grpc"), ("grpc-timeout", "50m")];
        let message = EchoRequest::default().message(b"payload");
        let until = SECOND + 50_000_000;
        assert!(stranger.says(&asks(1, 0, &fields), SECOND));
        assert!(stranger.says(&frame(DATA, 0, 1, &message[..3]), until - 1));
        assert_eq!((stranger.target.deadline(), stranger.target.serving.open()), (Some(until), 1));
        stranger.target.on(Event::TimedOut, until, &mut stranger.out);
        assert_eq!((stranger.target.state, stranger.target.serving.open()), (State::Writing, 0));
        stranger.take(until);
        assert!(stranger.says(&frame(DATA, LAST, 1, &message[3..]), until + 1), "nobody waits");
        // All of it comes before the timer goes off.
        let both = [asks(3, 0, &fields), frame(DATA, LAST, 3, &message)].concat();
        assert!(stranger.says(&both, 2 * SECOND));
        assert_eq!(stranger.target.serving.open(), 0);
        let idle = stranger.target.until.idle;
        assert_eq!(stranger.target.deadline(), Some(idle), "an answer leaves no timer");
    }

    /// The time of a call ends while the client does not take the answer to its first message.
    #[test]
    fn a_deadline_counts_when_an_answer_was_taken_late() {
        let mut stranger = Stranger::new();
        let fields =
            [(":path", BIDI_STREAM), ("content-type", "application/grpc"), ("grpc-timeout", "50m")];
        let message = EchoRequest { response_bytes: 100, ..EchoRequest::default() }.message(b"");
        let until = SECOND + 50_000_000;
        // Streams begin with a window of no bytes.
        let shut = frame(4, 0, 0, &[0, 4, 0, 0, 0, 0]);
        let both = [shut, asks(1, 0, &fields), frame(DATA, 0, 1, &message)].concat();
        assert!(stranger.says(&both, SECOND));
        assert_eq!(stranger.target.deadline(), Some(until));
        stranger.target.on(Event::TimedOut, until, &mut stranger.out);
        assert_eq!((stranger.target.state, stranger.target.serving.open()), (State::Reading, 1));
        let opens = frame(8, 0, 1, &1000_u32.to_be_bytes());
        stranger.target.on(Event::Received(&opens), until + 1, &mut stranger.out);
        let sent = stranger.target.outgoing().to_vec();
        let has = |text: &[u8]| sent.windows(text.len()).any(|part| part == text);
        assert!(has(&[b'x'; 90]), "the answer that had begun is whole");
        // `grpc-status` in Huffman's code of HPACK, and 4.
        let status = [0x9a, 0xca, 0xc8, 0xb2, 0x12, 0x34, 0xda, 0x8f, 1, b'4'];
        assert!(has(&status), "{sent:x?}");
        assert_eq!(stranger.target.serving.open(), 0);
    }

    #[test]
    fn what_waits_counts_as_held_and_is_given_back() {
        let mut stranger = Stranger::new();
        stranger.target.share = MemoryShare::of(Some(MemoryLimit::new(1 << 20)));
        let at_rest = stranger.target.held_bytes();
        let fields =
            [(":path", UNARY), ("content-type", "application/grpc"), ("grpc-timeout", "9S")];
        let calls: Vec<u8> = (0..20).flat_map(|n| asks(1 + 2 * n, 0, &fields)).collect();
        assert!(stranger.says(&calls, SECOND));
        assert_eq!(stranger.target.delayed.len(), 20);
        let apart = stranger.target.held_bytes() - stranger.target.serving.held_bytes();
        assert!(apart >= 20 * 16, "{apart}");
        let resets: Vec<u8> =
            (0..20).flat_map(|n| frame(3, 0, 1 + 2 * n, &8_u32.to_be_bytes())).collect();
        assert!(stranger.says(&resets, SECOND + 1));
        assert_eq!(stranger.target.delayed.capacity(), 0);
        assert!(stranger.target.held_bytes() <= at_rest, "{}", stranger.target.held_bytes());
    }

    /// While an answer is sent the client has not the next word.
    #[test]
    fn an_answer_that_is_taken_slowly_is_not_cut_off() {
        let mut stranger = Stranger::new();
        let fields = [(":path", BIDI_STREAM), ("content-type", "application/grpc")];
        let message = EchoRequest { response_bytes: 8000, ..EchoRequest::default() }.message(b"");
        let both = [asks(1, 0, &fields), frame(DATA, 0, 1, &message)].concat();
        stranger.target.on(Event::Received(&both), SECOND, &mut stranger.out);
        assert_eq!(stranger.target.state, State::Writing);
        assert_eq!(stranger.target.patience(), SECOND + Timeouts::STRANGERS.read_ns);
        stranger.take(20 * SECOND);
        assert_eq!(stranger.target.patience(), 30 * SECOND);
    }
}
