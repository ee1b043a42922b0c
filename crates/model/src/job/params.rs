//! The parameters of a workload: JSON in files and messages, the workload's own type in a process.

use std::any::Any;
use std::fmt;
use std::ops::{Index, IndexMut};
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::values::redacted::redacted_params;

/// The values that a workload reads: sizes, rates, headers. The workload gives them their type.
///
/// They are parsed once. The typed value goes with every clone of the job. A change of the JSON
/// forgets it.
#[derive(Clone, Default)]
pub struct Params {
    json: Value,
    typed: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl Params {
    /// The parameters as a workload made them of flags or keys.
    ///
    /// # Errors
    /// A value that JSON cannot hold.
    pub fn of<P: Serialize + Any + Send + Sync>(typed: P) -> serde_json::Result<Self> {
        let json = serde_json::to_value(&typed)?;
        Ok(Self { json, typed: OnceLock::from(Arc::new(typed) as Arc<dyn Any + Send + Sync>) })
    }

    /// The parameters as this type.
    ///
    /// # Errors
    /// The JSON is not of this type: another version of the workload wrote it.
    pub fn typed<P: DeserializeOwned + Any + Send + Sync>(&self) -> serde_json::Result<Arc<P>> {
        let known = self.typed.get().and_then(|typed| Arc::clone(typed).downcast::<P>().ok());
        if let Some(typed) = known {
            return Ok(typed);
        }
        let typed = Arc::new(P::deserialize(&self.json)?);
        // Where another thread, or another type, was faster, that stays.
        let _ = self.typed.set(Arc::clone(&typed) as Arc<dyn Any + Send + Sync>);
        Ok(typed)
    }

    /// One of them, as it stands in files.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.json.get(name)
    }

    /// One of them, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let found = self.json.get_mut(name)?;
        self.typed.take();
        Some(found)
    }

    /// All of them, as they stand in files.
    pub fn json(&self) -> &Value {
        &self.json
    }
}

impl Index<&str> for Params {
    type Output = Value;

    /// `null` where there is none of this name.
    fn index(&self, name: &str) -> &Value {
        &self.json[name]
    }
}

impl IndexMut<&str> for Params {
    /// Adds one of this name where there is none.
    fn index_mut(&mut self, name: &str) -> &mut Value {
        self.typed.take();
        &mut self.json[name]
    }
}

impl From<Value> for Params {
    fn from(json: Value) -> Self {
        Self { json, typed: OnceLock::new() }
    }
}

impl PartialEq for Params {
    fn eq(&self, other: &Self) -> bool {
        self.json == other.json
    }
}

/// Without what is secret.
impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        redacted_params(&self.json).fmt(f)
    }
}

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;

    use super::*;

    static PARSED: AtomicUsize = AtomicUsize::new(0);

    /// Counts how often it is parsed.
    #[derive(Debug, PartialEq, Serialize)]
    struct Size {
        size: u64,
    }

    impl<'de> Deserialize<'de> for Size {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            PARSED.fetch_add(1, Ordering::Relaxed);
            let value = Value::deserialize(deserializer)?;
            let size = value["size"].as_u64();
            Ok(Self { size: size.ok_or_else(|| serde::de::Error::custom("no size"))? })
        }
    }

    #[test]
    fn parameters_are_parsed_once_and_again_after_a_change() {
        let parsed = || PARSED.load(Ordering::Relaxed);
        let mut params = Params::from(json!({"size": 1}));
        assert_eq!(*params.typed::<Size>().unwrap(), Size { size: 1 });
        let copy = params.clone();
        assert_eq!(*copy.typed::<Size>().unwrap(), Size { size: 1 });
        assert_eq!(parsed(), 1);
        params["size"] = json!(2);
        assert_eq!(*params.typed::<Size>().unwrap(), Size { size: 2 });
        assert_eq!((parsed(), params == copy), (2, false));
        *params.get_mut("size").unwrap() = json!("none");
        assert!(params.typed::<Size>().is_err());

        let made = Params::of(Size { size: 3 }).unwrap();
        assert_eq!(made.typed::<Size>().unwrap().size, 3);
        assert_eq!((parsed(), made), (3, Params::from(json!({"size": 3}))));
    }

    #[test]
    fn files_have_plain_json() {
        let text = r#"{"size":5}"#;
        let params: Params = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&params).unwrap(), text);
        assert_eq!((&params["size"], &params["rate"]), (&json!(5), &Value::Null));
    }
}
