//! The server's end of a connection: requests that are complete, and answers within the windows.
//!
//! It reads bytes and writes bytes. What peers may make it hold is bounded: streams, fields,
//! bodies, and what is to be sent.

mod block;
mod request_head;

use std::collections::VecDeque;

use hopbench_model::Nanos;

use self::block::{BlockHead, OpenBlock};
use self::request_head::RequestHead;
pub(crate) use self::request_head::is_of_http_1;
use super::bounds::{Farewell, MOST_FIELDS_BYTES, ServingBounds, Waste};
use super::frame::{
    self, ACK, END_HEADERS, END_STREAM, FrameHead, FrameKind, HEAD_BYTES, MOST_WINDOW_BYTES,
    PREFACE, Setting, USUAL_CONTENT_BYTES, USUAL_WINDOW_BYTES,
};
use super::hpack::HpackDecoder;
use super::outbox::Outbox;
use super::streams::{OpenBody, Stream, Streams, Written};
use crate::http::{Request, RequestError, Responder};

/// A buffer that is beyond this is given back when it is empty, bytes.
const KEPT_BYTES: usize = 4 * 1024;
/// Bytes of a frame with a priority, and of a farewell without a text.
const PRIORITY_BYTES: usize = 5;
const GO_AWAY_BYTES: usize = 8;

/// Code: the server has not begun with the request.
const REFUSED_STREAM: u32 = 7;

/// A connection.
pub struct Serving {
    bounds: ServingBounds,
    most_body_bytes: usize,
    decoder: HpackDecoder,
    has_begun: bool,
    /// The beginning of a frame.
    input: Vec<u8>,
    out: Outbox,
    /// Bytes of the settings that have to come first, until something was sent.
    greeting: usize,
    streams: Streams,
    /// Streams that are to be answered.
    due: VecDeque<u32>,
    /// Bytes of bodies that came and that the client was not given back yet.
    received: u32,
    block: OpenBlock,
    waste: Waste,
    has_moved: bool,
    /// Whether any request showed what it has to.
    is_known: bool,
    completed: u64,
    /// The oldest stream of which a message of several was answered.
    turned: Option<u32>,
}

impl std::fmt::Debug for Serving {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serving").field("streams", &self.streams.len()).finish_non_exhaustive()
    }
}

impl Serving {
    /// A new connection.
    pub fn new(bounds: ServingBounds) -> Self {
        let mut out = Vec::new();
        let mut settings = vec![
            Setting::Streams(bounds.most_streams as u32),
            Setting::Fields(MOST_FIELDS_BYTES as u32),
        ];
        let more = bounds.window_bytes.saturating_sub(USUAL_WINDOW_BYTES);
        if more > 0 {
            settings.push(Setting::Window(bounds.window_bytes));
        }
        frame::write_settings(&settings, &mut out);
        if more > 0 {
            frame::write(FrameKind::WindowUpdate, 0, 0, &more.to_be_bytes(), &mut out);
        }
        Self {
            is_known: bounds.credential.is_none(),
            most_body_bytes: usize::try_from(bounds.most_body_bytes).unwrap_or(usize::MAX),
            bounds,
            decoder: HpackDecoder::new(MOST_FIELDS_BYTES),
            has_begun: false,
            input: Vec::new(),
            greeting: out.len(),
            out: Outbox::new(out),
            streams: Streams::new(),
            due: VecDeque::new(),
            received: 0,
            block: OpenBlock::default(),
            waste: Waste::default(),
            has_moved: false,
            completed: 0,
            turned: None,
        }
    }

    /// Whether nobody says who the peer is. The client of a trial takes back what takes too long.
    fn is_stranger(&self) -> bool {
        self.bounds.credential.is_none() || !self.is_known
    }

    /// Whether a request has shown what it has to.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    /// Bytes that the peer made it hold.
    pub fn held_bytes(&self) -> usize {
        let buffers = self.input.capacity() + self.block.held_bytes() + self.out.held_bytes();
        self.streams.held_bytes() + self.decoder.held_bytes() + buffers
    }

    /// Gives back what is only there to serve the next request sooner.
    pub fn rest(&mut self) {
        if self.out.unsent().is_empty() && self.out.held_bytes() > KEPT_BYTES {
            self.out = Outbox::default();
        }
        self.block.rest();
        self.decoder.rest();
        self.streams.rest();
    }

    /// Streams that are open.
    pub fn open(&self) -> usize {
        self.streams.len()
    }

