//! The parameters of `http`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hopbench_model::printable::excerpt;
use hopbench_model::units::Bytes;
use hopbench_model::{EngineKind, Fault, Job, Problem};
use hopbench_sys::Socket;
use serde::{Deserialize, Serialize};

use super::bytes::{from_hex, read, to_hex};
use super::multiplexed::{WINDOW_BYTES, is_of_http_1};
use super::streams::{is_one, one, wrong_streams};
use super::tls::TlsParams;
use crate::flow::failure::explain;
use crate::http::h2::ConnectionPlan;
use crate::http::{Credential, MOST_BODY_BYTES, RequestSpec, RequestTemplate, Url};
use crate::measure::socket_set::SocketSet;
use crate::worker::filler::filler;
use crate::worker::secured::TlsClient;

/// What to ask for, and what to expect.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::workloads) struct Params {
    /// The command's TARGET; the command line has no flag for it
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Method of the requests
    #[arg(long, value_name = "METHOD", default_value = "GET")]
    #[serde(default = "get")]
    method: String,
    /// A field of the requests; may be given several times. NAME: env:VARIABLE takes the value from
    /// the environment; of secrets like Authorization and Cookie no record has it
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    headers: Vec<String>,
    /// Body of the requests
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["body_file", "body_size"])]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    /// Take the body of the requests from a file
    #[arg(long, value_name = "FILE", conflicts_with = "body_size")]
    #[serde(skip)]
    body_file: Option<PathBuf>,
    /// A body that is not text, from a file; two digits a byte
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body_hex: Option<String>,
    /// Send a body of this many bytes of anything
    #[arg(long, value_name = "SIZE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body_size: Option<Bytes>,
    /// A new connection for every request
    #[arg(long)]
    #[serde(default)]
    no_keep_alive: bool,
    /// Warn when a body that is received is not of this size
    #[arg(long, value_name = "SIZE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expect_size: Option<Bytes>,
    /// Speak HTTP/2; over TLS it is agreed on, otherwise the server has to know it
    #[arg(long, conflicts_with = "no_keep_alive")]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    http2: bool,
    /// Requests under way at once on a connection of HTTP/2
    #[arg(long, value_name = "N", default_value = "1")]
    #[serde(default = "one", skip_serializing_if = "is_one")]
    streams: u32,
    /// Take the time of an answer when hopbench reads it, or when the kernel got it. It may then be
    /// read with the next send
    #[arg(long, value_name = "WHERE", default_value = "process")]
    #[serde(default, skip_serializing_if = "ReceiveTime::is_default")]
    receive_time: ReceiveTime,
    #[command(flatten)]
    #[serde(flatten)]
    tls: TlsParams,
}

/// What says when an answer came.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ReceiveTime {
    /// When hopbench reads it.
    #[default]
    Process,
    /// When the kernel got it.
    Kernel,
}

impl ReceiveTime {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

fn get() -> String {
    "GET".to_owned()
}

impl Params {
    /// Reads the files that flags name.
    ///
    /// # Errors
    /// A file that cannot be read or is too long.
    pub(super) fn with_files(mut self) -> Result<Self, clap::Error> {
        if let Some(path) = self.body_file.take() {
            match String::from_utf8(read("--body-file", &path, MOST_BODY_BYTES)?) {
                Ok(text) => self.body = Some(text),
                // JSON, which parameters travel in, has text only.
                Err(error) => self.body_hex = Some(to_hex(error.as_bytes())),
            }
        }
        self.tls = self.tls.with_files()?;
        Ok(self)
    }

    /// The client's end of TLS; `None`: it is not spoken. What it does not check is noted.
    ///
    /// # Errors
    /// Everything that is wrong with its parameters, or no authority that could be trusted.
    pub(super) fn tls_client(
        &self,
        credential: Option<&Credential>,
        notes: &SocketSet,
    ) -> Result<Option<TlsClient>, Vec<Problem>> {
        let url = self.tls.url(self.url.as_deref()).map_err(|problem| vec![problem])?;
        self.tls.client(&url, self.http2, credential, notes)
    }

