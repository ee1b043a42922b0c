//! The first look at a connection, for the credential that it shows.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use super::credential::CREDENTIAL_FIELD;
use super::h2::{PREFACE, Shown, shown};
use super::head::{MOST_FIELDS, end_of_head};
use super::target::MOST_HEAD_BYTES;

/// What the first bytes of a connection say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Glance<'a> {
    /// The head goes on; it was looked for up to here, see [`glance`].
    More(usize),
    /// HTTP/2 has begun, and its settings show no credential. The first request may show one, and
    /// it may come only after an answer to the settings. It was looked for up to here.
    Begun(usize),
    /// A head, or what HTTP/2 begins with, with the credential that it shows, if any.
    Head(Option<Cow<'a, [u8]>>),
    /// Neither, or longer than is taken.
    Wrong,
}

/// Looks at the first `bytes` of a connection, of which `seen` were looked at before without a
/// result: nothing is taken, nothing is kept. Of several credentials the first is shown; whoever
/// reads the request checks all.
pub fn glance(bytes: &[u8], seen: usize) -> Glance<'_> {
    // No method is spelled like the first four.
    if bytes.starts_with(&PREFACE[..4]) {
        return match shown(bytes) {
            Shown::More if bytes.len() < MOST_HEAD_BYTES => Glance::More(bytes.len()),
            Shown::Begun if bytes.len() < MOST_HEAD_BYTES => Glance::Begun(bytes.len()),
            Shown::More | Shown::Begun => Glance::Wrong,
            Shown::Credential(text) => Glance::Head(text.map(Cow::Owned)),
            Shown::Wrong => Glance::Wrong,
        };
    }
    // Until the end is there nothing is parsed: a head that comes byte by byte costs no more for
    // it.
    if end_of_head(bytes, seen.saturating_sub(2).min(bytes.len())).is_none() {
        let whole = bytes.len() >= MOST_HEAD_BYTES;
        return if whole { Glance::Wrong } else { Glance::More(bytes.len()) };
    }
    let mut fields = [const { MaybeUninit::uninit() }; MOST_FIELDS];
    let mut parsed = httparse::Request::new(&mut []);
    match parsed.parse_with_uninit_headers(bytes, &mut fields) {
        Ok(httparse::Status::Complete(_)) => {
            let field = parsed
                .headers
                .iter()
                .find(|field| field.name.eq_ignore_ascii_case(CREDENTIAL_FIELD));
            Glance::Head(field.map(|field| Cow::Borrowed(field.value)))
        }
        Ok(httparse::Status::Partial) if bytes.len() < MOST_HEAD_BYTES => Glance::More(bytes.len()),
        _ => Glance::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_credential_is_found_wherever_it_stands() {
        for (head, shown) in [
            ("GET / HTTP/1.1\r\nHost: h\r\nX-Hopbench-Run: abc\r\n\r\nrest", Some(&b"abc"[..])),
            ("GET / HTTP/1.1\r\nx-hopbench-run:abc\r\nHost: h\r\n\r\n", Some(b"abc")),
            ("\r\nGET / HTTP/1.1\nx-hopbench-run: a\nx-hopbench-run: b\n\n", Some(b"a")),
            (
                "POST / HTTP/1.1\r\nHost: x-hopbench-run: abc\r\n\r\nx-hopbench-run: abc\r\n\r\n",
                None,
            ),
        ] {
            let shown = shown.map(Cow::Borrowed);
            assert_eq!(glance(head.as_bytes(), 0), Glance::Head(shown.clone()), "{head}");
            // However it is cut, and whatever was seen of it before.
            let end = (1..=head.len())
                .find(|n| matches!(glance(&head.as_bytes()[..*n], n - 1), Glance::Head(_)));
            let end = end.unwrap();
            assert!(
                (1..end).all(|n| glance(&head.as_bytes()[..n], 0) == Glance::More(n)),
                "{head}"
            );
            assert_eq!(glance(head.as_bytes(), end - 1), Glance::Head(shown), "{head}");
        }
    }

    #[test]
    fn what_is_no_head_is_told_apart() {
        for bytes in [
            "GET /\r\n\r\n",
            "GET / HTTP/1.1\r\nA B: c\r\n\r\n",
            "PRI * HTTP/2.0\r\n\r\nXM",
            &"x".repeat(16 << 10),
        ] {
            assert_eq!(glance(bytes.as_bytes(), 0), Glance::Wrong, "{bytes:.40}");
        }
        assert_eq!(glance(b"", 0), Glance::More(0));
        let long = "x".repeat((16 << 10) - 1);
        assert_eq!(glance(long.as_bytes(), 0), Glance::More(long.len()));
    }
}
