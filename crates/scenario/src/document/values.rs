//! The values of a key: one, a list, or a range.

use std::str::FromStr;

use hopbench_model::units::{BitRate, Bytes, Span, per_s};
use hopbench_model::{Scale, Sweep};

use super::fields::Fields;
use super::node::{At, Kind, Node};
use super::problem::Problems;

/// The keys of a range.
pub(crate) const RANGE_KEYS: &[&str] = &["from", "to", "factor", "step"];

const FORM: &str = "a value, a list of values, or a range like {from: 1B, to: 256KiB, factor: 64}";
const RANGE: &str =
    "a range with from, to and either factor or step, like {from: 1B, to: 256KiB, factor: 64}";

/// One value as text, as a flag takes it, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) text: String,
    pub(crate) at: At,
}

/// The values that a key takes in turn. `notation`: whether a text may be a sweep as flags write
/// it, `1:64:*8` or `1,64`.
pub(crate) fn read(
    node: &Node,
    path: &str,
    notation: bool,
    problems: &mut Problems,
) -> Option<Vec<Value>> {
    match &node.kind {
        Kind::Scalar(text) => {
            let texts = if notation { expand(text) } else { None };
            let texts = texts.unwrap_or_else(|| vec![text.clone()]);
            Some(texts.into_iter().map(|text| Value { text, at: node.at }).collect())
        }
        Kind::List(list) if !list.is_empty() => {
            let mut out = Some(Vec::new());
            for node in list {
                match (node.text(), &mut out) {
                    (Some(text), Some(out)) => {
                        out.push(Value { text: text.to_owned(), at: node.at });
                    }
                    (Some(_), None) => {}
                    (None, _) => {
                        problems.add(node.at, path, node.shown(), "a value");
                        out = None;
                    }
                }
            }
            out
        }
        Kind::Map(_) => range(node, path, problems),
        Kind::Null | Kind::List(_) => {
            problems.add(node.at, path, node.shown(), FORM);
            None
        }
    }
}

/// A number without its `k` or `M`: `10k` is `10000`; what is none stays as it is.
pub(crate) fn plain(text: &str) -> String {
    let is_plain = text.trim().parse::<f64>().is_ok();
    per_s(text)
        .ok()
        .filter(|_| !is_plain)
        .map_or_else(|| text.to_owned(), |number| number.to_string())
}

/// The same with all its numbers plain.
pub(crate) fn plainly(node: &Node) -> Node {
    let kind = match &node.kind {
        Kind::Scalar(text) => Kind::Scalar(plain(text)),
        Kind::List(list) => Kind::List(list.iter().map(plainly).collect()),
        Kind::Map(map) => {
            Kind::Map(map.iter().map(|(key, node)| (key.clone(), plainly(node))).collect())
        }
        Kind::Null => Kind::Null,
    };
    Node { quoted: node.quoted, ..Node::new(node.at, kind) }
}

/// The values that a sweep in the notation of flags stands for; `None` if it is none.
fn expand(text: &str) -> Option<Vec<String>> {
    if text.contains(':') {
        return SCALES.iter().find_map(|scale| scale.sweep(text)?.ok());
    }
    text.contains(',').then(|| text.split(',').map(|part| part.trim().to_owned()).collect())
}

fn range(node: &Node, path: &str, problems: &mut Problems) -> Option<Vec<Value>> {
    let fields = Fields::read(node, path, RANGE_KEYS, FORM, problems)?;
    let texts: Vec<Option<String>> = RANGE_KEYS
        .iter()
        .map(|name| fields.get(name).and_then(|n| fields_text(n, &fields.path_of(name), problems)))
        .collect();
    let step = match (&texts[2], &texts[3]) {
        (Some(factor), None) => format!("*{factor}"),
        (None, Some(step)) => format!("+{step}"),
        _ => {
            let given: Vec<&str> =
                RANGE_KEYS.iter().copied().filter(|name| fields.get(name).is_some()).collect();
            let given = if given.is_empty() { "no key".to_owned() } else { given.join(", ") };
            problems.add(fields.at, path, given, RANGE);
            return None;
        }
    };
    let (Some(from), Some(to)) = (&texts[0], &texts[1]) else {
        problems.add(fields.at, path, "only one end", RANGE);
        return None;
    };
    let text = format!("{from}:{to}:{step}");
    // Of the scales that know both ends, one knows what else is wrong.
    let Some(values) = SCALES.iter().find_map(|scale| scale.sweep(&text)) else {
        problems.add(
            fields.at,
            path,
            format!("`{from}` to `{to}`"),
            "two whole numbers, sizes, times or bit rates",
        );
        return None;
    };
    match values {
        Ok(texts) => Some(texts.into_iter().map(|text| Value { text, at: fields.at }).collect()),
        Err(said) => {
            problems.add(
                fields.at,
                path,
                format!("`{text}`"),
                format!("a range that can be measured: {said}"),
            );
            None
        }
    }
}

fn fields_text(node: &Node, path: &str, problems: &mut Problems) -> Option<String> {
    crate::document::fields::parsed(node, path, "a value like 64, 1KiB, 10ms or 100Mbit", problems)
}

/// What a range can count.
struct ScaleOf {
    /// Whether a text is of this scale.
    knows: fn(&str) -> bool,
    /// The values of a sweep, as texts that are of this scale again.
    values: fn(&str) -> Result<Vec<String>, String>,
}

const SCALES: [ScaleOf; 4] =
    [ScaleOf::of::<u64>(), ScaleOf::of::<Bytes>(), ScaleOf::of::<Time>(), ScaleOf::of::<Rate>()];

impl ScaleOf {
    const fn of<T: Scale + ToString>() -> Self {
        Self { knows: |text| text.trim().parse::<T>().is_ok(), values: values::<T> }
    }

    /// `None` if an end of the sweep is not of this scale.
    fn sweep(&self, text: &str) -> Option<Result<Vec<String>, String>> {
        let mut parts = text.split(':');
        let ends = [parts.next()?, parts.next()?];
        ends.iter().all(|end| (self.knows)(end)).then(|| (self.values)(text))
    }
}

fn values<T: Scale + ToString>(text: &str) -> Result<Vec<String>, String> {
    let sweep: Sweep<T> = text.parse()?;
    Ok(sweep.values().iter().map(ToString::to_string).collect())
}

/// Quantities that the model knows and does not sweep itself.
macro_rules! scale {
    ($name:ident, $of:ident) => {
        #[derive(Clone, Copy)]
        struct $name($of);

        impl FromStr for $name {
            type Err = <$of as FromStr>::Err;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl Scale for $name {
            fn from_count(count: u64) -> Self {
                Self($of(count))
            }

            fn count(self) -> u64 {
                self.0.0
            }
        }
    };
}
scale!(Time, Span);
scale!(Rate, BitRate);