    /// Whether connections serve more than one request.
    pub(super) fn keep_alive(&self) -> bool {
        !self.no_keep_alive
    }

    /// Whether HTTP/2 is spoken.
    pub(super) fn http2(&self) -> bool {
        self.http2
    }

    /// A socket that has the kernel say when answers to this target come; `None`: it need not. The
    /// kernel begins anew with the first of all sockets that ask for it, so one asks for all of the
    /// trial.
    ///
    /// # Errors
    /// The kernel does not do it.
    pub(super) fn timestamps(&self, target: SocketAddr) -> Result<Option<Socket>, Fault> {
        if self.receive_time == ReceiveTime::Process {
            return Ok(None);
        }
        let socket = Socket::udp(target).and_then(|socket| {
            socket.set_receive_timestamps()?;
            Ok(socket)
        });
        socket.map(Some).map_err(|error| {
            Fault::environment(format!(
                "--receive-time: found `kernel`, and the kernel does not say when answers come \
                 ({}); measure with `process`",
                explain(&error)
            ))
        })
    }

    /// What is wrong beside the rest of the job.
    pub(super) fn misfit(&self, job: &Job) -> Option<Problem> {
        let is_fit = job.engine == EngineKind::Epoll
            && job.schedule.per_s().is_some()
            && !self.http2
            && self.keep_alive();
        let is_wrong = self.receive_time == ReceiveTime::Kernel && !is_fit;
        is_wrong.then(|| {
            let expected = "process; kernel needs --rate, --engine epoll and HTTP/1.1 connections \
                            that are kept";
            Problem::new("--receive-time", "kernel", expected)
        })
    }

    /// Requests under way at once on a connection.
    pub(super) fn streams(&self) -> u32 {
        self.streams
    }

    /// The connections of HTTP/2 that carry this request.
    pub(super) fn connection(
        &self,
        request: &RequestTemplate,
        credential: Option<&Credential>,
    ) -> ConnectionPlan {
        ConnectionPlan {
            turns: 1,
            fields: request
                .fields()
                .iter()
                .filter(|(name, _)| !is_of_http_1(name))
                .cloned()
                .collect(),
            body: request.body().into(),
            is_head: !request.expects_body(),
            is_call: false,
            streams: self.streams as usize,
            window_bytes: WINDOW_BYTES,
            is_compressed: true,
            credential: credential.cloned(),
        }
    }

    /// The length of a request's body, bytes.
    pub(super) fn body_bytes(&self) -> u64 {
        let text = self.body.as_ref().map(|text| text.len() as u64);
        let digits = self.body_hex.as_ref().map(|digits| digits.len() as u64 / 2);
        text.or(digits).unwrap_or_else(|| self.body_size.map_or(0, |size| size.0))
    }

    /// How long bodies of answers should be, bytes.
    pub(super) fn expected_body_bytes(&self) -> Option<u64> {
        self.expect_size.map(|size| size.0)
    }

    /// Everything that is wrong.
    pub(super) fn mistakes(&self) -> Vec<Problem> {
        let url = self.tls.url(self.url.as_deref());
        let mut problems = self.mistakes_of_requests();
        problems.extend(url.iter().flat_map(|url| self.tls.problems(url)));
        if let Some(problem) = wrong_streams(self.streams) {
            problems.push(problem);
        } else if self.streams > 1 && !self.http2 {
            let expected = "1 without --http2: HTTP/1.1 has one request at a time";
            problems.push(Problem::new("--streams", self.streams, expected));
        }
        problems
    }

    fn mistakes_of_requests(&self) -> Vec<Problem> {
        match self.template(None) {
            Ok(request) => match self.expect_size {
                Some(size) if size.0 > 0 && !request.expects_body() => {
                    vec![Problem::new(
                        "--expect-size",
                        size,
                        "none with --method HEAD: its answers have no body",
                    )]
                }
                _ => Vec::new(),
            },
            Err(problems) => problems,
        }
    }

