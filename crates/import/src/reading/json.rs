//! JSON by its fields. Numbers may stand in texts, as some writers have large counts.

use hopbench_model::{Problem, printable};
use serde_json::Value;

use super::MOST_SHOWN;

/// A file of JSON. Fields are named by pointers: `/end/sum/seconds`.
#[derive(Debug)]
pub(crate) struct Json<'a> {
    file: &'a str,
    root: &'a Value,
}

impl<'a> Json<'a> {
    pub(crate) fn new(file: &'a str, root: &'a Value) -> Self {
        Self { file, root }
    }

    /// A field; `None` where it is absent or null.
    pub(crate) fn at(&self, pointer: &str) -> Option<&'a Value> {
        self.root.pointer(pointer).filter(|found| !found.is_null())
    }

    /// Whether a field is there.
    pub(crate) fn has(&self, pointer: &str) -> bool {
        self.at(pointer).is_some()
    }

    /// A text; `None` where it is absent or something else.
    pub(crate) fn text(&self, pointer: &str) -> Option<&'a str> {
        self.at(pointer)?.as_str()
    }

    /// Whether a switch is on: `true`, or a number other than 0.
    pub(crate) fn is_on(&self, pointer: &str) -> bool {
        self.at(pointer).is_some_and(|found| found == true || number(found).unwrap_or(0.0) != 0.0)
    }

    /// A number; `None` where it is absent.
    pub(crate) fn number(&self, pointer: &str) -> Result<Option<f64>, Problem> {
        match self.at(pointer).map(number) {
            None => Ok(None),
            Some(Some(value)) => Ok(Some(value)),
            Some(None) => Err(self.wrong(pointer, "a number")),
        }
    }

    /// A number of 0 or more; `None` where it is absent.
    pub(crate) fn amount(&self, pointer: &str) -> Result<Option<f64>, Problem> {
        match self.number(pointer)? {
            Some(value) if value < 0.0 => Err(self.wrong(pointer, "a number of 0 or more")),
            value => Ok(value),
        }
    }

    /// A number of 0 or more that the format always has.
    pub(crate) fn needed(&self, pointer: &str) -> Result<f64, Problem> {
        let expected = "a number; the file may be cut off, or of a run that failed";
        self.amount(pointer)?.ok_or_else(|| self.wrong(pointer, expected))
    }

    /// A length of time that is more than 0, s. In `unit_s` is one of the field's unit.
    pub(crate) fn seconds(&self, pointer: &str, unit_s: f64) -> Result<f64, Problem> {
        let seconds = self.needed(pointer)? * unit_s;
        if seconds > 0.0 { Ok(seconds) } else { Err(self.wrong(pointer, "a time of more than 0")) }
    }

    /// The fields of an object with those that are numbers of 0 or more; empty where it is absent.
    pub(crate) fn amounts(&self, pointer: &str) -> Vec<(&'a str, f64)> {
        let fields = self.at(pointer).and_then(Value::as_object).into_iter().flatten();
        fields
            .filter_map(|(name, value)| Some((name.as_str(), number(value)?)))
            .filter(|(_, value)| *value >= 0.0)
            .collect()
    }

    /// The entries of a list; empty where it is absent.
    pub(crate) fn list(&self, pointer: &str) -> &'a [Value] {
        self.at(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// The problem with a field.
    pub(crate) fn wrong(&self, pointer: &str, expected: &str) -> Problem {
        let field = pointer.trim_start_matches('/').replace('/', ".");
        let found = match self.at(pointer) {
            None => "nothing".to_owned(),
            Some(Value::String(text)) => printable::excerpt(text, MOST_SHOWN),
            Some(other) => printable::excerpt(&other.to_string(), MOST_SHOWN),
        };
        Problem::new(format!("{} {field}", self.file), found, expected)
    }
}

/// A value as a number, if it is one.
fn number(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
    number.filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_a_number_or_a_problem_with_its_place() {
        let root = json!({"end": {"s": 2.5, "count": "12", "bad": [1], "low": -1, "none": null}});
        let json = Json::new("a.json", &root);
        assert_eq!(json.needed("/end/s"), Ok(2.5));
        assert_eq!(json.amount("/end/count"), Ok(Some(12.0)));
        assert_eq!((json.amount("/end/none"), json.amount("/x/y")), (Ok(None), Ok(None)));
        let said = |pointer: &str| json.needed(pointer).unwrap_err().to_string();
        assert!(said("/end/bad").starts_with("a.json end.bad: found `[1]`, expected a number"));
        assert!(said("/end/low").contains("found `-1`, expected a number of 0 or more"));
        assert!(said("/end/none").contains("found `nothing`"));
        assert_eq!(json.amounts("/end"), [("count", 12.0), ("s", 2.5)]);
    }
}