    /// Whether a frame or a request has begun and is not all there.
    pub fn is_inside(&self) -> bool {
        let in_frame = !self.input.is_empty() || self.block.has_begun() || !self.has_begun;
        in_frame || self.oldest_body().is_some()
    }

    /// The oldest of the bodies that are not all there.
    pub fn oldest_body(&self) -> Option<OpenBody> {
        self.streams.oldest_body()
    }

    /// Whether the peer has to take a part of an answer.
    pub fn has_answer(&self) -> bool {
        self.streams.has_answer()
    }

    /// Whether this stream is still there.
    pub fn has(&self, number: u32) -> bool {
        self.streams.has(number)
    }

    /// Whether a request or an answer went on since this was asked.
    pub fn take_moved(&mut self) -> bool {
        std::mem::take(&mut self.has_moved)
    }

    fn moved(&mut self) {
        self.waste.moved();
        self.has_moved = true;
    }

    /// Answers whose last frame was written since this was asked.
    pub fn take_completed(&mut self) -> u64 {
        std::mem::take(&mut self.completed)
    }

    /// The oldest stream of which a message of several was answered since this was asked.
    pub fn take_turned(&mut self) -> Option<u32> {
        self.turned.take()
    }

    /// The bytes to be sent.
    pub fn outgoing(&self) -> &[u8] {
        self.out.unsent()
    }

    /// So many of them were sent.
    pub fn sent(&mut self, bytes: usize) {
        self.greeting = 0;
        self.out.sent(bytes);
    }

    /// The connection ends: the peer is told why.
    pub fn end(&mut self, why: Farewell) {
        let content = [self.streams.past.last().to_be_bytes(), (why as u32).to_be_bytes()].concat();
        self.streams.clear();
        // Answers that nobody has begun to read are not worth their memory.
        if !self.out.has_begun() {
            self.out = Outbox::new(self.out.unsent()[..self.greeting].to_vec());
        }
        frame::write(FrameKind::GoAway, 0, 0, &content, self.out.tail());
    }

    /// Reads bytes that came now.
    ///
    /// # Errors
    /// The connection has to end.
    pub fn receive(&mut self, bytes: &[u8], now: Nanos) -> Result<(), Farewell> {
        if self.input.is_empty() {
            let read = self.read(bytes, now)?;
            self.input.extend_from_slice(&bytes[read..]);
            return Ok(());
        }
        self.input.extend_from_slice(bytes);
        let mut input = std::mem::take(&mut self.input);
        let read = self.read(&input, now)?;
        input.drain(..read);
        if !input.is_empty() || input.capacity() <= KEPT_BYTES {
            self.input = input;
        }
        Ok(())
    }

    /// Reads whole frames; how many bytes they take.
    fn read(&mut self, bytes: &[u8], now: Nanos) -> Result<usize, Farewell> {
        let mut rest = bytes;
        if !self.has_begun {
            let seen = rest.len().min(PREFACE.len());
            if rest[..seen] != PREFACE[..seen] {
                return Err(Farewell::Protocol);
            }
            if seen < PREFACE.len() {
                return Ok(0);
            }
            self.has_begun = true;
            rest = &rest[seen..];
        }
        while let Some((head, behind)) = rest.split_first_chunk::<HEAD_BYTES>() {
            let head = FrameHead::read(head);
            if head.length > USUAL_CONTENT_BYTES {
                return Err(Farewell::FrameSize);
            }
            let Some((content, behind)) = behind.split_at_checked(head.length) else { break };
            self.frame(head, content, now)?;
            rest = behind;
        }
        frame::give_back(0, &mut self.received, self.bounds.window_bytes, self.out.tail());
        Ok(bytes.len() - rest.len())
    }

