//! gRPC over HTTP/2 without I/O: messages, statuses, and the service that the target answers.
//!
//! The service is in docs/echo.proto. Its messages have five fields of two kinds, so they are read
//! and written here.

mod call;
pub(crate) mod deadline;
mod echo;
mod messages;
mod status;
mod to_send;

pub use self::call::CallEnd;
pub(crate) use self::call::CallProgress;
pub(crate) use self::echo::{
    BIDI_STREAM, CLIENT_STREAM, EchoRequest, HEALTH, SERVER_STREAM, UNARY,
};
pub(crate) use self::messages::{first_bytes, framed, is_compressed, messages};
pub(crate) use self::status::{
    DEADLINE_EXCEEDED, INTERNAL, INVALID_ARGUMENT, RESOURCE_EXHAUSTED, UNIMPLEMENTED, reason,
};
pub(crate) use self::to_send::{Messages, MessagesToSend};

/// The type of the content of calls and answers, with messages of protobuf.
pub(crate) const CONTENT_TYPE: &str = "application/grpc";

/// Whether a content of this type is of a call whose messages are read here.
pub(crate) fn is_of_call(content_type: &[u8]) -> bool {
    let more = content_type.strip_prefix(CONTENT_TYPE.as_bytes());
    more.is_some_and(|more| {
        more.is_empty()
            || more.starts_with(b";")
            || more.starts_with(b"+proto;")
            || more == b"+proto"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_their_type() {
        for (content_type, expected) in [
            ("application/grpc", true),
            ("application/grpc+proto", true),
            ("application/grpc;charset=utf-8", true),
            ("application/grpc-web", false),
            ("application/grpc+json", false),
            ("application/grpcx", false),
            ("text/plain", false),
        ] {
            assert_eq!(is_of_call(content_type.as_bytes()), expected, "{content_type}");
        }
    }
}
