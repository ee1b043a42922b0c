//! The address of what is measured.

use std::fmt;
use std::net::Ipv6Addr;

use hopbench_model::secret::REDACTED;

use super::excerpt;

/// An absolute `http` or `https` URL, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    host: String,
    port: u16,
    authority: String,
    target: String,
    is_secure: bool,
}

/// Why a text is not a URL that can be measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("url: found `{found}`, expected {expected}")]
pub struct UrlError {
    /// The part of the text that is wrong; [`REDACTED`] where it may hold a password.
    pub found: String,
    /// What would have been accepted there.
    pub expected: &'static str,
}

impl Url {
    /// Takes `http://host:port/path?query` apart. `http://` may be missing, and the port: then it
    /// is 80, or 443 of `https://`. A fragment is dropped.
    ///
    /// # Errors
    /// Names the part that is wrong: another scheme, user information, a host that is neither a
    /// name nor an address. Or an IPv6 address has no brackets, a port is outside 1 to 65535, or
    /// characters would have to be percent-encoded.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        // Whatever stands before an `@` may be a password, or a part of one.
        let hidden = |error: UrlError| {
            if text.contains('@') {
                UrlError { found: REDACTED.to_owned(), ..error }
            } else {
                error
            }
        };
        let (rest, is_secure) = after_scheme(text).map_err(hidden)?;
        let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
        let (place, target) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if let Some(bad) = target.chars().find(|c| !c.is_ascii_graphic()) {
            return Err(error(
                bad.to_string(),
                "a path and query in visible ASCII; percent-encode other characters",
            ));
        }
        if place.contains('@') {
            let expected = "host and port only; send user and password in an Authorization header";
            return Err(hidden(error(place, expected)));
        }
        let HostPort { host, shown, port } = HostPort::parse(place).map_err(hidden)?;
        let usual = if is_secure { 443 } else { 80 };
        let port = port.map_or(Ok(usual), parse_port).map_err(hidden)?;
        let authority = if port == usual { shown } else { format!("{shown}:{port}") };
        let slash = if target.starts_with('/') { "" } else { "/" };
        Ok(Self { host, port, authority, target: format!("{slash}{target}"), is_secure })
    }

    /// The same with another path.
    pub fn with_target(&self, target: &str) -> Self {
        Self { target: target.to_owned(), ..self.clone() }
    }

    /// The same, asked over TLS.
    pub fn over_tls(self) -> Self {
        Self { is_secure: true, ..self }
    }

    /// The name or address to resolve: no brackets around IPv6, its zone kept (`fe80::1%eth0`).
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The TCP port, 1 to 65535.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether it is asked over TLS.
    pub fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// The value of the `Host` field: no zone, and no port where it is the usual one.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Path and query as they stand in the request line; starts with `/`.
    pub fn target(&self) -> &str {
        &self.target
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_secure { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.target)
    }
}

fn error(found: impl AsRef<str>, expected: &'static str) -> UrlError {
    UrlError { found: excerpt(found.as_ref().as_bytes()), expected }
}

/// The part behind `http://` or `https://`, or all of a text that names no scheme; and whether it
/// is over TLS.
fn after_scheme(text: &str) -> Result<(&str, bool), UrlError> {
    // A `://` behind the first `/`, `?` or `#` belongs to the path or the query.
    let Some((scheme, rest)) = text.split_once("://").filter(|(s, _)| !s.contains(['/', '?', '#']))
    else {
        return Ok((text, false));
    };
    if scheme.eq_ignore_ascii_case("http") {
        Ok((rest, false))
    } else if scheme.eq_ignore_ascii_case("https") {
        Ok((rest, true))
    } else {
        Err(error(text, "a URL that starts with http:// or https://"))
    }
}

/// `host:port` in pieces.
struct HostPort<'a> {
    /// For the resolver.
    host: String,
    /// For the `Host` field.
    shown: String,
    port: Option<&'a str>,
}

impl<'a> HostPort<'a> {
    fn parse(text: &'a str) -> Result<Self, UrlError> {
        if let Some(inner) = text.strip_prefix('[') {
            return Self::parse_ipv6(text, inner);
        }
        let (host, port) = match text.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err(error(text, "an IPv6 address in brackets, like [::1]:8080"));
            }
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if host.is_empty() || host.len() > 253 || !host.chars().all(is_name) {
            return Err(error(
                host,
                "a host name or an address, like example.com, 10.0.0.1 or [::1]",
            ));
        }
        Ok(Self { host: host.to_owned(), shown: host.to_owned(), port })
    }

    fn parse_ipv6(text: &str, inner: &'a str) -> Result<Self, UrlError> {
        const EXPECTED: &str = "an IPv6 address in brackets, like [::1]:8080";
        let (literal, after) = inner.split_once(']').ok_or_else(|| error(text, EXPECTED))?;
        let (address, zone) = match literal.split_once('%') {
            // RFC 6874 writes the zone's `%` as `%25`; people write `%`.
            Some((address, zone)) => (address, Some(zone.strip_prefix("25").unwrap_or(zone))),
            None => (literal, None),
        };
        let is_zone =
            |zone: &str| !zone.is_empty() && zone.chars().all(|c| c.is_ascii_graphic() && c != '%');
        if address.parse::<Ipv6Addr>().is_err() || !zone.is_none_or(is_zone) {
            return Err(error(text, EXPECTED));
        }
        let port = match after.strip_prefix(':') {
            Some(port) => Some(port),
            None if after.is_empty() => None,
            None => return Err(error(after, "a port or nothing after the bracket")),
        };
        let host = zone.map_or_else(|| address.to_owned(), |zone| format!("{address}%{zone}"));
        Ok(Self { host, shown: format!("[{address}]"), port })
    }
}