    fn frame(&mut self, head: FrameHead, content: &[u8], now: Nanos) -> Result<(), Farewell> {
        let goes_on = head.kind == FrameKind::Continuation;
        if self.block.has_begun() != goes_on || head.is_misplaced() {
            return Err(Farewell::Protocol);
        }
        self.waste.frame();
        if self.waste.is_too_much() && self.is_stranger() {
            return Err(Farewell::EnhanceYourCalm);
        }
        match head.kind {
            FrameKind::Data => self.data(head, content),
            FrameKind::Headers => {
                let fields = head.content(content).ok_or(Farewell::Protocol)?;
                let block = BlockHead::of(head, content);
                if head.has(END_HEADERS) {
                    return self.fields(block, fields, now);
                }
                self.block.begin(block, fields);
                Ok(())
            }
            FrameKind::Continuation => match self.block.add(head, content)? {
                Some((block, fields)) => self.fields(block, &fields, now),
                None => Ok(()),
            },
            FrameKind::Priority if content.len() != PRIORITY_BYTES => {
                self.refuse(head.stream, Farewell::FrameSize)
            }
            FrameKind::Priority if head.is_own_parent(content) => {
                self.refuse(head.stream, Farewell::Protocol)
            }
            FrameKind::Reset => {
                frame::number(content).ok_or(Farewell::FrameSize)?;
                if self.streams.past.is_idle(head.stream) {
                    return Err(Farewell::Protocol);
                }
                self.waste.taken_back(self.streams.close(head.stream));
                if self.waste.is_too_much() && self.is_stranger() {
                    return Err(Farewell::EnhanceYourCalm);
                }
                Ok(())
            }
            FrameKind::Settings => self.settings(head, content),
            FrameKind::Ping if content.len() != 8 => Err(Farewell::FrameSize),
            FrameKind::Ping => {
                if !head.has(ACK) {
                    frame::write(FrameKind::Ping, ACK, 0, content, self.out.tail());
                }
                Ok(())
            }
            FrameKind::WindowUpdate => self.window(head.stream, content),
            FrameKind::PushPromise => Err(Farewell::Protocol),
            FrameKind::GoAway if content.len() < GO_AWAY_BYTES => Err(Farewell::FrameSize),
            FrameKind::GoAway | FrameKind::Priority | FrameKind::Other(_) => Ok(()),
        }
    }

    /// A stream cannot go on; nor can the connection, where no stream has begun that this could be
    /// said of. A peer that makes the server refuse again and again costs as much as one that takes
    /// requests back (CVE-2025-8671).
    fn refuse(&mut self, number: u32, why: Farewell) -> Result<(), Farewell> {
        if self.streams.past.is_idle(number) {
            return Err(why);
        }
        self.streams.reset(number, why as u32, self.out.tail());
        self.waste.refused(self.bounds.window_bytes);
        Ok(())
    }

    fn data(&mut self, head: FrameHead, content: &[u8]) -> Result<(), Farewell> {
        let body = head.content(content).ok_or(Farewell::Protocol)?;
        self.received += head.length as u32;
        // A body that runs ahead of the window was not allowed.
        if self.received > self.bounds.window_bytes {
            return Err(Farewell::FlowControl);
        }
        let Some(stream) = self.streams.get(head.stream) else {
            self.streams.past.late(head.stream)?;
            self.waste.late(body.len() as u32);
            return Ok(());
        };
        stream.received += head.length as u32;
        if stream.is_complete {
            return Err(Farewell::StreamClosed);
        }
        if stream.received > self.bounds.window_bytes {
            return Err(Farewell::FlowControl);
        }
        let ends = head.has(END_STREAM);
        if !stream.takes_body(body.len(), ends) {
            return self.refuse(head.stream, Farewell::Protocol);
        }
        stream.body_bytes += body.len();
        if stream.is_too_long(self.most_body_bytes) {
            let too_long = RequestError::BodyTooLong(self.most_body_bytes as u64);
            stream.refused.get_or_insert(too_long);
        }
        // What is refused is dropped, but not for ever.
        if stream.body_bytes > self.most_body_bytes.saturating_mul(2).max(1 << 20) {
            return Err(Farewell::EnhanceYourCalm);
        }
        if stream.refused.is_none() {
            stream.request.add(body);
        }
        stream.is_complete = ends;
        self.push_due(head.stream);
        self.widen_stream(head.stream);
        if !body.is_empty() {
            self.moved();
        }
        Ok(())
    }

    /// Gives a stream's window back if the client may send more on it. Behind a message that waits
    /// for its answer it may not: that would be held.
    fn widen_stream(&mut self, number: u32) {
        if let Some(stream) = self.streams.get(number)
            && !stream.is_complete
            && !stream.is_waiting()
        {
            let window_bytes = self.bounds.window_bytes;
            frame::give_back(number, &mut stream.received, window_bytes, self.out.tail());
        }
    }

