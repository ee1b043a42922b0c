//! The client's end of a connection: streams, windows, and what both sides say of themselves.
//!
//! It reads bytes and writes bytes, and says what it heard. One value of the caller's goes with
//! each stream.

use std::collections::VecDeque;
use std::sync::Arc;

use super::answer::{AnswerFields, AnswerProgress};
use super::frame::{
    self, ACK, CONTENT_BYTES, END_HEADERS, END_STREAM, FrameHead, FrameKind, HEAD_BYTES,
    MOST_WINDOW_BYTES, PREFACE, Setting, USUAL_CONTENT_BYTES, USUAL_WINDOW_BYTES, code_name,
};
use super::heard::{ConnectionError, Heard};
use super::hpack::{ConstantFields, HpackDecoder, TABLE_BYTES};
use super::outbox::Outbox;
use super::plan::ConnectionPlan;
use super::shown::show;
use crate::http::response::ResponseEnd;

/// Most bytes of the fields of an answer.
const MOST_FIELDS_BYTES: usize = 64 * 1024;
/// Most bytes of a block of fields as it comes.
const MOST_BLOCK_BYTES: usize = 64 * 1024;
/// Bodies are written up to so many bytes ahead of what was sent.
const MOST_AHEAD_BYTES: usize = 64 * 1024;
/// Why an answer whose body is not as long as it says is no answer.
const WRONG_LENGTH: &str = "wrong_length";
/// Why the success of a call whose messages were not all asked for is none.
const ENDED_EARLY: &str = "ended_early";
/// The first number after all that a connection's streams can have.
const LAST_STREAM: u32 = 1 << 31;

/// A connection.
pub struct Connection<T> {
    plan: Arc<ConnectionPlan>,
    decoder: HpackDecoder,
    fields: ConstantFields,
    /// Whether the server's table has the fields by now.
    is_known: bool,
    /// The beginning of a frame.
    input: Vec<u8>,
    out: Outbox,
    /// In the order of their numbers.
    streams: VecDeque<Stream<T>>,
    next: u32,
    peer: Peer,
    /// Bytes of bodies that the server takes now, over all streams.
    send_window: i64,
    /// Bytes that came and that the server was not given back yet.
    received: u32,
    /// A block of fields that is not complete: its stream, and whether the message ends with it.
    block: Option<(u32, bool)>,
    fragments: Vec<u8>,
    is_ready: bool,
    is_leaving: bool,
    heard: VecDeque<Heard<T>>,
}

/// What the server says of itself.
struct Peer {
    streams: usize,
    window_bytes: u32,
    content_bytes: usize,
}

struct Stream<T> {
    number: u32,
    value: T,
    answer: AnswerProgress,
    /// Bytes of the request's body that were not sent yet.
    unsent: usize,
    /// How often the body is sent again.
    turns_left: u32,
    send_window: i64,
    received: u32,
}

impl<T> Stream<T> {
    /// Whether a part of its body is to be sent now; the body again if that was answered.
    fn has_unsent(&mut self, plan: &ConnectionPlan) -> bool {
        let sent = plan.turns.saturating_sub(self.turns_left);
        if self.unsent == 0 && self.turns_left > 0 && self.answer.messages() >= sent {
            self.turns_left -= 1;
            self.unsent = plan.body.len();
        }
        self.unsent > 0
    }
}

impl<T> std::fmt::Debug for Connection<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("streams", &self.streams.len()).finish_non_exhaustive()
    }
}

impl<T> Connection<T> {
    /// A new connection; what it says first stands ready to be sent.
    pub fn new(plan: Arc<ConnectionPlan>) -> Self {
        let mut out = PREFACE.to_vec();
        let settings = [Setting::Push(0), Setting::Window(plan.window_bytes)];
        let shown = plan.credential.iter().flat_map(show);
        frame::write_settings(&settings.into_iter().chain(shown).collect::<Vec<_>>(), &mut out);
        let more = plan.window_bytes.saturating_sub(USUAL_WINDOW_BYTES);
        if more > 0 {
            frame::write(FrameKind::WindowUpdate, 0, 0, &more.to_be_bytes(), &mut out);
        }
        Self {
            decoder: HpackDecoder::new(MOST_FIELDS_BYTES),
            fields: ConstantFields::new(&plan.fields, plan.is_compressed),
            is_known: false,
            input: Vec::new(),
            out: Outbox::new(out),
            streams: VecDeque::new(),
            next: 1,
            peer: Peer {
                streams: usize::MAX,
                window_bytes: USUAL_WINDOW_BYTES,
                content_bytes: USUAL_CONTENT_BYTES,
            },
            send_window: i64::from(USUAL_WINDOW_BYTES),
            received: 0,
            block: None,
            fragments: Vec::new(),
            is_ready: false,
            is_leaving: false,
            heard: VecDeque::new(),
            plan,
        }
    }