fn parse_port(text: &str) -> Result<u16, UrlError> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match text.parse() {
        Ok(port) if digits && port > 0 => Ok(port),
        _ => Err(error(text, "a port from 1 to 65535")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        for (text, host, port, authority, target) in [
            ("http://example.com", "example.com", 80, "example.com", "/"),
            (
                "http://example.com:8080/a/b?c=d",
                "example.com",
                8080,
                "example.com:8080",
                "/a/b?c=d",
            ),
            ("HTTP://10.0.0.1:80/", "10.0.0.1", 80, "10.0.0.1", "/"),
            ("localhost:7474/x", "localhost", 7474, "localhost:7474", "/x"),
            ("localhost", "localhost", 80, "localhost", "/"),
            ("my_svc.ns.svc?size=1", "my_svc.ns.svc", 80, "my_svc.ns.svc", "/?size=1"),
            ("http://[::1]:7474/?size=1KiB", "::1", 7474, "[::1]:7474", "/?size=1KiB"),
            ("[fd00::1]", "fd00::1", 80, "[fd00::1]", "/"),
            ("http://[fe80::1%25eth0]:81/", "fe80::1%eth0", 81, "[fe80::1]:81", "/"),
            ("http://[fe80::1%eth0]/", "fe80::1%eth0", 80, "[fe80::1]", "/"),
            ("http://h/p#fragment", "h", 80, "h", "/p"),
            ("https://h/p", "h", 443, "h", "/p"),
            ("HTTPS://h:80/", "h", 80, "h:80", "/"),
            ("h/?next=https://elsewhere", "h", 80, "h", "/?next=https://elsewhere"),
        ] {
            let url = Url::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(
                (url.host(), url.port(), url.authority(), url.target()),
                (host, port, authority, target)
            );
        }
    }

    #[test]
    fn errors_say_what_was_found_and_expected() {
        for (text, found, expected) in [
            ("ftp://h/", "ftp://h/", "http://"),
            ("", "", "host name"),
            ("http:///x", "", "host name"),
            ("http://a b/", "a b", "host name"),
            ("http://h:0/", "0", "1 to 65535"),
            ("http://h:65536/", "65536", "1 to 65535"),
            ("http://h:/", "", "1 to 65535"),
            ("http://h:+80/", "+80", "1 to 65535"),
            ("::1:80", "::1:80", "in brackets"),
            ("http://[::1/", "[::1", "in brackets"),
            ("http://[::g]/", "[::g]", "in brackets"),
            ("http://[fe80::1%]/", "[fe80::1%]", "in brackets"),
            ("http://[::1]8080/", "8080", "after the bracket"),
            ("http://user:secret@h/", "<redacted>", "Authorization header"),
            ("https://user:secret@h/", "<redacted>", "Authorization header"),
            ("user:secret@h", "<redacted>", "Authorization header"),
            ("http://user:sec/ret@h/", "<redacted>", "1 to 65535"),
            ("http://us er:secret#@h/", "<redacted>", "host name"),
            ("http://[secret@h/", "<redacted>", "Authorization header"),
            ("http://h/a b", " ", "percent-encode"),
            ("http://h/\r\nX: y", "\\r", "percent-encode"),
            ("http://h/ä", "ä", "percent-encode"),
        ] {
            let error = Url::parse(text).unwrap_err();
            assert_eq!(error.found, found, "{text}");
            assert!(error.expected.contains(expected), "{text}: {error}");
            assert!(error.to_string().contains("found `"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn display_parses_back_and_no_text_panics(text in ".{0,40}|[a-z0-9:/?#\\[\\]@%.]{0,40}") {
            if let Ok(url) = Url::parse(&text) {
                let again = Url::parse(&url.to_string()).expect("what is shown is a URL");
                prop_assert_eq!(again.target(), url.target());
                prop_assert_eq!(again.authority(), url.authority());
                prop_assert!(url.target().starts_with('/'));
                prop_assert!(url.target().bytes().all(|b| b.is_ascii_graphic()));
            }
        }
    }
}
