//! Secrets, which are sent and never shown: values of headers, and the private key of a client's
//! certificate.
//!
//! A header is secret by its name: see [`is_secret`]. In a plan, a job or a record, a secret is
//! [`REDACTED`]. The value of a header can also be a reference like `env:TOKEN`, which is no
//! secret. The secrets themselves are in [`Secrets`]. It is neither printed nor written to a file,
//! and only the clients' agents get it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::values::redacted::{HEADERS, PRIVATE_KEY, reference};
use crate::{Fault, Job};

pub use crate::values::redacted::{REDACTED, is_secret, redacted};

/// The parameter that holds its certificate.
const CERTIFICATES: &str = "tls_certificates";

/// The headers of a job that take their value from the environment, with the variable.
pub fn references(job: &Job) -> Vec<(&str, &str)> {
    let headers = job.params.get(HEADERS).and_then(Value::as_array).into_iter().flatten();
    let named = headers.filter_map(|header| header.as_str()?.split_once(':'));
    named.filter_map(|(name, value)| Some((name, reference(value)?.1))).collect()
}

/// The secrets of a plan.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// Headers, by the workload's name and the header's place in its list.
    headers: BTreeMap<(String, usize), String>,
    /// Private keys, by the certificates that they belong to.
    keys: BTreeMap<String, String>,
}

/// Says how many there are, and no value.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.headers.len() + self.keys.len())
    }
}

impl Secrets {
    /// Takes the values of secret headers and the private key out of a job of this workload;
    /// [`REDACTED`] stands in their place.
    pub fn take(&mut self, workload: &str, job: &mut Job) {
        for (index, header) in headers_mut(job) {
            if let Cow::Owned(shown) = redacted(header) {
                self.headers.insert((workload.to_owned(), index), std::mem::replace(header, shown));
            }
        }
        let certificates = certificates(job).to_owned();
        if let Some(Value::String(key)) = job.params.get_mut(PRIVATE_KEY)
            && key != REDACTED
        {
            self.keys.insert(certificates, std::mem::replace(key, REDACTED.to_owned()));
        }
    }

    /// The headers whose values these are, `Name: value` each.
    fn headers(&self) -> impl Iterator<Item = &str> {
        self.headers.values().map(String::as_str)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty() && self.keys.is_empty()
    }

    /// A job as it is sent: with the values that were taken out, and those that `variable` knows
    /// for references.
    ///
    /// # Errors
    /// A secret that is not here (it was redacted when a run began), or a variable that is not set
    /// (input).
    pub fn restored(
        &self,
        workload: &str,
        job: &Job,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Job, Fault> {
        let mut job = job.clone();
        for (index, header) in headers_mut(&mut job) {
            let Some((name, value)) = header.split_once(':') else { continue };
            if value.trim() == REDACTED {
                let Some(known) = self.headers.get(&(workload.to_owned(), index)) else {
                    return Err(Fault::input(format!(
                        "workload `{workload}`: the value of the header `{name}` was not kept; \
                         give the scenario again, as in `hopbench run SCENARIO --resume DIR`, or \
                         write `{name}: env:VARIABLE` in a new run"
                    )));
                };
                header.clone_from(known);
            } else if let Some((scheme, variable_name)) = reference(value) {
                let Some(found) = variable(variable_name) else {
                    return Err(Fault::input(format!(
                        "workload `{workload}`: the header `{name}` takes its value from the \
                         environment variable {variable_name}, which is not set"
                    )));
                };
                *header =
                    format!("{name}: {scheme}{}{found}", if scheme.is_empty() { "" } else { " " });
            }
        }
        if job.params[PRIVATE_KEY] == REDACTED {
            let Some(known) = self.keys.get(certificates(&job)).cloned() else {
                return Err(Fault::input(format!(
                    "workload `{workload}`: the private key of `tls-cert` was not kept; give the \
                     scenario again, as in `hopbench run SCENARIO --resume DIR`"
                )));
            };
            job.params[PRIVATE_KEY] = known.into();
        }
        Ok(job)
    }

    /// A text that holds the headers, as a scenario does, without their values; in comments,
    /// headers that are secret by their names are redacted, too.
    pub fn redact(&self, text: &str) -> String {
        let mut out = without_comments(text);
        for header in self.headers() {
            let (name, value) = header.split_once(':').unwrap_or((header, ""));
            let value = value.trim();
            let (found, replaced) = behind_name(&out, name, value);
            // A short value may be part of other words.
            let elsewhere = value.len() >= LONG && out.contains(value);
            if !found && !elsewhere {
                return format!(
                    "# The scenario spells the header {name} in a way that cannot be redacted; it \
                     is not kept.\n"
                );
            }
            out = if value.len() >= LONG { replaced.replace(value, REDACTED) } else { replaced };
        }
        out
    }
}

/// A value of so many bytes is redacted wherever it stands.
const LONG: usize = 6;

/// The text with the value replaced wherever it stands behind the name and a colon, and whether it
/// does.
fn behind_name(text: &str, name: &str, value: &str) -> (bool, String) {
    let (mut out, mut rest, mut found) = (String::with_capacity(text.len()), text, false);
    let lower = text.to_ascii_lowercase();
    let name = name.to_ascii_lowercase();
    while let Some(at) = lower[text.len() - rest.len()..].find(&name) {
        let end = at + name.len();
        out.push_str(&rest[..end]);
        rest = &rest[end..];
        let gap = rest.len() - rest.trim_start_matches([':', ' ', '\t', '"', '\'']).len();
        if rest[..gap].contains(':') && rest[gap..].starts_with(value) {
            out.push_str(&rest[..gap]);
            out.push_str(REDACTED);
            rest = &rest[gap + value.len()..];
            found = true;
        }
    }
    out.push_str(rest);
    (found, out)
}

/// The text with the rest of a comment redacted behind the name of a secret header and a colon.
fn without_comments(text: &str) -> String {
    let one = |line: &str| {
        let begin = if line.trim_start().starts_with('#') { Some(0) } else { line.find(" #") };
        let colon = begin.and_then(|begin| {
            let mut colons = line[begin..].match_indices(':').map(|(at, _)| begin + at);
            colons.find(|at| {
                let name =
                    line[begin..*at].rsplit([' ', '\t', '"', '\'', '#', '[', '{', ',']).next();
                name.is_some_and(is_secret) && !line[at + 1..].trim().is_empty()
            })
        });
        colon.map_or_else(|| line.to_owned(), |at| format!("{}: {REDACTED}", &line[..at]))
    };
    text.split('\n').map(one).collect::<Vec<_>>().join("\n")
}

/// The certificates of a job's client, in PEM; none where it has none.
fn certificates(job: &Job) -> &str {
    job.params[CERTIFICATES].as_str().unwrap_or_default()
}

fn headers_mut(job: &mut Job) -> impl Iterator<Item = (usize, &mut String)> {
    let headers = job.params.get_mut(HEADERS).and_then(Value::as_array_mut);
    headers.into_iter().flatten().enumerate().filter_map(|(index, header)| match header {
        Value::String(header) => Some((index, header)),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