    /// Whether the server has said what it takes.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Whether it takes no new streams any more.
    pub fn is_leaving(&self) -> bool {
        self.is_leaving || self.next >= LAST_STREAM
    }

    /// Whether the server takes fewer requests at once than there could be.
    pub fn is_limited(&self) -> bool {
        self.is_ready && self.peer.streams < self.plan.streams
    }

    /// Requests under way.
    pub fn under_way(&self) -> usize {
        self.streams.len()
    }

    /// Requests that can be made now, beside those under way.
    pub fn room(&self) -> usize {
        if self.is_leaving() {
            return 0;
        }
        // Before its settings are there a server may take few.
        let most = if self.is_ready { self.peer.streams } else { 1 };
        self.plan.streams.min(most).saturating_sub(self.streams.len())
    }

    /// Whether another request can be made now.
    pub fn has_room(&self) -> bool {
        self.room() > 0
    }

    /// The request that has been under way for the longest time.
    pub fn oldest(&self) -> Option<&T> {
        self.streams.front().map(|stream| &stream.value)
    }

    /// Makes a request.
    pub fn ask(&mut self, value: T) {
        let number = self.next;
        self.next += 2;
        let block = if self.is_known { &self.fields.next } else { &self.fields.first };
        self.is_known = true;
        let ends = if self.plan.body.is_empty() { END_STREAM } else { 0 };
        // One frame has room for them, or for as much as any server takes.
        let mut chunks = block.chunks(self.peer.content_bytes.max(1)).peekable();
        let mut kind = FrameKind::Headers;
        while let Some(chunk) = chunks.next() {
            let last = if chunks.peek().is_none() { END_HEADERS } else { 0 };
            let flags = if kind == FrameKind::Headers { ends | last } else { last };
            frame::write(kind, flags, number, chunk, self.out.tail());
            kind = FrameKind::Continuation;
        }
        self.streams.push_back(Stream {
            number,
            value,
            answer: AnswerProgress::new(self.plan.is_call),
            unsent: self.plan.body.len(),
            turns_left: self.plan.turns.saturating_sub(1),
            send_window: i64::from(self.peer.window_bytes),
            received: 0,
        });
        self.write_body(self.streams.len() - 1);
    }

    /// Gives up the oldest request.
    pub fn cancel_oldest(&mut self) -> Option<T> {
        let stream = self.streams.pop_front()?;
        let cancel = 8_u32;
        frame::write(FrameKind::Reset, 0, stream.number, &cancel.to_be_bytes(), self.out.tail());
        Some(stream.value)
    }

