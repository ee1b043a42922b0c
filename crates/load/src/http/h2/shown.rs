//! The credential that the beginning of a connection shows: by it the port knows the trial.
//!
//! Our clients show it among their settings, before any request. A proxy has settings of its own,
//! and its first request shows it.

use super::bounds::MOST_FIELDS_BYTES;
use super::frame::{
    self, END_HEADERS, FrameHead, FrameKind, HEAD_BYTES, PREFACE, Setting, USUAL_CONTENT_BYTES,
};
use super::hpack::HpackDecoder;
use crate::http::credential::{CREDENTIAL_FIELD, Credential};

/// The longest settings that are looked at, bytes.
const MOST_SETTINGS_BYTES: usize = 1024;

/// What the first bytes of a connection say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The settings go on, or the fields of the first request do.
    More,
    /// The settings are there and show none. The first request may show one, and it may come only
    /// after the server's settings.
    Begun,
    /// They are there, with the credential that they show, if any.
    Credential(Option<Vec<u8>>),
    /// It does not begin as a client's connection does, or with more settings than are looked at.
    Wrong,
}

/// The settings that show a credential: its text, with zeros at its end.
pub(super) fn show(credential: &Credential) -> impl Iterator<Item = Setting> + '_ {
    credential.text().as_bytes().chunks(4).map(|chunk| {
        let mut bytes = [0; 4];
        bytes[..chunk.len()].copy_from_slice(chunk);
        Setting::Credential(bytes)
    })
}

/// Looks at the first bytes of a connection.
pub(crate) fn shown(bytes: &[u8]) -> Shown {
    let seen = bytes.len().min(PREFACE.len());
    if bytes[..seen] != PREFACE[..seen] {
        return Shown::Wrong;
    }
    let Some((head, behind)) = bytes[seen..].split_first_chunk::<HEAD_BYTES>() else {
        return Shown::More;
    };
    let head = FrameHead::read(head);
    if head.kind != FrameKind::Settings || head.length > MOST_SETTINGS_BYTES {
        return Shown::Wrong;
    }
    let Some(content) = behind.get(..head.length) else { return Shown::More };
    let Some(settings) = frame::settings(content) else { return Shown::Wrong };
    let mut text: Vec<u8> = settings
        .flat_map(|setting| match setting {
            Setting::Credential(bytes) => bytes.to_vec(),
            _ => Vec::new(),
        })
        .collect();
    while text.last() == Some(&0) {
        text.pop();
    }
    if !text.is_empty() {
        return Shown::Credential(Some(text));
    }
    of_first_request(&behind[head.length..])
}

/// Looks for the fields of the first request.
fn of_first_request(mut bytes: &[u8]) -> Shown {
    while let Some((head, behind)) = bytes.split_first_chunk::<HEAD_BYTES>() {
        let head = FrameHead::read(head);
        if head.length > USUAL_CONTENT_BYTES {
            return Shown::Wrong;
        }
        let content = behind.get(..head.length);
        match (head.kind, content) {
            (FrameKind::Headers, None) => return Shown::More,
            (FrameKind::Headers, Some(content)) => {
                let whole = head.content(content).filter(|_| head.has(END_HEADERS));
                return Shown::Credential(whole.and_then(of_fields));
            }
            (_, None) => break,
            (_, Some(_)) => bytes = &behind[head.length..],
        }
    }
    Shown::Begun
}

/// The credential among the fields of a connection's first request.
fn of_fields(block: &[u8]) -> Option<Vec<u8>> {
    let mut shown = None;
    let read = HpackDecoder::new(MOST_FIELDS_BYTES).read(block, |name, value| {
        if name == CREDENTIAL_FIELD.as_bytes() && shown.is_none() {
            shown = Some(value.to_vec());
        }
    });
    read.ok().and(shown)
}

#[cfg(test)]
mod tests {
    use super::super::hpack::write_plain;
    use super::*;

    fn first(settings: &[Setting]) -> Vec<u8> {
        let mut out = PREFACE.to_vec();
        frame::write_settings(settings, &mut out);
        out
    }

    #[test]
    fn a_credential_is_found_when_the_settings_are_there() {
        for text in ["0000002a-0123456789abcdef", "abcd", "a"] {
            let credential = Credential::new(text);
            let settings = [Setting::Push(0)].into_iter().chain(show(&credential));
            let bytes = first(&settings.collect::<Vec<_>>());
            for length in 0..bytes.len() {
                assert_eq!(shown(&bytes[..length]), Shown::More, "{length}");
            }
            let found = Shown::Credential(Some(text.as_bytes().to_vec()));
            assert_eq!(shown(&bytes), found);
            assert_eq!(shown(&[&bytes[..], b"more"].concat()), found);
        }
        assert_eq!(shown(&first(&[Setting::Push(0)])), Shown::Begun);
        assert_eq!(shown(&first(&[])), Shown::Begun);
    }

    /// As a proxy sends it on.
    #[test]
    fn a_credential_is_found_in_the_first_request() {
        let request = |fields: &[(&str, &str)], flags| {
            let mut block = Vec::new();
            fields.iter().for_each(|(name, value)| write_plain(name, value, &mut block));
            let mut bytes = first(&[Setting::Streams(100)]);
            frame::write(FrameKind::WindowUpdate, 0, 0, &[0, 0, 1, 0], &mut bytes);
            frame::write(FrameKind::Headers, flags, 1, &block, &mut bytes);
            bytes
        };
        let fields = [(":method", "POST"), ("x-request-id", "7"), (CREDENTIAL_FIELD, "abc")];
        let bytes = request(&fields, END_HEADERS);
        assert_eq!(shown(&bytes), Shown::Credential(Some(b"abc".to_vec())));
        assert_eq!(shown(&[&bytes[..], b"more"].concat()), shown(&bytes));
        let begun = first(&[Setting::Streams(100)]).len();
        for length in begun..bytes.len() {
            let is_in_request = length >= begun + 13 + HEAD_BYTES;
            let expected = if is_in_request { Shown::More } else { Shown::Begun };
            assert_eq!(shown(&bytes[..length]), expected, "{length}");
        }
        assert_eq!(shown(&request(&fields[..2], END_HEADERS)), Shown::Credential(None));
        // It goes on in another frame: nobody looks at that.
        assert_eq!(shown(&request(&fields, 0)), Shown::Credential(None));
    }

    #[test]
    fn what_is_no_beginning_is_told_apart() {
        let mut ping = PREFACE.to_vec();
        frame::write(FrameKind::Ping, 0, 0, &[0; 8], &mut ping);
        let long = first(&[Setting::Push(0); 200]);
        let mut odd = first(&[Setting::Push(0)]);
        odd[PREFACE.len() + 2] = 5;
        for bytes in [&b"PRI * HTTP/1.1"[..], b"GET /", &ping, &long, &odd] {
            assert_eq!(shown(bytes), Shown::Wrong);
        }
    }
}
