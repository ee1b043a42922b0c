//! Parts of a scenario that are Kubernetes' own: taken over as they stand.

use serde_json::{Map, Value};

use super::fields::{joined, twice};
use super::node::{Kind, Node};
use super::problem::Problems;

/// A value as JSON. What stands without quotes is a number, a truth or nothing where it looks like
/// one.
pub(crate) fn json(node: &Node, path: &str, problems: &mut Problems) -> Value {
    match &node.kind {
        Kind::Null => Value::Null,
        Kind::Scalar(text) if node.quoted => Value::String(text.clone()),
        Kind::Scalar(text) => plain(text).unwrap_or_else(|| {
            let expected = "a decimal number without a leading zero, or a text in quotes";
            problems.add(node.at, path, node.shown(), expected);
            Value::Null
        }),
        Kind::List(list) => {
            Value::Array(list.iter().map(|node| json(node, path, problems)).collect())
        }
        Kind::Map(map) => {
            let mut out = Map::new();
            for (key, value) in map {
                if out
                    .insert(key.text.clone(), json(value, &joined(path, &key.text), problems))
                    .is_some()
                {
                    twice(key, path, problems);
                }
            }
            Value::Object(out)
        }
    }
}

/// `None` for a number like `0644`: octal to one reader, decimal to another.
fn plain(text: &str) -> Option<Value> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    match text {
        "true" | "True" | "TRUE" => return Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Value::Bool(false)),
        _ if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
            return Some(Value::String(text.to_owned()));
        }
        _ => {}
    }
    let number = text.strip_prefix('+').unwrap_or(text);
    let whole = digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole && digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    let number = match number {
        _ if !whole => None,
        number if number.starts_with('-') => number.parse::<i64>().ok().map(Value::from),
        number => number.parse::<u64>().ok().map(Value::from),
    }
    .or_else(|| number.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from));
    Some(number.unwrap_or_else(|| Value::String(text.to_owned())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Value, Vec<String>> {
        let mut problems = Problems::new("x.yaml");
        let node = crate::document::yaml::load(text, &mut problems).expect("a tree");
        let value = json(&node, "patch", &mut problems);
        problems.finish(Some(value)).map_err(|list| list.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_looks_like_a_number_is_one_and_what_is_quoted_is_not() {
        let text = "{a: 1, b: -2, c: 1.5, d: true, e: 'true', f: \"7\", g: , h: x1, i: 10Mi, j: \
                    1e3, k: 0, l: +5,\n\
                    m: [a, {n: ~}], o: 18446744073709551616, p: 1.2.3.4, q: yes}";
        let expected = json!({
            "a": 1, "b": -2, "c": 1.5, "d": true, "e": "true", "f": "7", "g": null, "h": "x1",
            "i": "10Mi", "j": 1000.0,
            "k": 0, "l": 5, "m": ["a", {"n": null}], "o": 18_446_744_073_709_551_616.0,
            "p": "1.2.3.4", "q": "yes",
        });
        assert_eq!(read(text), Ok(expected));
    }

    #[test]
    fn what_readers_disagree_on_is_told() {
        let said = read("{mode: 0644, a: 1, a: 2}").expect_err("two problems");
        assert_eq!(
            said,
            [
                "x.yaml:1:8: patch.mode: found `0644`, expected a decimal number without a leading \
                 zero, or a text in quotes",
                "x.yaml:1:20: patch.a: found `a` a second time, expected each key once",
            ]
        );
    }
}
