//! The bytes of one request, made once and sent many times.

use std::borrow::Cow;

use hopbench_model::Problem;
use hopbench_model::printable::line;
use hopbench_model::secret::{REDACTED, redacted};

use super::credential::CREDENTIAL_FIELD;
use super::{Credential, Url};

/// What a request is made of.
#[derive(Debug, Clone, Copy)]
pub struct RequestSpec<'a> {
    /// The method, case-sensitive: `GET`.
    pub method: &'a str,
    /// Where it goes.
    pub url: &'a Url,
    /// Fields as the user writes them, `Name: value` each.
    pub headers: &'a [String],
    /// The body; may be empty.
    pub body: &'a [u8],
    /// Whether the connection is used again afterwards.
    pub keep_alive: bool,
    /// What shows that it belongs to a trial; `None` where a stranger is asked.
    pub credential: Option<&'a Credential>,
}

/// One HTTP/1.1 request, ready to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTemplate {
    bytes: Vec<u8>,
    is_head: bool,
    /// The same as fields of HTTP/2; its body is at the end of `bytes`.
    fields: Vec<(String, String)>,
    body_bytes: usize,
}

impl RequestTemplate {
    /// Makes the request.
    ///
    /// `Host`, `User-Agent` and everything else the user gives is sent as given; without them
    /// `Host` comes from the URL and `User-Agent` is `hopbench/VERSION`.
    ///
    /// # Errors
    /// Every problem of `--method` and `--header`. HTTP forbids some names and values, line breaks
    /// among them. The fields of the framing are forbidden, too: it is set here.
    pub fn new(spec: &RequestSpec<'_>) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        check_method(spec.method, &mut problems);
        let mut fields: Vec<(&str, &str)> = Vec::with_capacity(spec.headers.len());
        for header in spec.headers {
            match split_header(header) {
                Ok((name, _)) if name.eq_ignore_ascii_case("host") && has(&fields, "host") => {
                    problems.push(Problem::new("--header", line(header), "one Host only"));
                }
                Ok(field) => fields.push(field),
                Err(problem) => problems.push(problem),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Self {
            bytes: write(spec, &fields),
            is_head: spec.method == "HEAD",
            fields: http2_fields(spec, &fields),
            body_bytes: spec.body.len(),
        })
    }

    /// Everything to write, head and body.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The request as fields of HTTP/2, those with a colon first.
    pub fn fields(&self) -> &[(String, String)] {
        &self.fields
    }

    /// Its body.
    pub fn body(&self) -> &[u8] {
        &self.bytes[self.bytes.len() - self.body_bytes..]
    }

    /// Whether the answer may carry a body: not to `HEAD`, whatever its length field says.
    pub fn expects_body(&self) -> bool {
        !self.is_head
    }
}

fn check_method(method: &str, problems: &mut Vec<Problem>) {
    if !is_token(method) {
        problems.push(Problem::new(
            "--method",
            line(method),
            "a method like GET, HEAD, POST or PUT",
        ));
    } else if method == "CONNECT" {
        problems.push(Problem::new(
            "--method",
            method,
            "a method that asks for a resource: tunnels are not opened",
        ));
    }
}

/// Fields that say where the request ends, whether the connection stays, and whose it is: a second
/// opinion would break all of it.
const OURS: [(&str, &str); 4] = [
    ("content-length", "no Content-Length: it is set from the body"),
    ("transfer-encoding", "no Transfer-Encoding: the body is sent with its length"),
    ("connection", "no Connection: it is set from the keep-alive option"),
    (CREDENTIAL_FIELD, "no X-Hopbench-Run: it is set from the key of the run"),
];

fn split_header(header: &str) -> Result<(&str, &str), Problem> {
    let problem = |expected: &str| Problem::new("--header", line(&shown(header)), expected);
    let (name, value) = header.split_once(':').ok_or_else(|| problem("`Name: value`"))?;
    if !is_token(name) {
        return Err(problem("`Name: value` with a name of letters, digits and !#$%&'*+-.^_`|~"));
    }
    let value = value.trim_matches([' ', '\t']);
    if value.bytes().any(|b| b.is_ascii_control() && b != b'\t') {
        return Err(problem("a value without line breaks and other control characters"));
    }
    match OURS.iter().find(|(ours, _)| name.eq_ignore_ascii_case(ours)) {
        Some((_, expected)) => Err(problem(expected)),
        None => Ok((name, value)),
    }
}

/// A header that may be wrong, without what may be its value. What has no name that could be one
/// may be a value alone. Of it a first word of letters is shown that others follow, like `Bearer`.
fn shown(header: &str) -> Cow<'_, str> {
    if header.split_once(':').is_some_and(|(name, _)| is_token(name.trim())) {
        return redacted(header);
    }
    let scheme = header.trim().split_once([':', ' ', '\t']).map_or("", |(word, _)| word);
    if scheme.is_empty() || !scheme.bytes().all(|b| b.is_ascii_alphabetic()) {
        return Cow::Borrowed(REDACTED);
    }
    Cow::Owned(format!("{scheme} {REDACTED}"))
}

