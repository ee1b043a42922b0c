//! The streams of a server's connection: their requests, and their answers within the windows.

mod head;
mod past;
mod turns;

use hopbench_model::Nanos;

use self::head::{write_head, write_trailers};
use self::past::Past;
use super::bounds::Farewell;
use super::frame::{
    self, CONTENT_BYTES, END_STREAM, FrameKind, MOST_WINDOW_BYTES, Setting, USUAL_CONTENT_BYTES,
    USUAL_WINDOW_BYTES,
};
use crate::http::grpc::MessagesToSend;
use crate::http::{CallAnswer, Decision, Request, RequestError, Responder, call_refusal};

/// Buffers that are kept for requests to come, at most.
const MOST_SPARE: usize = 128;

/// The streams that are open.
pub(super) struct Streams {
    /// In the order of their numbers.
    list: Vec<Stream>,
    /// Those that are over, too.
    pub(super) past: Past,
    /// Buffers that served a request.
    spare: Vec<Request>,
    /// Calls with a deadline that somebody has to wait for: until when they may last, and their
    /// streams.
    timed: Vec<(Nanos, u32)>,
    next_turn: usize,
    /// The window of the connection.
    window: i64,
    /// The window that streams begin with, bytes.
    first_window: u32,
    /// The longest content of a frame, bytes.
    most_content: usize,
}

pub(super) struct Stream {
    number: u32,
    pub(super) request: Request,
    /// Whether it shows what it has to.
    is_known: bool,
    /// Whether all of the request is there.
    pub(super) is_complete: bool,
    pub(super) refused: Option<RequestError>,
    /// `None`: it has not begun.
    answer: Option<Answer>,
    /// How the call of gRPC ends that is being answered.
    call: Option<CallAnswer>,
    /// Until when the call may last; `None`: as long as it takes.
    until: Option<Nanos>,
    /// Whether it was decided when, and how, the request is answered.
    is_decided: bool,
    window: i64,
    /// Bytes that came and that the client was not given back yet.
    pub(super) received: u32,
    /// Bytes of the body, those that were dropped among them.
    pub(super) body_bytes: usize,
    /// Bytes of the body that are to come; `None`: the head did not say.
    left: Option<u64>,
    /// Where each message of the request has an answer of its own.
    turns: Option<Turns>,
}

/// A request whose body is not all there, where the client has the next word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenBody {
    /// Its stream.
    pub stream: u32,
    /// Messages of it that have an answer.
    pub answered: u32,
    /// Bytes that came, of messages without an answer.
    pub bytes: usize,
}

impl OpenBody {
    /// Whether it is the same one as before, of which more may have come.
    pub fn is_of(self, old: Self) -> bool {
        (self.stream, self.answered) == (old.stream, old.answered)
    }
}

/// The turns of a call whose messages are answered one by one.
#[derive(Debug, Clone, Copy, Default)]
struct Turns {
    /// A message, or the end of the request, waits for its answer.
    is_waiting: bool,
    /// Messages that have an answer; with the first one goes the head.
    answered: u32,
    /// The call's time was over while an answer was being sent.
    is_over: bool,
}

/// What is left of an answer's content.
enum Answer {
    Filler(u64),
    /// From this byte of the request's body on.
    Echo(usize),
    /// From this byte of the text on.
    Text(Box<[u8]>, usize),
    Messages(MessagesToSend),
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Nothing,
    Part,
    /// The answer to one of several messages, of this stream.
    Turn(u32),
    /// The last of an answer; whether its request had shown what it has to.
    Last(bool),
}

