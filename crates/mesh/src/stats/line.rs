//! The lines of an answer: Prometheus' text format.

use std::collections::BTreeMap;

/// One value.
#[derive(Debug, PartialEq)]
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) labels: BTreeMap<&'a str, String>,
    pub(super) value: f64,
}

impl Line<'_> {
    /// The value of a label, if it has that.
    pub(super) fn label(&self, name: &str) -> Option<&str> {
        self.labels.get(name).map(String::as_str)
    }
}

/// The values of an answer; comments are left out.
pub(super) fn lines(body: &[u8]) -> Result<Vec<Line<'_>>, String> {
    let text =
        str::from_utf8(body).map_err(|_| "the proxy's statistics are not text".to_owned())?;
    let said = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    said.map(|line| {
        read(line)
            .ok_or_else(|| format!("in the proxy's statistics a line cannot be read: {line:?}"))
    })
    .collect()
}

fn read(line: &str) -> Option<Line<'_>> {
    let (name, labels, value) = match line.split_once('{') {
        Some((name, rest)) => {
            let (labels, value) = read_labels(rest)?;
            (name, labels, value)
        }
        None => {
            let (name, value) = line.split_once(' ')?;
            (name, BTreeMap::new(), value)
        }
    };
    Some(Line { name, labels, value: value.trim().parse().ok()? })
}

/// The labels between the braces, and the rest behind them.
fn read_labels(mut rest: &str) -> Option<(BTreeMap<&str, String>, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        if let Some(behind) = rest.strip_prefix('}') {
            return Some((labels, behind));
        }
        let (name, quoted) = rest.split_once("=\"")?;
        let (value, behind) = unquote(quoted)?;
        labels.insert(name, value);
        rest = behind.strip_prefix(',').unwrap_or(behind);
    }
}

/// A text up to its closing quote, and what stands behind that.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match (escaped, letter) {
            (false, '"') => return Some((value, &text[at + 1..])),
            (false, '\\') => escaped = true,
            (true, 'n') => {
                value.push('\n');
                escaped = false;
            }
            (_, other) => {
                value.push(other);
                escaped = false;
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_names_labels_and_values() {
        let body = b"# TYPE a counter\na{} 3\n\nb{x=\"1\",y=\"q\\\"u\\\\o\\n}\"} 2.5\nc 4\n\
                     d{q=\"0\"} nan\n";
        let read = lines(body).unwrap();
        let labels =
            |all: &[(&'static str, &str)]| all.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
        assert_eq!(read[0], Line { name: "a", labels: labels(&[]), value: 3.0 });
        assert_eq!(
            read[1],
            Line { name: "b", labels: labels(&[("x", "1"), ("y", "q\"u\\o\n}")]), value: 2.5 }
        );
        assert_eq!(read[2], Line { name: "c", labels: labels(&[]), value: 4.0 });
        assert!(read[3].value.is_nan() && read.len() == 4);
    }

    #[test]
    fn what_cannot_be_read_is_shown() {
        for broken in ["a{x=\"1\" 3", "a{x=1} 3", "a", "a{} b", "a{x=\"1"] {
            let fault = lines(broken.as_bytes()).unwrap_err();
            assert!(fault.contains(&format!("{broken:?}")), "{fault}");
        }
        assert!(lines(b"\xff").unwrap_err().contains("not text"));
    }
}
