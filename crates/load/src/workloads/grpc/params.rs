//! The parameters of `grpc`.

use std::path::PathBuf;

use clap::Args;
use hopbench_model::printable::excerpt;
use hopbench_model::units::{Bytes, Span};
use hopbench_model::{Problem, Sweep};
use serde::{Deserialize, Serialize};

use super::method::CalledMethod;
use crate::http::grpc::{CONTENT_TYPE, deadline, framed};
use crate::http::h2::ConnectionPlan;
use crate::http::{Credential, MOST_BODY_BYTES, RequestSpec, RequestTemplate, Url};
use crate::measure::socket_set::SocketSet;
use crate::worker::filler::filler;
use crate::worker::secured::TlsClient;
use crate::workloads::http::{
    TlsParams, WINDOW_BYTES, from_hex, is_of_http_1, is_one, one, read, to_hex, wrong_streams,
};

/// What to call, and what to send.
#[derive(Debug, Clone, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::workloads) struct Params {
    /// The command's TARGET; the command line has no flag for it
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Payload of a request to the service of an agent; a sweep like 1:256KiB:*64 measures each
    /// [default: none]
    #[arg(long, value_name = "SIZE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<Sweep<Bytes>>,
    /// Send the message in a file, as its bytes are, to the method that the URL names [default: an
    /// empty one]
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    message_file: Option<PathBuf>,
    /// That message; two digits a byte
    #[arg(skip)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message_hex: Option<String>,
    /// Messages of a call, all the same: more than 1 where clients stream
    #[arg(long, value_name = "N", default_value = "1")]
    #[serde(default = "one", skip_serializing_if = "is_one")]
    messages: u32,
    /// Send each message when the one before has its answer, where both sides stream [default: all
    /// at once]
    #[arg(long)]
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    ping_pong: bool,
    /// Metadata of the calls; may be given several times. NAME: env:VARIABLE takes the value from
    /// the environment; of secrets like Authorization and Cookie no record has it
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    headers: Vec<String>,
    /// Tell the server that a call may take so long [default: tell it nothing]
    #[arg(long, value_name = "TIME")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deadline: Option<Span>,
    /// Calls under way at once on a connection
    #[arg(long, value_name = "N", default_value = "1")]
    #[serde(default = "one", skip_serializing_if = "is_one")]
    streams: u32,
    /// Calls are made over HTTP/2
    #[arg(skip = true)]
    #[serde(default = "always")]
    http2: bool,
    #[command(flatten)]
    #[serde(flatten)]
    tls: TlsParams,
}

/// Metadata that is set here.
const OURS: [&str; 4] = ["content-type", "te", "grpc-timeout", "grpc-encoding"];
/// The longest payload of a request, bytes: what is around it fits beside it.
const MOST_PAYLOAD_BYTES: u64 = MOST_BODY_BYTES - 1024;
/// Most messages of a call that are sent one by one.
const MOST_MESSAGES: u32 = 1_000_000;
/// The longest message from a file, bytes: it travels to agents in text, twice as long.
const MOST_MESSAGE_BYTES: u64 = 256 << 10;

fn always() -> bool {
    true
}

impl Params {
    /// Reads the files that flags name.
    ///
    /// # Errors
    /// A file that cannot be read or is too long.
    pub(super) fn with_files(mut self) -> Result<Self, clap::Error> {
        if let Some(path) = self.message_file.take() {
            self.message_hex = Some(to_hex(&read("--message-file", &path, MOST_MESSAGE_BYTES)?));
        }
        self.tls = self.tls.with_files()?;
        Ok(self)
    }

    /// Calls under way at once on a connection.
    pub(super) fn streams(&self) -> u32 {
        self.streams
    }

    fn url(&self) -> Result<Url, Problem> {
        self.tls.url(self.url.as_deref())
    }