impl Streams {
    pub(super) fn new() -> Self {
        Self {
            list: Vec::new(),
            past: Past::default(),
            spare: Vec::new(),
            timed: Vec::new(),
            next_turn: 0,
            window: i64::from(USUAL_WINDOW_BYTES),
            first_window: USUAL_WINDOW_BYTES,
            most_content: USUAL_CONTENT_BYTES,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The oldest of the requests that are not all there.
    pub(super) fn oldest_body(&self) -> Option<OpenBody> {
        let stream = self.list.iter().find(|stream| !stream.is_complete && !stream.is_waiting())?;
        let answered = stream.turns.map_or(0, |turns| turns.answered);
        Some(OpenBody { stream: stream.number, answered, bytes: stream.body_bytes })
    }

    /// Bytes that requests hold.
    pub(super) fn held_bytes(&self) -> usize {
        let open = self.list.iter().map(|stream| stream.request.held_bytes());
        let requests: usize = open.chain(self.spare.iter().map(Request::held_bytes)).sum();
        requests + self.timed.capacity() * size_of::<(Nanos, u32)>()
    }

    /// Whether the peer has to take a part of an answer.
    pub(super) fn has_answer(&self) -> bool {
        self.list.iter().any(|stream| stream.answer.is_some())
    }

    pub(super) fn has(&self, number: u32) -> bool {
        self.place(number).is_some()
    }

    pub(super) fn get(&mut self, number: u32) -> Option<&mut Stream> {
        let at = self.place(number)?;
        Some(&mut self.list[at])
    }

    fn place(&self, number: u32) -> Option<usize> {
        self.list.binary_search_by_key(&number, |stream| stream.number).ok()
    }

    /// A buffer for a request.
    pub(super) fn buffer(&mut self) -> Request {
        self.spare.pop().unwrap_or_else(Request::multiplexed)
    }

    /// Takes a buffer back.
    pub(super) fn give_back(&mut self, mut request: Request) {
        request.clear();
        if self.spare.len() < MOST_SPARE {
            self.spare.push(request);
        }
    }

    /// Opens a stream, whose number is above all others. Its request began now, and says how long
    /// its body is, if it does, bytes.
    pub(super) fn open(
        &mut self,
        number: u32,
        request: Request,
        length: Option<u64>,
        is_complete: bool,
        is_known: bool,
        now: Nanos,
    ) {
        let left_ns = request.left_ns().filter(|_| is_known && request.is_call());
        let until = left_ns.map(|left_ns| now.saturating_add(left_ns));
        self.timed.extend(until.filter(|_| !is_complete).map(|until| (until, number)));
        self.list.push(Stream {
            turns: (is_known && request.is_bidirectional()).then(Turns::default),
            number,
            request,
            is_known,
            is_complete,
            refused: (!is_known).then_some(RequestError::Unauthorized),
            answer: None,
            call: None,
            until,
            is_decided: false,
            window: i64::from(self.first_window),
            received: 0,
            body_bytes: 0,
            left: length,
        });
    }

    /// Calls with a deadline whose requests are not all there, and that have begun since this was
    /// asked, or were over while an answer was sent: until when they may last, and their streams.
    pub(super) fn take_timed(&mut self) -> impl Iterator<Item = (Nanos, u32)> {
        let list = &self.list;
        self.timed.drain(..).filter(move |(_, number)| {
            let at = list.binary_search_by_key(number, |stream| stream.number);
            at.is_ok_and(|at| !list[at].is_complete)
        })
    }

    /// Forgets a stream, if it is there; whether that takes back what was to be answered.
    pub(super) fn close(&mut self, number: u32) -> bool {
        let Some(at) = self.place(number) else { return false };
        let stream = &self.list[at];
        let owes = stream.turns.is_none_or(|turns| turns.is_waiting || turns.answered == 0);
        self.remove(at);
        owes
    }

    /// Ends a stream with this code, whether it is there or not.
    pub(super) fn reset(&mut self, number: u32, code: u32, out: &mut Vec<u8>) {
        if let Some(at) = self.place(number) {
            self.remove(at);
        }
        self.past.cut(number);
        frame::write(FrameKind::Reset, 0, number, &code.to_be_bytes(), out);
    }

    /// Gives the buffers back that serve no request.
    pub(super) fn rest(&mut self) {
        self.spare = Vec::new();
        self.timed = Vec::new();
    }

    /// Forgets all of them, and their buffers.
    pub(super) fn clear(&mut self) {
        (self.list, self.spare, self.timed) = (Vec::new(), Vec::new(), Vec::new());
    }

    fn remove(&mut self, at: usize) {
        let stream = self.list.remove(at);
        self.give_back(stream.request);
    }

    /// Takes what the peer says of itself.
    ///
    /// # Errors
    /// The connection has to end.
    pub(super) fn settings(&mut self, content: &[u8]) -> Result<(), Farewell> {
        for setting in frame::settings(content).ok_or(Farewell::FrameSize)? {
            match setting {
                Setting::Push(value) if value > 1 => return Err(Farewell::Protocol),
                Setting::Window(bytes) if bytes > MOST_WINDOW_BYTES => {
                    return Err(Farewell::FlowControl);
                }
                Setting::Window(bytes) => self.begin_with(bytes).ok_or(Farewell::FlowControl)?,
                Setting::Content(bytes) if !CONTENT_BYTES.contains(&bytes) => {
                    return Err(Farewell::Protocol);
                }
                Setting::Content(bytes) => {
                    self.most_content = (bytes as usize).min(USUAL_CONTENT_BYTES);
                }
                // Nothing is kept in its table.
                _ => {}
            }
        }
        Ok(())
    }

    /// The peer takes so many bytes more on a stream that is or was there, or on the connection.
    /// `None`: the window is too large then.
    pub(super) fn widen(&mut self, number: u32, more: u32) -> Option<()> {
        let window = match self.place(number) {
            _ if number == 0 => &mut self.window,
            Some(at) => &mut self.list[at].window,
            None => return Some(()),
        };
        widen(window, i64::from(more))
    }

    /// Streams begin with this window from now on, and those that are open get the difference.
    /// `None`: a window is too large then.
    fn begin_with(&mut self, bytes: u32) -> Option<()> {
        let more = i64::from(bytes) - i64::from(self.first_window);
        self.first_window = bytes;
        self.list.iter_mut().try_for_each(|stream| widen(&mut stream.window, more))
    }

    /// Writes the head of an answer that is due; its content follows by [`Streams::write`].
    pub(super) fn answer(
        &mut self,
        number: u32,
        responder: &mut Responder,
        now: Nanos,
        out: &mut Vec<u8>,
    ) -> Written {
        let at = self.place(number).filter(|at| self.list[*at].takes_answer(now));
        let Some(at) = at else { return Written::Nothing };
        let stream = &self.list[at];
        let text = stream.refused.as_ref().map(|error| format!("{error}\n"));
        let decision = match (&stream.refused, &text) {
            (Some(error), Some(text)) => {
                let of_call = call_refusal(error).filter(|_| stream.request.is_call());
                of_call.unwrap_or_else(|| Decision::text(error.status(), text))
            }
            _ => responder.decide(&stream.request, now),
        };
        let answer = stream.content(&decision);
        let call = decision.call;
        match (stream.turns, call) {
            (Some(turns), Some(call)) if turns.answered > 0 && answer.is_none() => {
                write_trailers(number, call, out);
            }
            (Some(turns), _) if turns.answered > 0 => {}
            _ => write_head(number, &decision, &stream.request, answer.is_none(), out),
        }
        if answer.is_none() {
            if !stream.is_complete {
                // The rest of the request is not wanted, and that is no error.
                frame::write(FrameKind::Reset, 0, number, &0_u32.to_be_bytes(), out);
            }
            return self.answered(at);
        }
        let stream = &mut self.list[at];
        if let Some(turns) = &mut stream.turns {
            turns.answered = turns.answered.saturating_add(1);
            let answered = stream.request.drop_message();
            stream.body_bytes = stream.body_bytes.saturating_sub(answered);
        } else if !matches!(answer, Some(Answer::Echo(_))) {
            stream.request.drop_body();
        }
        (stream.answer, stream.call) = (answer, call);
        Written::Part
    }

    fn answered(&mut self, at: usize) -> Written {
        let stream = &self.list[at];
        let is_known = stream.is_known;
        if !stream.is_complete {
            self.past.cut(stream.number);
        }
        self.remove(at);
        Written::Last(is_known)
    }

    /// Writes a frame of an answer, as far as the windows allow. One stream does not keep the
    /// others waiting.
    pub(super) fn write(&mut self, filler: &[u8], out: &mut Vec<u8>) -> Written {
        if self.window <= 0 {
            return Written::Nothing;
        }
        let begin = self.next_turn;
        for step in 0..self.list.len() {
            let at = (begin + step) % self.list.len();
            let Some(is_last) = self.write_part(at, filler, out) else { continue };
            let goes_on = is_last && self.list[at].begins_next_turn();
            if goes_on {
                self.timed.extend(self.list[at].take_missed());
            }
            // The one behind it takes its place.
            self.next_turn = if is_last && !goes_on { at } else { at + 1 };
            return match is_last {
                true if goes_on => Written::Turn(self.list[at].number),
                true => self.answered(at),
                false => Written::Part,
            };
        }
        Written::Nothing
    }

    /// Writes a frame of one stream; whether it is the last of an answer, if there was one.
    fn write_part(&mut self, at: usize, filler: &[u8], out: &mut Vec<u8>) -> Option<bool> {
        let stream = &mut self.list[at];
        let window = self.window.min(stream.window).max(0) as usize;
        let most = window.min(self.most_content);
        let is_over = stream.turns.is_none() || stream.has_all_answered();
        let has_trailers = stream.call.is_some();
        let answer = stream.answer.as_mut().filter(|_| most > 0)?;
        let (mut length, mut is_last) = (0, false);
        frame::write_with(FrameKind::Data, stream.number, out, |out| {
            (length, is_last) = match answer {
                Answer::Filler(left) => {
                    let part =
                        most.min(filler.len()).min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= part as u64;
                    out.extend_from_slice(&filler[..part]);
                    (part, *left == 0)
                }
                Answer::Echo(from) => part(stream.request.body(), from, most, out),
                Answer::Text(text, from) => part(text, from, most, out),
                Answer::Messages(messages) => messages.write(most, filler, out),
            };
            if is_last && !has_trailers { END_STREAM } else { 0 }
        });
        self.window -= length as i64;
        stream.window -= length as i64;
        if let Some(call) = stream.call.filter(|_| is_last && is_over) {
            write_trailers(stream.number, call, out);
        }
        Some(is_last)
    }
}

/// Adds to a window; `None`: it is too large then.
fn widen(window: &mut i64, more: i64) -> Option<()> {
    *window += more;
    (*window <= i64::from(MOST_WINDOW_BYTES)).then_some(())
}

/// Appends the next part of a content; how long it is, and whether it is the last.
fn part(bytes: &[u8], from: &mut usize, most: usize, out: &mut Vec<u8>) -> (usize, bool) {
    let to = (*from + most).min(bytes.len());
    out.extend_from_slice(&bytes[*from..to]);
    let length = to - *from;
    *from = to;
    (length, to == bytes.len())
}