    /// All requests under way: the connection is over.
    pub fn give_up(&mut self) -> impl Iterator<Item = T> + '_ {
        self.streams.drain(..).map(|stream| stream.value)
    }

    /// The bytes to be sent.
    pub fn outgoing(&self) -> &[u8] {
        self.out.unsent()
    }

    /// So many of them were sent.
    pub fn sent(&mut self, bytes: usize) {
        if self.out.sent(bytes) {
            self.write_bodies();
        }
    }

    /// The next event that was heard, in order.
    pub fn heard(&mut self) -> Option<Heard<T>> {
        self.heard.pop_front()
    }

    /// Reads bytes that came.
    ///
    /// # Errors
    /// The connection cannot go on.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), ConnectionError> {
        if self.input.is_empty() {
            let read = self.read(bytes)?;
            self.input.extend_from_slice(&bytes[read..]);
            return Ok(());
        }
        self.input.extend_from_slice(bytes);
        let mut input = std::mem::take(&mut self.input);
        let read = self.read(&input);
        input.drain(..read.as_ref().copied().unwrap_or(0));
        self.input = input;
        read.map(drop)
    }

    /// Reads whole frames; how many bytes they take.
    fn read(&mut self, bytes: &[u8]) -> Result<usize, ConnectionError> {
        let mut rest = bytes;
        while let Some((head, behind)) = rest.split_first_chunk::<HEAD_BYTES>() {
            let head = FrameHead::read(head);
            if head.length > USUAL_CONTENT_BYTES {
                return Err(ConnectionError::Protocol("a frame is too long"));
            }
            let Some((content, behind)) = behind.split_at_checked(head.length) else { break };
            self.frame(head, content)?;
            rest = behind;
        }
        frame::give_back(0, &mut self.received, self.plan.window_bytes, self.out.tail());
        Ok(bytes.len() - rest.len())
    }

    fn frame(&mut self, head: FrameHead, content: &[u8]) -> Result<(), ConnectionError> {
        let wrong = |why: &'static str| Err(ConnectionError::Protocol(why));
        if self.block.is_some() != (head.kind == FrameKind::Continuation) {
            return wrong("a block of fields that is not complete");
        }
        if !self.is_ready && head.kind != FrameKind::Settings {
            return wrong("it does not begin with its settings");
        }
        match head.kind {
            FrameKind::Data => self.data(head, content),
            FrameKind::Headers => {
                let Some(fields) = head.content(content) else { return wrong("padding") };
                if head.has(END_HEADERS) {
                    return self.fields(head.stream, fields, head.has(END_STREAM), content.len());
                }
                self.block = Some((head.stream, head.has(END_STREAM)));
                self.fragments.clear();
                self.fragments.extend_from_slice(fields);
                Ok(())
            }
            FrameKind::Continuation => {
                let Some((stream, ends)) = self.block.filter(|(stream, _)| *stream == head.stream)
                else {
                    return wrong("fields of another stream");
                };
                self.fragments.extend_from_slice(content);
                if self.fragments.len() > MOST_BLOCK_BYTES {
                    return wrong("the fields of a message are too long");
                }
                if !head.has(END_HEADERS) {
                    return Ok(());
                }
                self.block = None;
                let fragments = std::mem::take(&mut self.fragments);
                let read = self.fields(stream, &fragments, ends, fragments.len());
                self.fragments = fragments;
                read
            }
            FrameKind::Reset => {
                let Some(code) = frame::number(content) else { return wrong("a reset") };
                if let Some(at) = self.place(head.stream) {
                    let stream = self.streams.remove(at);
                    let reset = stream.map(|stream| Heard::Reset(stream.value, code_name(code)));
                    self.heard.extend(reset);
                }
                Ok(())
            }
            FrameKind::Settings => self.settings(head, content),
            FrameKind::Ping if content.len() != 8 => wrong("a ping"),
            FrameKind::Ping => {
                if !head.has(ACK) {
                    frame::write(FrameKind::Ping, ACK, 0, content, self.out.tail());
                }
                Ok(())
            }
            FrameKind::GoAway => {
                let Some(last) = content.get(..4).and_then(frame::number) else {
                    return wrong("a farewell");
                };
                self.is_leaving = true;
                let last = last & MOST_WINDOW_BYTES;
                let from = self.streams.partition_point(|stream| stream.number <= last);
                let refused = self.streams.drain(from..);
                self.heard.extend(refused.map(|stream| Heard::Refused(stream.value)));
                Ok(())
            }
            FrameKind::WindowUpdate => self.window(head.stream, content),
            FrameKind::PushPromise => wrong("it pushes, though it must not"),
            FrameKind::Priority | FrameKind::Other(_) => Ok(()),
        }
    }

    fn place(&self, number: u32) -> Option<usize> {
        self.streams.binary_search_by_key(&number, |stream| stream.number).ok()
    }

    fn data(&mut self, head: FrameHead, content: &[u8]) -> Result<(), ConnectionError> {
        let body = head.content(content).ok_or(ConnectionError::Protocol("padding"))?;
        // Padding counts, too.
        self.received += head.length as u32;
        let Some(at) = self.place(head.stream) else { return Ok(()) };
        let stream = &mut self.streams[at];
        if !stream.answer.has_begun() {
            return Err(ConnectionError::Protocol("a body before its fields"));
        }
        stream.answer.body(body, head.length);
        stream.received += head.length as u32;
        if head.has(END_STREAM) {
            self.complete(at);
            return Ok(());
        }
        let window_bytes = self.plan.window_bytes;
        frame::give_back(stream.number, &mut stream.received, window_bytes, self.out.tail());
        if stream.turns_left > 0 {
            self.write_body(at);
        }
        Ok(())
    }

    fn fields(
        &mut self,
        number: u32,
        block: &[u8],
        ends: bool,
        bytes: usize,
    ) -> Result<(), ConnectionError> {
        let mut fields = AnswerFields::default();
        self.decoder.read(block, |name, value| fields.see(name, value))?;
        let Some(at) = self.place(number) else { return Ok(()) };
        let answer = &mut self.streams[at].answer;
        answer
            .fields(&fields, bytes, ends, self.plan.is_head)
            .map_err(ConnectionError::Protocol)?;
        if ends {
            self.complete(at);
        }
        Ok(())
    }

    fn complete(&mut self, at: usize) {
        let Some(stream) = self.streams.remove(at) else { return };
        if stream.unsent > 0 || stream.turns_left > 0 {
            // The rest of the request is not wanted.
            let cancel = 8_u32.to_be_bytes();
            frame::write(FrameKind::Reset, 0, stream.number, &cancel, self.out.tail());
        }
        let is_early = |end: &ResponseEnd| {
            stream.turns_left > 0 && end.call.is_some_and(|call| call.status == Some(0))
        };
        self.heard.push_back(match stream.answer.end() {
            Some(end) if is_early(&end) => Heard::Reset(stream.value, ENDED_EARLY),
            Some(end) => Heard::Answer(stream.value, end),
            None => Heard::Reset(stream.value, WRONG_LENGTH),
        });
    }

    fn settings(&mut self, head: FrameHead, content: &[u8]) -> Result<(), ConnectionError> {
        if head.has(ACK) {
            return Ok(());
        }
        let all = frame::settings(content).ok_or(ConnectionError::Protocol("settings"))?;
        for setting in all {
            match setting {
                Setting::Streams(most) => self.peer.streams = most as usize,
                Setting::Window(bytes) if bytes > MOST_WINDOW_BYTES => {
                    return Err(ConnectionError::Protocol("a window that is too large"));
                }
                Setting::Window(bytes) => {
                    let more = i64::from(bytes) - i64::from(self.peer.window_bytes);
                    self.peer.window_bytes = bytes;
                    self.streams.iter_mut().for_each(|stream| stream.send_window += more);
                }
                Setting::Content(bytes) if !CONTENT_BYTES.contains(&bytes) => {
                    return Err(ConnectionError::Protocol("a length of frames"));
                }
                Setting::Content(bytes) => self.peer.content_bytes = bytes as usize,
                Setting::TableBytes(bytes) if (bytes as usize) < TABLE_BYTES => {
                    // Its table may not have what we count on: nothing is kept from here on.
                    self.fields = ConstantFields::new(&self.plan.fields, false);
                    let no_table = 0x20;
                    self.fields.first.insert(0, no_table);
                    self.is_known = false;
                }
                _ => {}
            }
        }
        self.is_ready = true;
        frame::write(FrameKind::Settings, ACK, 0, &[], self.out.tail());
        self.write_bodies();
        Ok(())
    }

    fn window(&mut self, stream: u32, content: &[u8]) -> Result<(), ConnectionError> {
        let more = frame::number(content).map(|bytes| i64::from(bytes & MOST_WINDOW_BYTES));
        let more = more.filter(|more| *more > 0);
        let more = more.ok_or(ConnectionError::Protocol("a growth of a window"))?;
        let window = match stream {
            0 => &mut self.send_window,
            // One that is over may still grow.
            number => match self.place(number) {
                Some(at) => &mut self.streams[at].send_window,
                None => return Ok(()),
            },
        };
        *window += more;
        if *window > i64::from(MOST_WINDOW_BYTES) {
            return Err(ConnectionError::Protocol("a window that is too large"));
        }
        self.write_bodies();
        Ok(())
    }

    fn write_bodies(&mut self) {
        let most = if self.plan.body.is_empty() { 0 } else { self.streams.len() };
        for at in 0..most {
            if self.send_window <= 0 || self.out.unsent().len() >= MOST_AHEAD_BYTES {
                return;
            }
            self.write_body(at);
        }
    }

    /// Writes as much of a request's body as the windows allow.
    fn write_body(&mut self, at: usize) {
        let stream = &mut self.streams[at];
        while stream.has_unsent(&self.plan) && self.out.unsent().len() < MOST_AHEAD_BYTES {
            let window = self.send_window.min(stream.send_window).max(0) as usize;
            let part = stream.unsent.min(window).min(self.peer.content_bytes);
            if part == 0 {
                return;
            }
            let from = self.plan.body.len() - stream.unsent;
            stream.unsent -= part;
            self.send_window -= part as i64;
            stream.send_window -= part as i64;
            let is_last = stream.unsent == 0 && stream.turns_left == 0;
            let ends = if is_last { END_STREAM } else { 0 };
            let content = &self.plan.body[from..from + part];
            frame::write(FrameKind::Data, ends, stream.number, content, self.out.tail());
        }
    }
}