    /// The client's end of TLS; `None`: it is not spoken.
    ///
    /// # Errors
    /// Everything that is wrong with its parameters, or no authority that could be trusted.
    pub(super) fn tls_client(
        &self,
        credential: Option<&Credential>,
        notes: &SocketSet,
    ) -> Result<Option<TlsClient>, Vec<Problem>> {
        let url = self.url().map_err(|problem| vec![problem])?;
        self.tls.client(&url, true, credential, notes)
    }

    /// The size of what a call sends at once, bytes; 0 where that cannot be told.
    pub(super) fn body_bytes(&self) -> u64 {
        let url = self.url().ok();
        let method = url.as_ref().and_then(|url| CalledMethod::of(url).ok());
        let body = method.and_then(|method| self.body(method).ok());
        body.map_or(0, |body| body.len() as u64)
    }

    /// The messages of a call that are sent at once, with their prefixes.
    fn body(&self, method: CalledMethod<'_>) -> Result<Vec<u8>, Problem> {
        let size = self.size.as_ref().map_or(0, |size| size.first().0);
        let message = match (method, &self.message_hex) {
            (CalledMethod::Echo(_), Some(_)) => {
                let expected = "a method in the URL that the message is for";
                return Err(Problem::new("--message-file", "a message", expected));
            }
            (CalledMethod::Of(path), _) if size > 0 => {
                let expected = format!("none with {path}: take --message-file");
                return Err(Problem::new("--size", Bytes(size), expected));
            }
            (CalledMethod::Echo(_), None) if size > MOST_PAYLOAD_BYTES => {
                let expected = format!("at most {}", Bytes(MOST_PAYLOAD_BYTES));
                return Err(Problem::new("--size", Bytes(size), expected));
            }
            (CalledMethod::Echo(request), None) => request.message(&filler(size as usize)),
            (CalledMethod::Of(_), Some(digits)) => framed(&from_hex(digits).ok_or_else(|| {
                let expected = "two hexadecimal digits a byte";
                Problem::new("message_hex", excerpt(digits, 60), expected)
            })?),
            (CalledMethod::Of(_), None) => framed(&[]),
        };
        let at_once = MOST_BODY_BYTES / message.len() as u64;
        let most = if self.ping_pong { u64::from(MOST_MESSAGES) } else { at_once };
        if at_once == 0 || !(1..=most).contains(&u64::from(self.messages)) {
            let expected = format!("1 to {most} messages of {}", Bytes(message.len() as u64));
            return Err(Problem::new("--messages", self.messages, expected));
        }
        let copies = if self.ping_pong { 1 } else { self.messages as usize };
        Ok(message.repeat(copies))
    }

    /// The connections that carry these calls, with the credential of their trial where the target
    /// is to see it.
    ///
    /// # Errors
    /// Everything that is wrong with the URL, the message and the metadata.
    pub(super) fn connection(
        &self,
        credential: Option<&Credential>,
    ) -> Result<ConnectionPlan, Vec<Problem>> {
        let url = self.url().map_err(|problem| vec![problem])?;
        let method = CalledMethod::of(&url).map_err(|problem| vec![problem])?;
        let mut problems: Vec<Problem> = self.headers.iter().filter_map(|it| ours(it)).collect();
        let body = self.body(method).unwrap_or_else(|problem| {
            problems.push(problem);
            Vec::new()
        });
        if let CalledMethod::Echo(request) = method
            && request.count > 0
            && (self.messages > 1 || self.ping_pong)
        {
            let expected =
                "1 without --ping-pong where there is a `count`: only the service streams then";
            problems.push(Problem::new("--messages", self.messages, expected));
        }
        let called = url.with_target(method.path(self.messages, self.ping_pong));
        let spec = RequestSpec {
            method: "POST",
            url: &called,
            headers: &self.headers,
            body: &body,
            keep_alive: true,
            credential,
        };
        let request = match RequestTemplate::new(&spec) {
            Ok(request) if problems.is_empty() => request,
            Ok(_) => return Err(problems),
            Err(more) => return Err([problems, more].concat()),
        };
        let is_of_call = |name: &str| !is_of_http_1(name) && name != "content-length";
        let fields = request.fields().iter().filter(|(name, _)| is_of_call(name)).cloned();
        let deadline = self.deadline.and_then(|Span(ns)| deadline::spelled(ns));
        let deadline = deadline.map(|text| ("grpc-timeout", text));
        let own = [("te", "trailers"), ("content-type", CONTENT_TYPE)];
        let own = own.map(|(name, value)| (name, value.to_owned())).into_iter().chain(deadline);
        Ok(ConnectionPlan {
            fields: fields.chain(own.map(|(name, value)| (name.to_owned(), value))).collect(),
            body: body.into(),
            turns: if self.ping_pong { self.messages } else { 1 },
            is_head: false,
            is_call: true,
            streams: self.streams as usize,
            window_bytes: WINDOW_BYTES,
            is_compressed: true,
            credential: credential.cloned(),
        })
    }

