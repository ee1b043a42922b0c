//! Paths of plain names into JSON: `$.credential.access_token`, `$['credential']['token'][0]`.
//!
//! kube-client follows such a path in one place: `token-key` and `expiry-key` of a kubeconfig's old
//! `auth-provider` with a program. For that it depends on a crate with the full language of
//! filters, a parser generator and regular expressions. This crate has that one's name and the part
//! of its interface that is used; the workspace's `[patch.crates-io]` puts it there. A path that
//! needs the full language is refused.

use serde_json::Value;

/// Why a path is not followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonPathError {
    /// It is not made of names and numbers alone.
    #[error("found `{0}` in the path, expected `.name`, `['name']` or `[number]`")]
    Unsupported(String),
}

/// What can be asked for what is at a path.
pub trait JsonPath {
    /// The values at `path`: one, or none.
    ///
    /// # Errors
    /// A path that is not made of names and numbers alone.
    fn query(&self, path: &str) -> Result<Vec<&Self>, JsonPathError>;
}

impl JsonPath for Value {
    fn query(&self, path: &str) -> Result<Vec<&Self>, JsonPathError> {
        let mut rest = path.trim().strip_prefix('$').ok_or_else(|| unsupported(path))?;
        let mut found = Some(self);
        while !rest.is_empty() {
            let (step, after) = step(rest).ok_or_else(|| unsupported(rest))?;
            found = found.and_then(|value| match step {
                Segment::Name(name) => value.as_object()?.get(name),
                Segment::Number(number) => value.as_array()?.get(number),
            });
            rest = after;
        }
        Ok(found.into_iter().collect())
    }
}

/// One part of a path.
enum Segment<'a> {
    Name(&'a str),
    Number(usize),
}

/// The first step of `rest`, and what comes after it.
fn step(rest: &str) -> Option<(Segment<'_>, &str)> {
    if let Some(rest) = rest.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        return is_plain(name).then_some((Segment::Name(name), after));
    }
    let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
    for quote in ['\'', '"'] {
        if let Some(name) = inside.strip_prefix(quote).and_then(|name| name.strip_suffix(quote)) {
            return (!name.contains([quote, '\\'])).then_some((Segment::Name(name), after));
        }
    }
    Some((Segment::Number(inside.parse().ok()?), after))
}

fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-' || !c.is_ascii();
    !name.is_empty() && name.chars().all(plain)
}

fn unsupported(part: &str) -> JsonPathError {
    JsonPathError::Unsupported(part.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_and_numbers_lead_to_one_value() {
        let value = json!({"credential": {"access_token": "t", "all": [1, {"of": 2}]}, "a.b": 3});
        for (path, there) in [
            ("$", value.clone()),
            ("$.credential.access_token", json!("t")),
            ("$['credential'][\"access_token\"]", json!("t")),
            ("$.credential.all[1].of", json!(2)),
            ("$['a.b']", json!(3)),
        ] {
            assert_eq!(value.query(path), Ok(vec![&there]), "{path}");
        }
    }

    #[test]
    fn what_is_not_there_is_nothing() {
        let value = json!({"a": [1], "b": "text"});
        for path in ["$.c", "$.a[1]", "$.a.x", "$.b[0]", "$.b.c.d"] {
            assert_eq!(value.query(path), Ok(Vec::new()), "{path}");
        }
    }

    #[test]
    fn the_full_language_is_refused() {
        let value = json!({"a": [1]});
        #[rustfmt::skip]
        let paths = [
            "a", "$..a", "$.*", "$.a[*]", "$.a[?(@>0)]", "$.a[0:1]", "$.a[-1]", "$.a[0", "$.",
            "$['a','b']",
        ];
        for path in paths {
            assert!(matches!(value.query(path), Err(JsonPathError::Unsupported(_))), "{path}");
        }
    }
}
