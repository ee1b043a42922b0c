//! The answers to calls of gRPC.

use hopbench_model::Nanos;

use super::decision::{CallAnswer, Content, Decision};
use super::error::RequestError;
use super::request::Request;
use crate::http::grpc::{
    BIDI_STREAM, CLIENT_STREAM, CONTENT_TYPE, DEADLINE_EXCEEDED, EchoRequest, HEALTH, INTERNAL,
    INVALID_ARGUMENT, Messages, RESOURCE_EXHAUSTED, SERVER_STREAM, UNARY, UNIMPLEMENTED,
    first_bytes, is_compressed, messages,
};

/// The answer of the service of health: one message with `SERVING`, and its prefix.
const SERVING: &str = "\0\0\0\0\u{2}\u{8}\u{1}";
const OK: CallAnswer = CallAnswer { status: 0, text: "" };

/// The answer to a call.
pub(super) fn decide(request: &Request) -> Decision<'static> {
    answer(request).unwrap_or_else(|status| ends(status, 0, Content::Absent))
}

/// The answer to a call that is refused for this error; `None`: HTTP has a status for it.
pub(crate) fn refusal(error: &RequestError) -> Option<Decision<'static>> {
    let RequestError::BodyTooLong(_) = error else { return None };
    Some(ends(fails(RESOURCE_EXHAUSTED, "longer than is taken"), 0, Content::Absent))
}

fn ends(call: CallAnswer, delay_ns: Nanos, content: Content<'static>) -> Decision<'static> {
    let content_type = CONTENT_TYPE.as_bytes();
    Decision { delay_ns, content_type, call: Some(call), ..Decision::plain(content) }
}

fn fails(status: u32, text: &'static str) -> CallAnswer {
    CallAnswer { status, text }
}

fn answer(request: &Request) -> Result<Decision<'static>, CallAnswer> {
    if request.left_ns() == Some(0) {
        return Err(fails(DEADLINE_EXCEEDED, "the request took longer than that"));
    }
    let (is_stream, takes_stream) = match request.target() {
        UNARY => (false, false),
        SERVER_STREAM => (true, false),
        CLIENT_STREAM => (false, true),
        // What is left when the client has sent its last message.
        BIDI_STREAM if request.body().is_empty() => return Ok(ends(OK, 0, Content::Absent)),
        BIDI_STREAM => return answer_to_first(request),
        HEALTH => return Ok(ends(OK, 0, Content::Text(SERVING))),
        _ => {
            let text =
                "methods of hopbench.v1.Echo are Unary, ServerStream, ClientStream and BidiStream";
            return Err(fails(UNIMPLEMENTED, text));
        }
    };
    let mut all = whole(request.body())?;
    let first = all.next().ok_or_else(|| fails(INTERNAL, "a call without a message"))?;
    if !takes_stream && all.next().is_some() {
        return Err(fails(INTERNAL, "more than one message"));
    }
    // Of several messages, the first one says what is asked for.
    answer_to(request, first, is_stream)
}

/// The messages of a body.
fn whole(body: &[u8]) -> Result<impl Iterator<Item = &[u8]>, CallAnswer> {
    if is_compressed(body) {
        return Err(fails(UNIMPLEMENTED, "messages must not be compressed"));
    }
    messages(body).ok_or_else(|| fails(INTERNAL, "a message that is cut off"))
}

/// The answer to the first message of several that are answered one by one.
fn answer_to_first(request: &Request) -> Result<Decision<'static>, CallAnswer> {
    let body = request.body();
    let message = &body[..first_bytes(body).unwrap_or(body.len())];
    let first = whole(message)?.next().unwrap_or_default();
    answer_to(request, first, false)
}

/// The answer that a message asks for, with several messages or one.
fn answer_to(
    request: &Request,
    message: &[u8],
    is_stream: bool,
) -> Result<Decision<'static>, CallAnswer> {
    let echo = EchoRequest::read(message).ok_or_else(|| {
        fails(INVALID_ARGUMENT, "no EchoRequest, or one that asks for more than it gets")
    })?;
    let delay_ns = echo.delay_us * 1000;
    if let Some(left_ns) = request.left_ns().filter(|left_ns| *left_ns < delay_ns) {
        let status = fails(DEADLINE_EXCEEDED, "the answer was to wait for longer than that");
        return Ok(ends(status, left_ns, Content::Absent));
    }
    if echo.status > 0 {
        return Ok(ends(fails(echo.status, "as asked for"), delay_ns, Content::Absent));
    }
    let count = if is_stream { echo.count.max(1) } else { 1 };
    let payload_bytes = echo.response_bytes;
    Ok(ends(OK, delay_ns, Content::Messages(Messages { count, payload_bytes })))
}