    /// Messages that an answer has to have; `None`: that is up to the method.
    pub(super) fn expected_messages(&self) -> Option<u32> {
        match CalledMethod::of(&self.url().ok()?).ok()? {
            CalledMethod::Echo(_) if self.ping_pong => Some(self.messages),
            CalledMethod::Echo(request) => Some(request.count.max(1)),
            CalledMethod::Of(_) => None,
        }
    }

    /// Everything that is wrong.
    pub(super) fn mistakes(&self) -> Vec<Problem> {
        let mut problems = self.connection(None).err().unwrap_or_default();
        if let Ok(url) = self.url() {
            problems.extend(self.tls.problems(&url));
        }
        problems.extend(wrong_streams(self.streams));
        let is_spelled = |Span(ns): &Span| *ns > 0 && deadline::spelled(*ns).is_some();
        if let Some(deadline) = self.deadline.filter(|deadline| !is_spelled(deadline)) {
            let expected = "a time of up to eight digits and a unit, like 50ms";
            problems.push(Problem::new("--deadline", deadline, expected));
        }
        if !self.http2 {
            problems.push(Problem::new("http2", "false", "no such parameter: gRPC is over HTTP/2"));
        }
        problems
    }
}

/// A header that is set here, as a problem.
fn ours(header: &str) -> Option<Problem> {
    let (name, _) = header.split_once(':')?;
    let is_ours = OURS.iter().any(|ours| name.trim().eq_ignore_ascii_case(ours));
    is_ours.then(|| Problem::new("--header", name.trim(), "metadata that gRPC does not set itself"))
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};
    use serde_json::{Value, json};

    use super::*;

    fn parse(arguments: &[&str]) -> Result<Params, clap::Error> {
        let command = Params::augment_args(Command::new("grpc"));
        let matches = command.try_get_matches_from([&["grpc"], arguments].concat())?;
        Params::from_arg_matches(&matches)?.with_files()
    }

    fn connection(url: &str, arguments: &[&str]) -> ConnectionPlan {
        let mut value = json!(parse(arguments).unwrap());
        value["url"] = json!(url);
        let params: Params = serde_json::from_value(value).unwrap();
        params.connection(None).unwrap()
    }

    fn problems(params: Value) -> Vec<String> {
        let params: Params = serde_json::from_value(params).unwrap();
        params.mistakes().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn flags_become_the_call() {
        let plan = connection("http://h:1/?size=1KiB", &["--size", "3", "-H", "A: b"]);
        let field = |plan: &ConnectionPlan, name: &str| {
            let of_name = plan.fields.iter().find(|(known, _)| known == name);
            of_name.map(|(_, value)| value.clone())
        };
        for (name, value) in [
            (":method", "POST"),
            (":path", "/hopbench.v1.Echo/Unary"),
            (":authority", "h:1"),
            ("te", "trailers"),
            ("content-type", "application/grpc"),
            (":scheme", "http"),
            ("a", "b"),
        ] {
            assert_eq!(field(&plan, name).as_deref(), Some(value), "{name}");
        }
        assert_eq!(field(&plan, "content-length"), None);
        assert_eq!(field(&plan, "grpc-timeout"), None);
        assert_eq!(plan.body.len(), 5 + 2 + 3 + 3);
        let plan = connection("h/a.B/C", &["--messages", "2", "--deadline", "1500us"]);
        assert_eq!(field(&plan, ":path").as_deref(), Some("/a.B/C"));
        assert_eq!(field(&plan, "grpc-timeout").as_deref(), Some("1500u"));
        assert_eq!((&plan.body[..], plan.turns), (&[0; 10][..], 1));
        let plan = connection("h", &["--messages", "3", "--ping-pong"]);
        assert_eq!(field(&plan, ":path").as_deref(), Some("/hopbench.v1.Echo/BidiStream"));
        assert_eq!((plan.body.len(), plan.turns), (5, 3));
        assert_eq!(field(&connection("h", &["--tls"]), ":scheme").as_deref(), Some("https"));
    }

    #[test]
    fn a_message_is_sent_as_it_is() {
        let path = std::env::temp_dir().join(format!("hopbench-message-{}", std::process::id()));
        std::fs::write(&path, [8, 0xff]).unwrap();
        let plan = connection("h/a.B/C", &["--message-file", path.to_str().unwrap()]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(plan.body[..], [0, 0, 0, 0, 2, 8, 0xff]);
        let error = parse(&["--message-file", path.to_str().unwrap()]).unwrap_err();
        assert!(error.to_string().contains("--message-file: found `"), "{error}");
    }

    #[test]
    fn every_problem_is_found() {
        for (params, part) in [
            (json!({}), "URL"),
            (json!({"url": "h/a"}), "/package.Service/Method"),
            (json!({"url": "h/?status=17"}), "a status from 0 to 16"),
            (json!({"url": "h", "message_hex": "00"}), "a method in the URL"),
            (json!({"url": "h/a/b", "message_hex": "0"}), "two hexadecimal digits"),
            (json!({"url": "h/a/b", "size": "3B"}), "--message-file"),
            (json!({"url": "h/a/b", "size": "3B", "message_hex": "00"}), "--message-file"),
            (json!({"url": "h", "size": "16MiB"}), "--size"),
            (json!({"url": "h", "http2": false}), "over HTTP/2"),
            (json!({"url": "h", "size": "17MiB"}), "--size"),
            (json!({"url": "h", "messages": 0}), "--messages"),
            (json!({"url": "h", "ping_pong": true, "messages": 1_000_001}), "1 to 1000000"),
            (json!({"url": "h/?count=2", "messages": 2}), "only the service streams"),
            (json!({"url": "h/?count=2", "ping_pong": true}), "only the service streams"),
            (json!({"url": "h", "headers": ["TE: x"]}), "--header"),
            (json!({"url": "h", "headers": ["no colon"]}), "`Name: value`"),
            (json!({"url": "h", "streams": 0}), "--streams"),
            (json!({"url": "h", "deadline": "0s"}), "--deadline"),
            (json!({"url": "h", "deadline": "100000000001ns"}), "--deadline"),
            (json!({"url": "https://h", "tls_version": "1.1"}), "--tls-version"),
        ] {
            let found = problems(params.clone());
            assert!(found.len() == 1 && found[0].contains(part), "{params}: {found:?}");
        }
        assert!(problems(json!({"url": "h"})).is_empty());
    }

    /// Parameters of TLS are among those of the workload, and no others are.
    #[test]
    fn unknown_parameters_are_refused() {
        let read = |value: Value| serde_json::from_value::<Params>(value).map(drop);
        assert!(read(json!({"url": "h", "tls": true, "tls_name": "n"})).is_ok());
        let error = read(json!({"url": "h", "tsl": true})).unwrap_err().to_string();
        assert!(error.contains("unknown field") && error.contains("tsl"), "{error}");
    }
}
