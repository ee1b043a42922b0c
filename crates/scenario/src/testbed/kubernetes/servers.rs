//! `servers:`, programs that answer HTTP, in images of their own.

use std::collections::BTreeMap;

use hopbench_model::{ServerImage, ServerSpec};

use super::networks::entries;
use crate::document::fields::{Fields, joined};
use crate::document::node::{Kind, Node};
use crate::document::problem::Problems;
use crate::http;
use crate::testbed::names;
use crate::vocabulary::Server;

/// The keys of a server.
pub(crate) const SERVER_KEYS: &[&str] = &["image", "port", "cpus", "args", "request"];

const SERVERS: &str = "servers by name, like {nginx: {image: nginx:1.28, port: 80}}";
const SERVER: &str = "an image and its port, like {image: nginx:1.28, port: 80}";
const CPUS: &str = "CPUs like 2, 0.5 or 500m, from 1m to 1024";
const ARGS: &str = "arguments like [--port, \"80\"]";
/// The port of servers that say none.
const PORT: u16 = 80;

/// Reads the mapping.
pub(super) fn read(
    node: &Node,
    path: &str,
    problems: &mut Problems,
) -> BTreeMap<String, ServerImage> {
    let mut out = BTreeMap::new();
    for (name, at, value) in entries(node, path, SERVERS, problems).unwrap_or_default() {
        let key_path = joined(path, name);
        if name == ServerSpec::AGENT {
            problems.add(
                at,
                &key_path,
                format!("`{name}`"),
                "another name: that is the agent itself",
            );
        }
        out.extend(server(value, &key_path, problems).map(|server| (name.to_owned(), server)));
    }
    out
}

fn server(node: &Node, path: &str, problems: &mut Problems) -> Option<ServerImage> {
    let fields = Fields::read(node, path, SERVER_KEYS, SERVER, problems)?;
    if fields.get("image").is_none() {
        problems.add(fields.at, path, "no `image`", SERVER);
    }
    let image =
        fields.checked("image", names::IMAGE, |image: &String| names::is_image(image), problems);
    let port = fields
        .checked("port", "a port from 1 to 65535", |port: &u16| *port > 0, problems)
        .unwrap_or(PORT);
    let cpus: Option<String> =
        fields.checked("cpus", CPUS, |text: &String| millis(text).is_some(), problems);
    let args = fields
        .get("args")
        .map_or_else(Vec::new, |node| args(node, &fields.path_of("args"), problems));
    let request = fields.parsed::<String>("request", http::PATH, problems);
    if let (Some(request), Some(node)) = (&request, fields.get("request"))
        && let Err(expected) = http::path(&request.replace(Server::BYTES, "1"))
    {
        problems.add(node.at, &fields.path_of("request"), node.shown(), expected);
    }
    Some(ServerImage {
        image: image?,
        port,
        cpu_millis: cpus.and_then(|text| millis(&text)),
        args,
        request,
    })
}

fn args(node: &Node, path: &str, problems: &mut Problems) -> Vec<String> {
    let Kind::List(list) = &node.kind else {
        problems.add(node.at, path, node.shown(), ARGS);
        return Vec::new();
    };
    let mut out = Vec::new();
    for arg in list {
        match arg.text() {
            Some(text) => out.push(text.to_owned()),
            None => problems.add(arg.at, path, arg.shown(), "a text"),
        }
    }
    out
}

/// Thousandths of CPUs, as Kubernetes writes them.
fn millis(text: &str) -> Option<u64> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let millis = match text.strip_suffix('m') {
        Some(millis) => millis.parse().ok().filter(|_| digits(millis))?,
        None => {
            let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
            let known = digits(whole) && digits(part) && part.len() <= 3;
            let thousandths: u64 = format!("{part:0<3}").parse().ok().filter(|_| known)?;
            whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(thousandths)?
        }
    };
    (1..=1_024_000).contains(&millis).then_some(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_thousandths() {
        for (text, expected) in [
            ("2", Some(2000)),
            ("0.5", Some(500)),
            ("0.05", Some(50)),
            ("1.250", Some(1250)),
            ("500m", Some(500)),
            ("1024", Some(1_024_000)),
            ("1025", None),
            ("0", None),
            ("0.0005", None),
            ("-1", None),
            ("+1", None),
            ("1.", None),
            (".5", None),
            ("m", None),
            ("1e3", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(millis(text), expected, "{text}");
        }
    }
}