    fn fields(&mut self, block: BlockHead, bytes: &[u8], now: Nanos) -> Result<(), Farewell> {
        let BlockHead { stream: number, ends, is_malformed } = block;
        if number.is_multiple_of(2) {
            return Err(Farewell::Protocol);
        }
        let is_new = number > self.streams.past.last();
        let buffer = self.streams.buffer();
        let mut head =
            if is_new { RequestHead::new(buffer) } else { RequestHead::of_trailers(buffer) };
        let credential = self.bounds.credential.as_ref();
        self.decoder.read(bytes, |name, value| head.see(name, value, credential))?;
        let is_shown = head.is_shown || credential.is_none();
        let is_malformed = is_malformed || head.is_malformed();
        if !is_new {
            self.streams.give_back(head.request);
            return self.trailers(number, ends && !is_malformed);
        }
        self.streams.past.begin(number);
        let has_room = self.streams.len() < self.bounds.most_streams;
        let length = head.length();
        let is_cut_off = ends && length.is_some_and(|length| length > 0);
        if !has_room || is_malformed || is_cut_off {
            self.streams.give_back(head.request);
            if has_room {
                return self.refuse(number, Farewell::Protocol);
            }
            self.streams.reset(number, REFUSED_STREAM, self.out.tail());
            return Ok(());
        }
        self.moved();
        self.is_known |= is_shown;
        self.streams.open(number, head.request, length, ends, is_shown, now);
        self.push_due(number);
        Ok(())
    }

    /// Fields behind the head of a request, which have to end it.
    fn trailers(&mut self, number: u32, end_it: bool) -> Result<(), Farewell> {
        let Some(stream) = self.streams.get(number) else {
            return self.streams.past.late(number);
        };
        if stream.is_complete {
            return Err(Farewell::StreamClosed);
        }
        if !end_it || !stream.takes_body(0, true) {
            return self.refuse(number, Farewell::Protocol);
        }
        stream.is_complete = true;
        self.push_due(number);
        Ok(())
    }

    /// A stream that is to be answered now waits for its turn.
    fn push_due(&mut self, number: u32) {
        if self.streams.get(number).is_some_and(Stream::falls_due) {
            self.due.push_back(number);
        }
    }

    fn settings(&mut self, head: FrameHead, content: &[u8]) -> Result<(), Farewell> {
        if head.has(ACK) {
            return if content.is_empty() { Ok(()) } else { Err(Farewell::FrameSize) };
        }
        self.streams.settings(content)?;
        frame::write(FrameKind::Settings, ACK, 0, &[], self.out.tail());
        Ok(())
    }

    fn window(&mut self, number: u32, content: &[u8]) -> Result<(), Farewell> {
        let more = frame::number(content).ok_or(Farewell::FrameSize)? & MOST_WINDOW_BYTES;
        if more == 0 || (number > 0 && self.streams.past.is_idle(number)) {
            return self.refuse(number, Farewell::Protocol);
        }
        match self.streams.widen(number, more) {
            Some(()) => Ok(()),
            None => self.refuse(number, Farewell::FlowControl),
        }
    }

    /// The next request that is to be answered: its stream, itself, and whether it is refused. It
    /// is complete, or its next message is.
    pub fn next_request(&mut self, now: Nanos) -> Option<(u32, &Request, bool)> {
        let mut due = std::iter::from_fn(|| self.due.pop_front());
        let number = due.find(|number| self.streams.has(*number))?;
        let stream = self.streams.get(number)?;
        stream.decide(now);
        Some((number, &stream.request, stream.refused.is_some()))
    }

    /// New calls with a deadline that are not all there: their ends, and their streams.
    pub fn take_timed(&mut self) -> impl Iterator<Item = (Nanos, u32)> {
        self.streams.take_timed()
    }

    /// Writes the head of the answer to a request that was told of, or whose time is over, if it is
    /// still there; its content follows by [`Serving::write`].
    pub fn answer(&mut self, number: u32, responder: &mut Responder, now: Nanos) {
        let written = self.streams.answer(number, responder, now, self.out.tail());
        self.wrote(written);
    }

    /// Writes as much of the answers as the windows allow, up to so many bytes ahead of what was
    /// sent, and a frame.
    pub fn write(&mut self, filler: &[u8], most_ahead: usize) {
        while self.out.unsent().len() < most_ahead {
            let written = self.streams.write(filler, self.out.tail());
            if written == Written::Nothing {
                break;
            }
            self.wrote(written);
        }
    }

    fn wrote(&mut self, written: Written) {
        match written {
            Written::Last(is_known) => {
                self.completed += u64::from(is_known);
                self.waste.answered(self.bounds.window_bytes);
            }
            Written::Turn(number) => {
                self.turned = Some(self.turned.map_or(number, |first| first.min(number)));
                self.push_due(number);
                self.widen_stream(number);
            }
            Written::Part => {}
            Written::Nothing => return,
        }
        self.moved();
    }
}
