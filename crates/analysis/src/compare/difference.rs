//! The differences of two runs besides their figures: where they were measured, and what was asked
//! for.

use std::collections::{BTreeMap, BTreeSet};

use hopbench_model::number::bit_rate;
use hopbench_model::units::Span;
use hopbench_model::{Job, Plan, RunFile};
use serde::Serialize;
use serde_json::{Value, json};

use crate::figures::is_pem;
use crate::text::listing::listing;

/// Something that is not the same in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// `environment`, `testbed` or `plan`.
    pub of: &'static str,
    /// Names of facts or keys that have the same two values.
    pub names: Vec<String>,
    /// The value in the baseline.
    pub baseline: String,
    /// The value in the candidate.
    pub candidate: String,
    /// Whether figures can differ for that reason alone.
    pub matters: bool,
}

impl Difference {
    /// The difference in words: `environment: kernel: 6.1, now 6.2`.
    pub fn text(&self) -> String {
        format!("{}: {}: {}, now {}", self.of, listing(&self.names), self.baseline, self.candidate)
    }
}

/// The value of a fact that a run does not have.
const UNKNOWN: &str = "unknown";
/// Facts of a machine that change no figure by themselves.
const HARMLESS: &[&str] = &["boot_id", "hostname", "memory_bytes"];
/// Facts of a testbed that change no figure, by the last words of their names. They say who got
/// which address, and which node of a cluster a pod was put on where the scenario leaves it open.
const HARMLESS_ENDS: &[&str] = &[" address", " node port", " node"];
/// What stands for the text of certificates.
const CERTIFICATES: &str = "certificates";
const OTHER_CERTIFICATES: &str = "other certificates";
/// Parts of a job that are none of the traffic's: cells in which only these differ are compared.
const NOT_THE_JOB: &[&str] = &["seed", "timing.window_ns", "timing.interval_ns"];
/// Keys of a plan that change no figure.
const HARMLESS_KEYS: &[&str] = &["rounds", "seed", "baseline", "twin", "stop", "minimum-effect"];

/// All differences between a run and another, those that matter first.
pub(crate) fn between(a: &RunFile, b: &RunFile) -> Vec<Difference> {
    let mut found = Collected::default();
    facts(&mut found, "environment", &a.environment, &b.environment, |name, _| {
        !HARMLESS.contains(&name)
    });
    facts(&mut found, "testbed", &a.testbed, &b.testbed, |name, both| {
        let harmless = HARMLESS_ENDS.iter().any(|end| name.ends_with(end));
        // What only one run has is of paths that only it has.
        let of_one = !both && (name.starts_with("pod ") || name.starts_with("service "));
        // Of a cluster, `node a` is which of its nodes that was.
        let is_name = name.strip_prefix("node ").is_some_and(|node| !node.contains(' '));
        !harmless && !of_one && !is_name
    });
    plans(&mut found, &a.plan, &b.plan);
    found.all()
}

/// In what two jobs differ, in words, besides the seed and the length of the window; empty: in
/// nothing.
pub(crate) fn jobs(a: &Job, b: &Job) -> String {
    let changes = changes(&json!(a), &json!(b));
    let counted = changes.into_iter().filter(|change| !NOT_THE_JOB.contains(&change.key.as_str()));
    let texts: Vec<_> =
        counted.map(|change| format!("{} {}, now {}", change.key, change.a, change.b)).collect();
    texts.join("; ")
}