    /// The request, with the credential of its trial where the target is to see it.
    ///
    /// # Errors
    /// Everything that is wrong with the URL, the method, the fields and the body.
    pub(super) fn template(
        &self,
        credential: Option<&Credential>,
    ) -> Result<RequestTemplate, Vec<Problem>> {
        let mut problems = Vec::new();
        let url = self.tls.url(self.url.as_deref());
        if let Err(problem) = &url {
            problems.push(problem.clone());
        }
        let body = self.request_body().unwrap_or_else(|problem| {
            problems.push(problem);
            Vec::new()
        });
        // With a stand-in for a URL that is wrong, the problems of the other parameters are found
        // too.
        if let Ok(url) = &url.or_else(|_| Url::parse("localhost")) {
            let spec = RequestSpec {
                method: &self.method,
                url,
                headers: &self.headers,
                body: &body,
                keep_alive: self.keep_alive(),
                credential,
            };
            match RequestTemplate::new(&spec) {
                Ok(request) if problems.is_empty() => return Ok(request),
                Ok(_) => {}
                Err(more) => problems.extend(more),
            }
        }
        Err(problems)
    }

    fn request_body(&self) -> Result<Vec<u8>, Problem> {
        match (&self.body, &self.body_hex, self.body_size) {
            (None, None, None) => Ok(Vec::new()),
            (Some(text), None, None) => Ok(text.clone().into_bytes()),
            (None, Some(digits), None) => from_hex(digits).ok_or_else(|| {
                Problem::new("body_hex", excerpt(digits, 60), "two hexadecimal digits a byte")
            }),
            (None, None, Some(size)) if size.0 <= MOST_BODY_BYTES => {
                Ok(filler(size.0 as usize).to_vec())
            }
            (None, None, Some(size)) => Err(Problem::new(
                "--body-size",
                size,
                format!("at most {}", Bytes(MOST_BODY_BYTES)),
            )),
            _ => Err(Problem::new(
                "--body",
                "more than one body",
                "one of --body, --body-file and --body-size",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;
    use clap::{Command, FromArgMatches};
    use serde_json::{Value, json};

    use super::*;

    fn parse(arguments: &[&str]) -> Result<Params, clap::Error> {
        let command = Params::augment_args(Command::new("http"));
        let matches = command.try_get_matches_from([&["http"], arguments].concat())?;
        Params::from_arg_matches(&matches)?.with_files()
    }

    fn sent(arguments: &[&str]) -> Vec<u8> {
        let mut value = json!(parse(arguments).unwrap());
        value["url"] = json!("http://h/p");
        let params: Params = serde_json::from_value(value).unwrap();
        params.template(None).unwrap().bytes().to_vec()
    }

    fn problems(params: Value) -> Vec<String> {
        let params: Params = serde_json::from_value(params).unwrap();
        params.mistakes().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn flags_become_the_request() {
        let text = |arguments: &[&str]| String::from_utf8(sent(arguments)).unwrap();
        assert!(text(&[]).starts_with("GET /p HTTP/1.1\r\nHost: h\r\n"));
        let post = text(&["--method", "POST", "-H", "A: 1", "--header", "B: 2", "--body", "hello"]);
        assert!(post.starts_with("POST /p ") && post.contains("\r\nA: 1\r\nB: 2\r\n"), "{post}");
        assert!(post.ends_with("Content-Length: 5\r\n\r\nhello"), "{post}");
        assert!(text(&["--no-keep-alive"]).contains("Connection: close\r\n"));
        let filled = sent(&["--method", "PUT", "--body-size", "1KiB"]);
        assert!(String::from_utf8_lossy(&filled).contains("Content-Length: 1024\r\n"));
    }

    #[test]
    fn a_body_file_is_sent_as_it_is() {
        let path = std::env::temp_dir().join(format!("hopbench-body-{}", std::process::id()));
        for content in [&b"plain text"[..], &[0xff, 0, 0xc3, 13]] {
            std::fs::write(&path, content).unwrap();
            let request = sent(&["--method", "POST", "--body-file", path.to_str().unwrap()]);
            assert!(request.ends_with(&[b"\r\n\r\n", content].concat()), "{content:?}");
        }
        std::fs::remove_file(&path).unwrap();
        let error = parse(&["--body-file", path.to_str().unwrap()]).unwrap_err();
        assert!(error.to_string().contains("--body-file: found `"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn tls_is_what_the_url_or_the_flag_says() {
        let spoken = |value: Value| {
            let params: Params = serde_json::from_value(value).unwrap();
            params.tls_client(None, &SocketSet::default()).map(|tls| tls.is_some())
        };
        assert_eq!(spoken(json!({"url": "http://h/"})), Ok(false));
        assert_eq!(spoken(json!({"url": "https://h/", "insecure_tls": true})), Ok(true));
        let by_flag = json!({"url": "h", "tls": true, "insecure_tls": true, "tls_name": "n.test"});
        assert_eq!(spoken(by_flag), Ok(true));
        let bad = problems(json!({
            "url": "https://h/", "tls_version": "1.1", "tls_name": "a b", "tls_authorities": "none",
        }));
        let places: Vec<_> = bad.iter().map(|p| p.split(':').next().unwrap()).collect();
        assert_eq!(places, ["--tls-name", "--tls-version", "--tls-ca"], "{bad:#?}");
        // Without TLS nobody would look at them.
        let lost = problems(json!({
            "url": "http://h/", "tls_version": "1.3", "no_tls_resumption": true,
        }));
        let places: Vec<_> = lost.iter().map(|p| p.split(':').next().unwrap()).collect();
        assert_eq!(places, ["--tls-version", "--no-tls-resumption"], "{lost:#?}");
    }

    #[test]
    fn the_length_of_a_body_is_known() {
        let length = |arguments: &[&str]| parse(arguments).unwrap().body_bytes();
        assert_eq!(length(&[]), 0);
        assert_eq!(length(&["--body", "hello"]), 5);
        assert_eq!(length(&["--body-size", "2KiB"]), 2048);
        let hex: Params =
            serde_json::from_value(json!({"url": "h", "body_hex": "00ff10"})).unwrap();
        assert_eq!(hex.body_bytes(), 3);
    }

    #[test]
    fn one_body_only() {
        for pair in
            [["--body", "--body-size"], ["--body", "--body-file"], ["--body-file", "--body-size"]]
        {
            let error = parse(&[pair[0], "1", pair[1], "1"]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ArgumentConflict, "{pair:?}");
        }
        let both = problems(json!({"url": "h", "body": "a", "body_size": "1"}));
        assert!(both[0].contains("one of --body"), "{both:?}");
    }

    #[test]
    fn every_problem_is_found_at_once() {
        let all = problems(json!({
            "url": "ftp://h/", "method": "G T", "headers": ["no colon", "Connection: close"],
            "body_size": "17MiB",
        }));
        let places: Vec<_> = all.iter().map(|p| p.split(':').next().unwrap()).collect();
        assert_eq!(places, ["URL", "--body-size", "--method", "--header", "--header"], "{all:#?}");
        assert_eq!(problems(json!({}))[0].split(':').next(), Some("URL"));
        assert!(
            problems(json!({"url": "h", "body_hex": "abc"}))[0].contains("two hexadecimal digits")
        );
        let head = problems(json!({"url": "h", "method": "HEAD", "expect_size": "1kB"}));
        assert!(head[0].starts_with("--expect-size: found `1kB`"), "{head:?}");
        assert!(problems(json!({"url": "h", "expect_size": "1kB"})).is_empty());
    }
}
