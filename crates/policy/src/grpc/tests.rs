use proptest::prelude::*;

use super::*;
use crate::messages::check::RpcStatus;

fn pop_all(frames: &mut Frames) -> Result<Vec<Bytes>, Status> {
    let mut out = Vec::new();
    while let Some(message) = frames.pop()? {
        out.push(message);
    }
    Ok(out)
}

#[test]
fn known_bytes() {
    let message = RpcStatus { code: 7, message: "no".to_owned() };
    assert_eq!(&framed(&message)[..], b"\x00\x00\x00\x00\x06\x08\x07\x12\x02no");
    assert_eq!(&framed(&RpcStatus::default())[..], b"\x00\x00\x00\x00\x00");
}

#[test]
fn messages_come_in_pieces_and_together() {
    let bytes = b"\x00\x00\x00\x00\x02ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01c";
    for cut in 0..=bytes.len() {
        let mut frames = Frames::default();
        frames.push(&bytes[..cut]);
        let mut messages = pop_all(&mut frames).unwrap();
        frames.push(&bytes[cut..]);
        messages.extend(pop_all(&mut frames).unwrap());
        assert_eq!(messages, [&b"ab"[..], b"", b"c"], "cut at {cut}");
        assert_eq!(frames.pending_bytes(), 0);
    }
}

#[test]
fn frames_that_break_the_rules() {
    let code = |bytes: &[u8]| {
        let mut frames = Frames::default();
        frames.push(bytes);
        frames.pop().map_err(|status| status.code)
    };
    assert_eq!(code(b"\x01\x00\x00\x00\x00"), Err(12), "compressed");
    assert_eq!(code(b"\x02\x00\x00\x00\x00"), Err(13));
    assert_eq!(code(b"\x00\xff\xff\xff\xff"), Err(8), "refused before a byte of it is there");
    assert_eq!(code(b"\x00\x00\x40\x00\x01"), Err(8), "4 MiB and 1 byte");
    assert_eq!(code(b"\x00\x00\x40\x00\x00"), Ok(None), "4 MiB");
    assert_eq!(code(b"\x00\x00\x00\x00"), Ok(None));
    assert_eq!(code(b""), Ok(None));
}

#[test]
fn a_status_is_readable_as_headers() {
    let mut headers = HeaderMap::new();
    Status::internal("50 % of ä\n").write(&mut headers);
    assert_eq!(headers["grpc-status"], "13");
    assert_eq!(headers["grpc-message"], "50 ? of ??");
    assert_eq!(well_done()["grpc-status"], "0");
}

#[test]
fn what_calls_itself_grpc() {
    for (kind, expected) in [
        (Some("application/grpc"), true),
        (Some("application/grpc+proto"), true),
        (Some("application/grpc+json"), false),
        (Some("application/grpc-web"), false),
        (None, false),
    ] {
        let mut headers = HeaderMap::new();
        headers.extend(kind.map(|kind| (CONTENT_TYPE, HeaderValue::from_static(kind))));
        assert_eq!(is_marked(&headers), expected, "{kind:?}");
    }
}

proptest! {
    #[test]
    fn any_messages_cut_anywhere_come_out_whole(
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..8),
        size in 1..40_usize,
    ) {
        let mut bytes = Vec::new();
        for message in &messages {
            bytes.push(0);
            bytes.extend_from_slice(&(message.len() as u32).to_be_bytes());
            bytes.extend_from_slice(message);
        }
        let (mut frames, mut out) = (Frames::default(), Vec::new());
        for piece in bytes.chunks(size) {
            frames.push(piece);
            out.extend(pop_all(&mut frames).unwrap());
        }
        prop_assert_eq!(out, messages);
        prop_assert_eq!(frames.pending_bytes(), 0);
    }

    #[test]
    fn garbage_gives_messages_or_a_status(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 0..20),
    ) {
        let pushed: usize = pieces.iter().map(Vec::len).sum();
        let (mut frames, mut taken) = (Frames::default(), 0);
        for piece in &pieces {
            frames.push(piece);
            match pop_all(&mut frames) {
                Ok(messages) => {
                    let each = messages.iter().map(|message| message.len() + PREFIX_BYTES);
                    taken += each.sum::<usize>();
                }
                Err(status) => {
                    prop_assert!([8, 12, 13].contains(&status.code));
                    return Ok(());
                }
            }
        }
        prop_assert_eq!(taken + frames.pending_bytes(), pushed);
    }
}