/// Differences with the same two values, together.
#[derive(Default)]
struct Collected(BTreeMap<(bool, &'static str, String, String), Vec<String>>);

impl Collected {
    fn add(&mut self, of: &'static str, name: String, (a, b): (String, String), matters: bool) {
        let names = self.0.entry((!matters, of, a, b)).or_default();
        if !names.contains(&name) {
            names.push(name);
        }
    }

    fn all(self) -> Vec<Difference> {
        let all = self.0.into_iter();
        all.map(|((harmless, of, baseline, candidate), names)| Difference {
            of,
            names,
            baseline,
            candidate,
            matters: !harmless,
        })
        .collect()
    }
}

/// Facts that differ; `matters` is told the name, and whether both have it.
fn facts(
    found: &mut Collected,
    of: &'static str,
    a: &BTreeMap<String, String>,
    b: &BTreeMap<String, String>,
    matters: impl Fn(&str, bool) -> bool,
) {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    for name in names {
        let (one, other) = (a.get(name), b.get(name));
        if one != other {
            let text = |value: Option<&String>| value.map_or(UNKNOWN, String::as_str).to_owned();
            let both = one.is_some() && other.is_some();
            found.add(of, name.clone(), (text(one), text(other)), matters(name, both));
        }
    }
}

fn plans(found: &mut Collected, a: &Plan, b: &Plan) {
    let keys = |plan: &Plan| {
        json!({
            "testbed": plan.testbed, "rounds": plan.rounds, "seed": plan.seed,
            "baseline": plan.baseline,
            "twin": plan.twin, "stop": plan.stop, "minimum-effect": plan.minimum_effect,
            "subjects": plan.subjects,
        })
    };
    for change in changes(&keys(a), &keys(b)) {
        let matters = !HARMLESS_KEYS.iter().any(|key| change.key.split('.').next() == Some(key));
        found.add("plan", change.key, (change.a, change.b), matters);
    }
    for one in &a.paths {
        let others = b.paths.iter().filter(|other| other.name == one.name);
        for change in others.flat_map(|other| changes(&json!(one), &json!(other))) {
            found.add(
                "plan",
                format!("{} of path {}", change.key, one.name),
                (change.a, change.b),
                true,
            );
        }
    }
    for one in &a.points {
        let same = b
            .points
            .iter()
            .filter(|other| other.workload == one.workload && other.point == one.point);
        for other in same {
            let pair = (
                json!({"job": one.job, "server": one.server}),
                json!({"job": other.job, "server": other.server}),
            );
            for change in changes(&pair.0, &pair.1) {
                let key = change.key.strip_prefix("job.").unwrap_or(&change.key);
                // The seed follows from the plan's, and how a window is cut is nobody's figure.
                let matters = !matches!(key, "seed" | "timing.interval_ns");
                if key != "seed" {
                    found.add(
                        "plan",
                        format!("{key} of {}", one.workload),
                        (change.a, change.b),
                        matters,
                    );
                }
            }
        }
    }
}

/// A value that differs.
struct Change {
    /// Its place: `timing.window_ns`.
    key: String,
    a: String,
    b: String,
}

fn changes(a: &Value, b: &Value) -> Vec<Change> {
    let mut out = Vec::new();
    descend("", a, b, &mut out);
    out
}

fn descend(key: &str, a: &Value, b: &Value, out: &mut Vec<Change>) {
    let below = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
    match (a, b) {
        (Value::Object(one), Value::Object(other)) => {
            let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for name in names {
                let of = |map: &serde_json::Map<String, Value>| {
                    map.get(name).cloned().unwrap_or_default()
                };
                descend(&below(name), &of(one), &of(other), out);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                // Nodes have names.
                let name = one["name"].as_str().map_or_else(|| index.to_string(), str::to_owned);
                descend(&below(&name), one, other, out);
            }
        }
        _ if a == b => {}
        _ => {
            let (one, mut other) = (text(key, a), text(key, b));
            // Their texts say nothing to people.
            if one == CERTIFICATES && other == CERTIFICATES {
                OTHER_CERTIFICATES.clone_into(&mut other);
            }
            out.push(Change { key: key.to_owned(), a: one, b: other });
        }
    }
}

/// A value of this key for people.
fn text(key: &str, value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) if is_pem(text) => CERTIFICATES.to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_u64() {
            Some(ns) if key.ends_with("_ns") => Span(ns).to_string(),
            Some(bits) if key.ends_with("_bits_per_s") => bit_rate(bits as f64),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named_with_its_place_and_both_values() {
        let one = json!({
            "nodes": [{"name": "a", "link_bits_per_s": 100_000_000u64}], "mtu": 1500,
            "timing": {"window_ns": 1_000_000_000u64},
            "tls_certificates": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        });
        let other = json!({
            "nodes": [{"name": "a"}], "mtu": 1500, "timing": {"window_ns": 500_000_000u64},
            "tls_certificates": "-----BEGIN CERTIFICATE-----\nBBBB\n-----END CERTIFICATE-----\n",
        });
        let texts: Vec<_> = changes(&one, &other)
            .into_iter()
            .map(|c| format!("{}: {}, {}", c.key, c.a, c.b))
            .collect();
        assert_eq!(
            texts,
            [
                "nodes.a.link_bits_per_s: 100.0 Mbit/s, none",
                "timing.window_ns: 1s, 500ms",
                "tls_certificates: certificates, other certificates",
            ]
        );
        assert!(changes(&one, &one).is_empty());
    }
}
