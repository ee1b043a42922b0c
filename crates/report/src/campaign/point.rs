//! The values of points as people write them, and the numbers behind them.

use hopbench_model::units::{BitRate, Bytes, Span};
use serde_json::Value;

/// A value as it was written.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The number of a value, for an axis: bytes, bits/s or ns where it has a unit; `None` for a word.
pub(crate) fn number(value: &Value) -> Option<f64> {
    let text = match value {
        Value::Number(number) => return number.as_f64(),
        Value::String(text) => text,
        _ => return None,
    };
    let bytes = text.parse::<Bytes>().map(|bytes| bytes.0);
    let number = bytes.or_else(|_| text.parse::<BitRate>().map(|rate| rate.0));
    number.or_else(|_| text.parse::<Span>().map(|span| span.0)).ok().map(|number| number as f64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_has_a_number_unless_it_is_a_word() {
        for (value, expected) in [
            (json!("4KiB"), Some(4096.0)),
            (json!(64), Some(64.0)),
            (json!("1Gbit"), Some(1e9)),
            (json!("5ms"), Some(5e6)),
            (json!("copy"), None),
            (json!(null), None),
        ] {
            assert_eq!(number(&value), expected, "{value}");
        }
    }
}
