//! The credential among the settings that a client's connection begins with: by it the port knows
//! the trial, before any request.

use super::frame::{self, FrameHead, FrameKind, HEAD_BYTES, PREFACE, Setting};
use crate::http::credential::Credential;

/// The longest settings that are looked at, bytes.
const MOST_SETTINGS_BYTES: usize = 1024;

/// What the first bytes of a connection say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The settings go on.
    More,
    /// They are there, with the credential that they show, if any.
    Settings(Option<Vec<u8>>),
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
    Shown::Settings((!text.is_empty()).then_some(text))
}

#[cfg(test)]
mod tests {
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
            let settings = [Setting::Push(false)].into_iter().chain(show(&credential));
            let bytes = first(&settings.collect::<Vec<_>>());
            for length in 0..bytes.len() {
                assert_eq!(shown(&bytes[..length]), Shown::More, "{length}");
            }
            let found = Shown::Settings(Some(text.as_bytes().to_vec()));
            assert_eq!(shown(&bytes), found);
            assert_eq!(shown(&[&bytes[..], b"more"].concat()), found);
        }
        assert_eq!(shown(&first(&[Setting::Push(false)])), Shown::Settings(None));
        assert_eq!(shown(&first(&[])), Shown::Settings(None));
    }

    #[test]
    fn what_is_no_beginning_is_told_apart() {
        let mut ping = PREFACE.to_vec();
        frame::write(FrameKind::Ping, 0, 0, &[0; 8], &mut ping);
        let long = first(&[Setting::Push(false); 200]);
        let mut odd = first(&[Setting::Push(false)]);
        odd[PREFACE.len() + 2] = 5;
        for bytes in [&b"PRI * HTTP/1.1"[..], b"GET /", &ping, &long, &odd] {
            assert_eq!(shown(bytes), Shown::Wrong);
        }
    }
}
