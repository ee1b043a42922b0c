//! The turns of a stream: whose word is next, and how an answer to it begins.

use hopbench_model::Nanos;

use super::super::frame::USUAL_CONTENT_BYTES;
use super::{Answer, Stream};
use crate::http::grpc::MessagesToSend;
use crate::http::{Content, Decision};

impl Stream {
    /// Takes note of so many bytes of the body, its end or not. Whether that agrees with the length
    /// that the head said.
    pub(in crate::http::h2) fn takes_body(&mut self, bytes: usize, ends: bool) -> bool {
        let Some(left) = &mut self.left else { return true };
        let rest = left.checked_sub(bytes as u64).filter(|rest| *rest == 0 || !ends);
        *left = rest.unwrap_or(0);
        rest.is_some()
    }

    /// Whether it is to be answered now, and was not before. From here on it waits for that.
    pub(in crate::http::h2) fn falls_due(&mut self) -> bool {
        let Some(turns) = &mut self.turns else { return self.is_complete };
        let is_refused = self.refused.is_some();
        let has_turn = self.is_complete || is_refused || self.request.has_message();
        let is_due = !turns.is_waiting && has_turn;
        turns.is_waiting |= is_due;
        is_due
    }

    /// When and how it is answered is decided now.
    pub(in crate::http::h2) fn decide(&mut self, now: Nanos) {
        self.is_decided = true;
        self.request.set_left_ns(self.until.map(|until| until.saturating_sub(now)));
    }

    /// Whether it is answered now: as it was decided, or because its time is over before all of the
    /// request is there. An answer that has begun goes on to its end.
    pub(super) fn takes_answer(&mut self, now: Nanos) -> bool {
        let is_over = self.until.is_some_and(|until| until <= now);
        if !self.is_decided && is_over {
            self.decide(now);
        }
        let takes = self.is_decided && self.answer.is_none();
        if let Some(turns) = &mut self.turns {
            turns.is_over |= is_over && !takes;
        }
        takes
    }

    /// Until when its call could last, if its time was over while an answer was being sent. Whoever
    /// waited for that time does so no more.
    pub(super) fn take_missed(&mut self) -> Option<(Nanos, u32)> {
        let was_over = std::mem::take(&mut self.turns.as_mut()?.is_over);
        self.until.filter(|_| was_over).map(|until| (until, self.number))
    }

    /// Whether its body, or a message of several, is longer than this. The frame in which a message
    /// ends may have a part of the next one, and what is behind one that waits is the next one's.
    pub(in crate::http::h2) fn is_too_long(&self, most_bytes: usize) -> bool {
        match self.turns {
            None => self.body_bytes > most_bytes,
            Some(turns) => {
                !turns.is_waiting
                    && self.body_bytes > most_bytes.saturating_add(USUAL_CONTENT_BYTES)
            }
        }
    }

    /// Whether one of its messages, or its end, waits for an answer.
    pub(in crate::http::h2) fn is_waiting(&self) -> bool {
        self.turns.is_some_and(|turns| turns.is_waiting)
    }

    /// Whether the client has sent its last message and all of them have an answer.
    pub(super) fn has_all_answered(&self) -> bool {
        self.is_complete && self.refused.is_none() && self.request.body().is_empty()
    }

    /// An answer is written. Whether more of them follow on this stream.
    pub(super) fn begins_next_turn(&mut self) -> bool {
        // Without a status it is no answer to a message.
        let is_over = self.has_all_answered() || self.call.is_none();
        let Some(turns) = self.turns.as_mut().filter(|_| !is_over) else { return false };
        turns.is_waiting = false;
        (self.answer, self.call, self.is_decided) = (None, None, false);
        true
    }

    /// The content of its answer, if there is any.
    pub(super) fn content(&self, decision: &Decision<'_>) -> Option<Answer> {
        let content = decision.content;
        if self.request.is_head() || content.length(&self.request) == Some(0) {
            return None;
        }
        Some(match content {
            Content::Absent => return None,
            Content::Text(text) => Answer::Text(text.as_bytes().into(), 0),
            Content::Filler(length) => Answer::Filler(length),
            Content::Echo => Answer::Echo(0),
            Content::Messages(messages) => Answer::Messages(MessagesToSend::of(messages)?),
        })
    }
}
