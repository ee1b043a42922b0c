//! A record as a line of `records.jsonl`: what many records share stands once, in `run.json`.
//!
//! A text in the place of an object or a list is the key of what belongs there, in `shared` of
//! `run.json`. That holds for `environment`, `job` and `invariants`, and for each entry of `proof`.
//! `settings` can be a list: its entries are objects and keys of such, and together they are the
//! settings. A part is shared when it comes for the second time.

mod figures;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Record;
use figures::figures;

/// A part with a shorter text stays in the record, bytes.
const SHORTEST: usize = 40;
/// The most that all parts together have, bytes: what comes then stays in the records.
const MOST_BYTES: usize = 1 << 20;
/// The most parts that are remembered, to know them again.
const MOST_SEEN: usize = 1 << 16;
/// Bytes that a line that is read has from parts: a writer has no more than half of it in all.
const MOST_REPEATED: usize = 2 * MOST_BYTES;
/// The settings that hardly two trials share.
const OWN_SETTINGS: &[&str] = &["first_flows_arrived", "readings_skew_ns", "start_skew_ns"];

/// Parts of records, by the keys by which lines refer to them: the first hexadecimal digits of a
/// hash of their text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SharedParts(BTreeMap<String, Value>);

impl SharedParts {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Why a line is no record.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It is no JSON, or lacks a field.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It refers to a part that is not there.
    #[error("its `{field}` has the key `{key}`")]
    Missing {
        /// The field of the record.
        field: String,
        /// The key in it.
        key: String,
    },
    /// Its parts are longer than those of any record.
    #[error("what it shares is longer than 2 MiB")]
    TooLong,
}

/// The writer of the lines of one run.
#[derive(Debug, Default)]
pub struct RecordLines {
    /// Hashes of the parts that came so far.
    seen: BTreeSet<u64>,
    parts: SharedParts,
    bytes: usize,
}

impl RecordLines {
    /// Goes on with the parts that a run has.
    pub fn new(parts: SharedParts) -> Self {
        let bytes = parts.0.values().map(|part| part.to_string().len()).sum();
        Self { seen: BTreeSet::new(), parts, bytes }
    }

    /// The parts that lines refer to.
    pub fn parts(&self) -> &SharedParts {
        &self.parts
    }

    /// The record as a line, with its line feed. Its parts have to be on the disk before it is:
    /// [`parts`](Self::parts) may have grown.
    ///
    /// # Errors
    /// What JSON cannot say.
    pub fn line(&mut self, record: &Record) -> serde_json::Result<String> {
        let text = serde_json::to_string(record)?;
        let Fields(fields) = serde_json::from_str(&text)?;
        let mut object = Vec::with_capacity(fields.len());
        for (name, raw) in fields {
            let raw = raw.get();
            let value = match name.as_str() {
                "metrics" => figures(&record.metrics)?,
                "latency" => figures(&record.latency)?,
                "intervals" => figures(&record.intervals)?,
                "cost" => figures(&record.cost)?,
                "environment" | "job" | "invariants" => self.short(raw)?,
                "proof" => {
                    let entries: Vec<&RawValue> = serde_json::from_str(raw)?;
                    let entries = entries.into_iter().map(|entry| self.short(entry.get()));
                    format!("[{}]", entries.collect::<Result<Vec<_>, _>>()?.join(","))
                }
                "settings" => self.settings(&record.settings, raw)?,
                _ => raw.to_owned(),
            };
            object.push(format!("\"{name}\":{value}"));
        }
        Ok(format!("{{{}}}\n", object.join(",")))
    }

    fn settings(
        &mut self,
        settings: &BTreeMap<String, String>,
        raw: &str,
    ) -> serde_json::Result<String> {
        let (own, steady): (BTreeMap<&str, &str>, BTreeMap<&str, &str>) = settings
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .partition(|(name, _)| OWN_SETTINGS.contains(name));
        Ok(match self.key(serde_json::to_value(steady)?) {
            Some(key) => format!("[\"{key}\",{}]", serde_json::to_string(&own)?),
            None => raw.to_owned(),
        })
    }

    /// The key of a part in its place, or the part itself.
    fn short(&mut self, raw: &str) -> serde_json::Result<String> {
        let key = self.key(serde_json::from_str(raw)?);
        Ok(key.map_or_else(|| raw.to_owned(), |key| format!("\"{key}\"")))
    }

    /// The key of a part that came before.
    fn key(&mut self, part: Value) -> Option<String> {
        // The names in an object are in order, so that equal parts have equal texts.
        let text = part.to_string();
        if text.len() < SHORTEST {
            return None;
        }
        let hash = hash(text.as_bytes());
        let key = format!("{:08x}", hash >> 32);
        if let Some(known) = self.parts.0.get(&key) {
            // Two parts can have one key: the second stays in its records.
            return (*known == part).then_some(key);
        }
        if self.seen.len() >= MOST_SEEN {
            self.seen.clear();
        }
        if self.seen.insert(hash) || self.bytes + text.len() > MOST_BYTES {
            return None;
        }
        self.bytes += text.len();
        self.parts.0.insert(key.clone(), part);
        Some(key)
    }
}

/// The record of a line, whole again.
///
/// # Errors
/// The line is damaged, or refers to a part that is not there.
pub fn record_of_line(line: &[u8], parts: &SharedParts) -> Result<Record, LineError> {
    let Fields(fields) = serde_json::from_slice(line)?;
    let mut whole = Whole { parts, bytes: 0, changed: false };
    let mut object = Vec::with_capacity(fields.len());
    for (name, raw) in fields {
        let raw = raw.get();
        let value = match name.as_str() {
            "environment" | "job" | "invariants" => whole.long(&name, raw)?,
            "proof" => {
                let entries: Vec<&RawValue> = serde_json::from_str(raw)?;
                let entries = entries.into_iter().map(|entry| whole.long(&name, entry.get()));
                format!("[{}]", entries.collect::<Result<Vec<_>, _>>()?.join(","))
            }
            "settings" if raw.starts_with('[') => {
                let entries: Vec<&RawValue> = serde_json::from_str(raw)?;
                let mut all = Map::new();
                for entry in entries {
                    all.extend(serde_json::from_str::<Map<_, _>>(
                        &whole.long(&name, entry.get())?,
                    )?);
                }
                whole.changed = true;
                Value::Object(all).to_string()
            }
            _ => raw.to_owned(),
        };
        object.push(format!("{}:{value}", Value::from(name)));
    }
    Ok(if whole.changed {
        serde_json::from_str(&format!("{{{}}}", object.join(",")))?
    } else {
        serde_json::from_slice(line)?
    })
}

/// A line on its way to a whole record.
struct Whole<'a> {
    parts: &'a SharedParts,
    bytes: usize,
    changed: bool,
}

impl Whole<'_> {
    /// The text in a place, or the one that the key there stands for.
    fn long(&mut self, field: &str, raw: &str) -> Result<String, LineError> {
        if !raw.starts_with('"') {
            return Ok(raw.to_owned());
        }
        let key: String = serde_json::from_str(raw)?;
        let Some(part) = self.parts.0.get(&key) else {
            return Err(LineError::Missing { field: field.to_owned(), key });
        };
        let text = part.to_string();
        self.changed = true;
        self.bytes += text.len();
        if self.bytes > MOST_REPEATED { Err(LineError::TooLong) } else { Ok(text) }
    }
}

/// FNV-1a of 64 bits: a part has the same key in every run and version.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The fields of an object in their order, each as it is spelled.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a record")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests;
