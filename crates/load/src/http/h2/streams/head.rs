//! The heads and trailers of answers.

use super::super::frame::{self, END_HEADERS, END_STREAM, FrameKind};
use super::super::hpack::write_plain;
use crate::http::{CallAnswer, Decision, Request};

/// Appends the head of an answer, which ends with it or not.
pub(super) fn write_head(
    number: u32,
    decision: &Decision<'_>,
    request: &Request,
    ends: bool,
    out: &mut Vec<u8>,
) {
    let mut block = Vec::with_capacity(64);
    write_plain(":status", &decision.status.to_string(), &mut block);
    let length = decision.content.length(request);
    if length.is_some() || decision.call.is_some() {
        let content_type = String::from_utf8_lossy(decision.content_type);
        write_plain("content-type", &content_type, &mut block);
    }
    match (length, decision.call) {
        (_, Some(call)) if ends => write_status(call, &mut block),
        (Some(length), None) => write_plain("content-length", &length.to_string(), &mut block),
        _ => {}
    }
    match decision.status {
        401 => write_plain("www-authenticate", "hopbench", &mut block),
        405 => write_plain("allow", "GET, HEAD, POST, PUT", &mut block),
        _ => {}
    }
    let flags = END_HEADERS | if ends { END_STREAM } else { 0 };
    frame::write(FrameKind::Headers, flags, number, &block, out);
}

/// Appends what ends the answer to a call.
pub(super) fn write_trailers(number: u32, call: CallAnswer, out: &mut Vec<u8>) {
    let mut block = Vec::with_capacity(16);
    write_status(call, &mut block);
    frame::write(FrameKind::Headers, END_HEADERS | END_STREAM, number, &block, out);
}

fn write_status(call: CallAnswer, block: &mut Vec<u8>) {
    write_plain("grpc-status", &call.status.to_string(), block);
    if !call.text.is_empty() {
        write_plain("grpc-message", call.text, block);
    }
}
