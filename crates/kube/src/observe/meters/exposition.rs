//! Prometheus' text format, as kubelets write it.

use std::borrow::Cow;

/// A line that has a value.
#[derive(Debug, PartialEq)]
pub(crate) struct Sample<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: f64,
    /// When it was read, ms since 1970 UTC; absent: when it was asked for.
    pub(crate) at_ms: Option<i64>,
    labels: Vec<(&'a str, Cow<'a, str>)>,
}

impl Sample<'_> {
    /// The value of a label; empty where it has none, which the format says is the same.
    pub(crate) fn label(&self, name: &str) -> &str {
        self.labels.iter().find(|(label, _)| *label == name).map_or("", |(_, value)| value)
    }
}

/// The samples called one of `names`. Others are not looked into: a node with many pods has tens of
/// thousands.
pub(crate) fn samples<'a>(
    text: &'a str,
    names: &'a [&str],
) -> impl Iterator<Item = Result<Sample<'a>, String>> + use<'a> {
    text.lines().filter_map(move |line| {
        let end = line.find(['{', ' ', '\t'])?;
        let (name, rest) = line.split_at(end);
        if !names.contains(&name) {
            return None;
        }
        Some(read(name, rest).ok_or_else(|| format!("a line that cannot be read: {line:?}")))
    })
}

fn read<'a>(name: &'a str, rest: &'a str) -> Option<Sample<'a>> {
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(inner) => read_labels(inner)?,
        None => (Vec::new(), rest),
    };
    let mut words = rest.split_ascii_whitespace();
    let value = words.next()?.parse().ok()?;
    let at_ms = words.next().map(str::parse).transpose().ok()?;
    words.next().is_none().then_some(Sample { name, value, at_ms, labels })
}

type Labels<'a> = Vec<(&'a str, Cow<'a, str>)>;

/// The labels between the braces, and the rest behind them.
fn read_labels(mut rest: &str) -> Option<(Labels<'_>, &str)> {
    let mut labels = Vec::new();
    loop {
        if let Some(behind) = rest.strip_prefix('}') {
            return Some((labels, behind));
        }
        let (name, quoted) = rest.split_once("=\"")?;
        let (value, behind) = unquote(quoted)?;
        if !is_name(name) {
            return None;
        }
        labels.push((name, value));
        rest = match behind.strip_prefix(',') {
            Some(next) => next,
            None if behind.starts_with('}') => behind,
            None => return None,
        };
    }
}

fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
}

/// A text up to its closing quote, and what stands behind that.
fn unquote(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' if !text[..at].contains('\\') => {
                return Some((Cow::Borrowed(&text[..at]), &text[at + 1..]));
            }
            '"' => return Some((Cow::Owned(value), &text[at + 1..])),
            '\\' => value.push(match letters.next()?.1 {
                'n' => '\n',
                other @ ('"' | '\\') => other,
                _ => return None,
            }),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: &[&str] = &["a", "b"];

    #[test]
    fn lines_are_names_labels_values_and_times() {
        let text = "# HELP a x\n# TYPE a counter\na 3\n\
                    b{x=\"1\",y=\"q\\\"u\\\\o\\n}\",} 2.5e1 1795276902524\nab{x=\"broken} 1\n\
                    a{} NaN -5\n";
        let read: Vec<_> = samples(text, NAMES).map(Result::unwrap).collect();
        assert_eq!(read.len(), 3, "`ab` was not asked for: {read:?}");
        assert_eq!((read[0].name, read[0].value, read[0].at_ms), ("a", 3.0, None));
        assert_eq!(
            (read[1].name, read[1].value, read[1].at_ms),
            ("b", 25.0, Some(1_795_276_902_524))
        );
        assert_eq!(
            (read[1].label("x"), read[1].label("y"), read[1].label("z")),
            ("1", "q\"u\\o\n}", "")
        );
        assert!(read[2].value.is_nan() && read[2].at_ms == Some(-5));
    }

    #[test]
    fn what_cannot_be_read_is_shown() {
        for broken in [
            "a{x=\"1\" 3",
            "a{x=1} 3",
            "a ",
            "a{} b",
            "a{x=\"1",
            "a 1 2 3",
            "a 1 x",
            "a{x=\"1\"y=\"2\"} 1",
            "a{=\"1\"} 1",
            "a{x=\"\\t\"} 1",
            "a{,} 1",
        ] {
            let read: Result<Vec<_>, String> = samples(broken, NAMES).collect();
            let why = read.expect_err(broken);
            assert!(why.contains(&format!("{broken:?}")), "{why}");
        }
    }

    fn escaped(value: &str) -> String {
        value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            labels in proptest::collection::btree_map("[a-z_][a-z0-9_]{0,6}", "[^\r]{0,12}", 0..5),
            value in any::<f64>().prop_filter("NaN equals nothing", |v| !v.is_nan()),
            at_ms in proptest::option::of(any::<i64>()),
        ) {
            let inside: Vec<String> =
                labels.iter().map(|(k, v)| format!("{k}=\"{}\"", escaped(v))).collect();
            let time = at_ms.map(|t| format!(" {t}")).unwrap_or_default();
            let line = format!("a{{{}}} {value}{time}", inside.join(","));
            let read: Vec<_> = samples(&line, NAMES).collect();
            prop_assert_eq!(read.len(), 1, "{}", line);
            let sample = read.into_iter().next().unwrap().unwrap();
            prop_assert_eq!(sample.value, value);
            prop_assert_eq!(sample.at_ms, at_ms);
            for (name, value) in &labels {
                prop_assert_eq!(sample.label(name), value);
            }
        }

        #[test]
        fn nothing_makes_it_panic(text in "(a|b|[{}=\",\\\\ \n0-9é]){0,60}") {
            samples(&text, NAMES).for_each(drop);
        }
    }
}
