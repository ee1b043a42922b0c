//! Parts that recur in the schema: patterns of texts, shares and descriptions.

use serde_json::{Value, json};

/// A name that the user gives.
pub(super) const NAME: &str = "^[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}$";
/// The name of a lab's node.
pub(super) const NODE: &str = "[a-z][a-z0-9-]{0,14}";
/// A bit rate.
pub(super) const BIT_RATE: &str = "^[0-9][0-9._]* *[kKMG]?bit(/s)?$";
/// A size, time or rate, as their parsers take it.
pub(super) const QUANTITY: &str = "^ *(max|[0-9][0-9._]* *[A-Za-zµ/]*) *$";
/// A number a second.
pub(super) const NUMBER: &str = "^ *[0-9][0-9._]* *[kM]? *$";
/// Levels from one to the other.
pub(super) const DOUBLING: &str = "^ *[0-9]+ *[.][.] *[0-9]+ *$";
/// A sweep as flags write it.
pub(super) const SWEEP: &str = "^[^:,]+((,[^:,]+)+|:[^:,]+:[*+][^:,]+)$";

/// A key of labels and annotations.
pub(super) const LABEL_KEY: &str =
    "^([a-z0-9][a-z0-9.-]*/)?[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$";

/// Annotations: their values are any text.
pub(super) fn annotations() -> Value {
    json!({
        "type": "object", "minProperties": 1, "propertyNames": {"pattern": LABEL_KEY},
        "additionalProperties": {"type": ["string", "number", "boolean"]},
    })
}

/// A share from and to this, written with a per cent sign or without; of the first only its form is
/// checked.
pub(super) fn share(lowest: f64, highest: f64) -> Value {
    json!({"anyOf": [
        {"type": "number", "minimum": lowest, "maximum": highest},
        {"type": "string", "pattern": "^ *([0-9]+([.][0-9]*)?|[.][0-9]+) *%? *$"},
    ]})
}

pub(super) fn described(mut schema: Value, text: &str) -> Value {
    schema["description"] = Value::String(text.to_owned());
    schema
}
