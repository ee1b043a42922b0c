//! `prometheus:`, where it is.

use hopbench_model::PrometheusSpec;

use crate::document::fields::Fields;
use crate::document::node::Node;
use crate::document::problem::Problems;
use crate::testbed::names::is_label;

/// The keys, of which one is there.
pub(crate) const PROMETHEUS_KEYS: &[&str] = &["url", "service"];

const FORM: &str =
    "where it is: {url: http://prometheus.example:9090} or {service: monitoring/prometheus:9090}";
const URL: &str = "a URL like http://prometheus.example:9090";
const SERVICE: &str = "a Service as NAMESPACE/NAME:PORT, like monitoring/prometheus:9090";

/// Reads the block.
pub(super) fn read(node: &Node, path: &str, problems: &mut Problems) -> Option<PrometheusSpec> {
    let before = problems.count();
    let fields = Fields::read(node, path, PROMETHEUS_KEYS, FORM, problems)?;
    match (fields.get("url"), fields.get("service")) {
        (Some(_), None) => fields
            .checked("url", URL, |url: &String| is_url(url), problems)
            .map(PrometheusSpec::Url),
        (None, Some(node)) => {
            let text: String = fields.parsed("service", SERVICE, problems)?;
            let found = service(&text);
            if found.is_none() {
                problems.add(node.at, &fields.path_of("service"), node.shown(), SERVICE);
            }
            found
        }
        (url, _) => {
            // A key that is misspelt was told already.
            if problems.count() == before {
                let found = if url.is_some() {
                    "`url` beside `service`"
                } else {
                    "neither `url` nor `service`"
                };
                problems.add(fields.at, path, found, FORM);
            }
            None
        }
    }
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    rest.is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[')
            && rest.chars().all(|c| c.is_ascii_graphic())
    })
}

fn service(text: &str) -> Option<PrometheusSpec> {
    let (namespace, rest) = text.split_once('/')?;
    let (name, port) = rest.rsplit_once(':')?;
    let port: u16 = port.parse().ok().filter(|port| *port > 0)?;
    if !is_label(namespace) || !is_label(name) {
        return None;
    }
    let (namespace, name) = (namespace.to_owned(), name.to_owned());
    Some(PrometheusSpec::Service { namespace, name, port })
}
