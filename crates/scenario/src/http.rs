//! The keys of `http` beyond its flags: the server program and the request.

use hopbench_load::http::Url;
use hopbench_model::ServerSpec;
use hopbench_model::units::Bytes;

use crate::document::node::{At, quoted};
use crate::document::problem::Problems;
use crate::document::values::Value;
use crate::vocabulary::{Server, Vocabulary};

/// The keys, with a line about each.
pub(crate) const HTTP_KEYS: &[(&str, &str)] = &[
    ("server", "Who answers"),
    ("response", "Size of the answer's body"),
    ("path", "Path and query to request, from the slash on; instead of response"),
];

/// The largest answer, bytes.
const MOST_RESPONSE: u64 = 1 << 30;

/// Checks one value of one of the keys.
pub(crate) fn check(
    name: &str,
    value: &Value,
    key: &str,
    vocabulary: &Vocabulary,
    problems: &mut Problems,
) -> bool {
    let before = problems.count();
    match name {
        "server" => {
            let known = vocabulary.server_names();
            if !known.contains(&value.text) {
                problems.unknown(value.at, key, &value.text, &known);
            }
        }
        "response" => {
            if !value.text.parse().is_ok_and(|size: Bytes| size.0 <= MOST_RESPONSE) {
                problems.add(value.at, key, quoted(&value.text), "a size like 1KiB, at most 1GiB");
            }
        }
        _ => {
            if let Err(expected) = path(&value.text) {
                problems.add(value.at, key, quoted(&value.text), expected);
            }
        }
    }
    problems.count() == before
}

/// What a path and query look like.
pub(crate) const PATH: &str = "a path from the slash on, like /index.html?lang=en";

/// Whether a text is a path and query that can be requested.
pub(crate) fn path(text: &str) -> Result<(), String> {
    if !text.starts_with('/') || text.contains('#') {
        return Err(PATH.to_owned());
    }
    Url::parse(&stand_in(text)).map(drop).map_err(|error| error.expected.to_owned())
}

/// A URL until the route says where the server is.
pub(crate) fn stand_in(request: &str) -> String {
    format!("http://server{request}")
}

/// Who answers what, from the values of the keys that are there; the agent, `/` for workloads that
/// are not `http`.
#[derive(Debug, Default)]
pub(crate) struct Request<'v> {
    server: Option<&'v str>,
    response: Option<Bytes>,
    path: Option<&'v str>,
}

impl<'v> Request<'v> {
    /// Takes a value that was checked.
    pub(crate) fn set(&mut self, name: &str, value: &'v str) {
        match name {
            "server" => self.server = Some(value),
            "response" => self.response = value.parse().ok(),
            _ => self.path = Some(value),
        }
    }

    /// The server's part of a point.
    pub(crate) fn spec(&self, vocabulary: &Vocabulary) -> ServerSpec {
        let program = self.server.unwrap_or(ServerSpec::AGENT);
        let server = vocabulary.servers().find(|server| server.name == program);
        let request = match (self.path, self.response, server) {
            (Some(path), ..) => path.to_owned(),
            (None, Some(size), Some(server)) => {
                server.request.replace(Server::BYTES, &size.0.to_string())
            }
            (None, None, Some(server)) if !server.is_sized() => server.request,
            (None, ..) => "/".to_owned(),
        };
        ServerSpec {
            program: program.to_owned(),
            request,
            response_bytes: self.response.map(|size| size.0),
        }
    }
}

/// `path` says what is requested, and so does `response`.
pub(crate) fn contradiction(at: At, key: &str, problems: &mut Problems) {
    problems.add(at, key, "`path` beside `response`", "only one of the two");
}

/// Says of the sizes of answers that they are not ours to choose where one of these servers
/// answers.
pub(crate) fn unsized_answers(
    responses: &[Value],
    key: &str,
    servers: &[Value],
    all: &Vocabulary,
    problems: &mut Problems,
) {
    let fixed = servers
        .iter()
        .find(|value| all.servers().any(|server| server.name == value.text && !server.is_sized()));
    if let (Some(response), Some(server)) = (responses.first(), fixed) {
        let expected = format!(
            "no size: what {} answers is up to its image; say what to request with `request: \
             /PATH{}` under the testbed's servers, or leave response out",
            quoted(&server.text),
            Server::BYTES
        );
        problems.add(response.at, key, quoted(&response.text), expected);
    }
}
