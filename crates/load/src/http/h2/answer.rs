//! The answer to a client's request, as far as it is there.

use super::frame::HEAD_BYTES;
use crate::http::grpc::CallProgress;
use crate::http::response::{ResponseEnd, ResponseFlags};

/// An answer.
pub(super) struct AnswerProgress {
    status: u16,
    header_bytes: u64,
    body_bytes: u64,
    flags: ResponseFlags,
    /// What its body's length should be, bytes.
    length: Option<u64>,
    /// Of a call of gRPC.
    call: Option<CallProgress>,
}

/// What a block of fields says.
#[derive(Default)]
pub(super) struct AnswerFields {
    status: u16,
    flags: ResponseFlags,
    length: Option<u64>,
    call_status: Option<u32>,
}

impl AnswerFields {
    /// Looks at a field.
    pub(super) fn see(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b":status" => self.status = number_of(value).unwrap_or(0),
            b"content-length" => self.length = number_of(value),
            b"grpc-status" => self.call_status = number_of(value),
            _ => self.flags.see(name, value),
        }
    }
}

impl AnswerProgress {
    /// Nothing of it is there.
    pub(super) fn new(is_call: bool) -> Self {
        Self {
            status: 0,
            header_bytes: 0,
            body_bytes: 0,
            flags: ResponseFlags::default(),
            length: None,
            call: is_call.then(CallProgress::default),
        }
    }

    /// Whether its head is there, that of an interim answer not among it.
    pub(super) fn has_begun(&self) -> bool {
        self.status > 0
    }

    /// Messages of gRPC that are all there.
    pub(super) fn messages(&self) -> u32 {
        self.call.as_ref().map_or(0, CallProgress::messages)
    }

    /// A part of its body came, in a frame with so many bytes of content.
    pub(super) fn body(&mut self, body: &[u8], content_bytes: usize) {
        self.body_bytes += body.len() as u64;
        self.header_bytes += (HEAD_BYTES + content_bytes - body.len()) as u64;
        if let Some(call) = &mut self.call {
            call.feed(body);
        }
    }

    /// A block of fields came, so many bytes long, with or without the end of the answer.
    ///
    /// # Errors
    /// Why no answer has such a block.
    pub(super) fn fields(
        &mut self,
        fields: &AnswerFields,
        block_bytes: usize,
        ends: bool,
        is_head: bool,
    ) -> Result<(), &'static str> {
        self.header_bytes += (HEAD_BYTES + block_bytes) as u64;
        let status = fields.status;
        if self.status == 0 && status == 0 {
            return Err("an answer without a status");
        }
        if self.status > 0 && !ends {
            return Err("trailers that do not end their answer");
        }
        // Fields of an interim answer say nothing.
        if self.status == 0 && status >= 200 {
            self.status = status;
            self.length = fields.length.filter(|_| !is_head && status != 304);
            // A proxy refuses a call with a status of 200.
            let may_be_refused = status >= 400 || self.call.is_some();
            self.flags = if may_be_refused { fields.flags } else { ResponseFlags::default() };
        }
        if ends && self.status == 0 {
            return Err("an answer that ends before it began");
        }
        if let (Some(call), Some(status), true) = (&mut self.call, fields.call_status, ends) {
            call.ends_with(status);
        }
        Ok(())
    }

    /// The whole of it. `None`: its body is not as long as it says.
    pub(super) fn end(&self) -> Option<ResponseEnd> {
        let is_whole = self.length.is_none_or(|length| length == self.body_bytes);
        is_whole.then(|| ResponseEnd {
            status: self.status,
            close: false,
            header_bytes: self.header_bytes,
            body_bytes: self.body_bytes,
            flags: self.flags,
            call: self.call.as_ref().map(CallProgress::end),
        })
    }
}

/// A number of digits.
fn number_of<N: std::str::FromStr>(digits: &[u8]) -> Option<N> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