fn write(spec: &RequestSpec<'_>, fields: &[(&str, &str)]) -> Vec<u8> {
    let mut head = format!("{} {} HTTP/1.1\r\n", spec.method, spec.url.target());
    let mut field = |name: &str, value: &str| {
        for part in [name, ": ", value, "\r\n"] {
            head.push_str(part);
        }
    };
    if !has(fields, "host") {
        field("Host", spec.url.authority());
    }
    if !has(fields, "user-agent") {
        field("User-Agent", concat!("hopbench/", env!("CARGO_PKG_VERSION")));
    }
    // Before the user's: whoever looks for it finds it early.
    if let Some(credential) = spec.credential {
        field(CREDENTIAL_FIELD, credential.text());
    }
    for (name, value) in fields {
        field(name, value);
    }
    // RFC 9110, 8.6: a method that usually has a body says so even when it is empty.
    if !spec.body.is_empty() || matches!(spec.method, "POST" | "PUT" | "PATCH") {
        field("Content-Length", &spec.body.len().to_string());
    }
    if !spec.keep_alive {
        field("Connection", "close");
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(spec.body);
    bytes
}

/// RFC 9113, 8.3: what the request line and `Host` say has fields of its own, and names are lower
/// case.
fn http2_fields(spec: &RequestSpec<'_>, fields: &[(&str, &str)]) -> Vec<(String, String)> {
    let host = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let scheme = if spec.url.is_secure() { "https" } else { "http" };
    let mut all = vec![
        (":method", spec.method),
        (":scheme", scheme),
        (":path", spec.url.target()),
        (":authority", host.map_or_else(|| spec.url.authority(), |(_, value)| value)),
    ];
    if !has(fields, "user-agent") {
        all.push(("user-agent", concat!("hopbench/", env!("CARGO_PKG_VERSION"))));
    }
    all.extend(spec.credential.map(|credential| (CREDENTIAL_FIELD, credential.text())));
    all.extend(fields.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host")));
    let mut all: Vec<(String, String)> = all
        .into_iter()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    if !spec.body.is_empty() {
        all.push(("content-length".to_owned(), spec.body.len().to_string()));
    }
    all
}

fn has(fields: &[(&str, &str)], name: &str) -> bool {
    fields.iter().any(|(n, _)| n.eq_ignore_ascii_case(name))
}

/// RFC 9110, 5.6.2.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn build(
        method: &str,
        headers: &[&str],
        body: &[u8],
        keep_alive: bool,
    ) -> Result<RequestTemplate, Vec<Problem>> {
        let url = Url::parse("http://h:81/p?q=1").unwrap();
        let headers: Vec<String> = headers.iter().map(ToString::to_string).collect();
        let spec = RequestSpec {
            method,
            url: &url,
            headers: &headers,
            body,
            keep_alive,
            credential: None,
        };
        RequestTemplate::new(&spec)
    }

    #[test]
    fn a_credential_costs_its_field_and_nothing_else() {
        let url = Url::parse("http://h:81/p").unwrap();
        let credential = Credential::new(&"c".repeat(41));
        let headers = ["X-A: b".to_owned()];
        let bare = RequestSpec {
            method: "GET",
            url: &url,
            headers: &headers,
            body: b"",
            keep_alive: true,
            credential: None,
        };
        let shown =
            RequestTemplate::new(&RequestSpec { credential: Some(&credential), ..bare }).unwrap();
        let text = String::from_utf8(shown.bytes().to_vec()).unwrap();
        assert!(
            text.contains(&format!("\r\nx-hopbench-run: {}\r\nX-A: b\r\n", "c".repeat(41))),
            "{text}"
        );
        // The name, colon and space, the value, the line's end; as docs/method.md says.
        assert_eq!(
            text.len() - RequestTemplate::new(&bare).unwrap().bytes().len(),
            14 + 2 + 41 + 2
        );
    }

    #[test]
    fn the_bytes_are_what_was_asked_for() {
        #[rustfmt::skip]
        let rows = [
            ("GET", &[] as &[&str], "", true,
                "GET /p?q=1 HTTP/1.1\r\nHost: h:81\r\nUser-Agent: hopbench/VERSION\r\n\r\n"),
            ("POST", &["X-A:  b ", "user-agent: me"], "body", false,
                "POST /p?q=1 HTTP/1.1\r\nHost: h:81\r\nX-A: b\r\nuser-agent: me\r\n\
                 Content-Length: 4\r\n\
                 Connection: close\r\n\r\nbody"),
            ("PUT", &["HOST: other", "User-Agent:"], "", true,
                "PUT /p?q=1 HTTP/1.1\r\nHOST: other\r\nUser-Agent: \r\nContent-Length: 0\r\n\r\n"),
        ];
        for (method, headers, body, keep_alive, expected) in rows {
            let expected = expected.replace("VERSION", env!("CARGO_PKG_VERSION"));
            let template = build(method, headers, body.as_bytes(), keep_alive).unwrap();
            assert_eq!(String::from_utf8_lossy(template.bytes()), expected);
            assert!(template.expects_body());
        }
        assert!(!build("HEAD", &[], b"", true).unwrap().expects_body());
    }

    #[test]
    fn every_problem_is_reported() {
        let problems = build(
            "G T",
            &["no colon", "A B: c", ": x", "A: b\r\nC: d", "content-length: 3"],
            b"",
            true,
        );
        let texts: Vec<String> = problems.unwrap_err().iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 6, "{texts:#?}");
        for (text, part) in texts.iter().zip([
            "`G T`",
            "`no <redacted>`",
            "`A <redacted>`",
            "`<redacted>`",
            "A: b\\r\\nC: d",
            "from the body",
        ]) {
            assert!(text.contains(part) && text.contains("expected"), "{text}");
        }
        for secret in [
            "Bearer s3cret",
            "s3cret",
            "Bearer s3cret: x",
            " s3cret ",
            "Authorization : s3cret",
            ":s3cret",
        ] {
            let text = build("GET", &[secret], b"", true).unwrap_err()[0].to_string();
            assert!(!text.contains("s3cret") && text.contains("expected `Name: value`"), "{text}");
        }
        for bad in [
            &["Host: a", "host: b"][..],
            &["Transfer-Encoding: chunked"],
            &["Connection: close"],
            &["A: \0"],
            &["X-Hopbench-Run: 1"],
        ] {
            assert_eq!(build("GET", bad, b"", true).unwrap_err().len(), 1, "{bad:?}");
        }
        for bad in ["", "GET\r\n", "CONNECT", "GÉT"] {
            assert_eq!(build(bad, &[], b"", true).unwrap_err()[0].at, "--method", "{bad:?}");
        }
    }

    proptest! {
        /// Whatever is accepted is one request with exactly the fields that were given.
        #[test]
        fn accepted_headers_cannot_break_the_head(name in ".{0,8}", value in ".{0,16}") {
            let header = format!("{name}:{value}");
            if let Ok(template) = build("GET", &[&header], b"", true) {
                let mut fields = [httparse::EMPTY_HEADER; 8];
                let mut request = httparse::Request::new(&mut fields);
                let parsed = request.parse(template.bytes()).expect("a valid head");
                prop_assert_eq!(parsed, httparse::Status::Complete(template.bytes().len()));
                let overridden =
                    ["host", "user-agent"].iter().any(|n| name.eq_ignore_ascii_case(n));
                prop_assert_eq!(request.headers.len(), if overridden { 2 } else { 3 });
            }
        }
    }
}
