//! One parameter that takes one or several values.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// The values that a swept parameter takes, in order; never empty.
///
/// Written `64`, `1,64,4096`, `1:256KiB:*64` (multiply) or `0:100:+20` (add); the end is included
/// when the steps meet it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Sweep<T>(Vec<T>);

/// More values than this are a mistake, not a measurement.
const MOST_VALUES: usize = 1000;
/// More steps than this, most of them within one whole number, are a mistake too.
const MOST_STEPS: usize = 100_000;

impl<T: Copy> Sweep<T> {
    /// A parameter that does not vary.
    pub fn single(value: T) -> Self {
        Self(vec![value])
    }

    /// The values, in the order in which they are measured.
    pub fn values(&self) -> &[T] {
        &self.0
    }

    /// The first value: the only one once a sweep was expanded into points.
    pub fn first(&self) -> T {
        self.0[0]
    }
}

/// A quantity that can be swept: it has a whole-number scale.
pub trait Scale: Copy + FromStr<Err: Display> {
    /// From the whole number that counts this quantity's unit.
    fn from_count(count: u64) -> Self;
    /// The whole number that counts this quantity's unit.
    fn count(self) -> u64;
}

impl Scale for Bytes {
    fn from_count(count: u64) -> Self {
        Self(count)
    }

    fn count(self) -> u64 {
        self.0
    }
}

impl Scale for u64 {
    fn from_count(count: u64) -> Self {
        count
    }

    fn count(self) -> u64 {
        self
    }
}

impl<T: Scale> FromStr for Sweep<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = |part: &str| part.trim().parse::<T>().map_err(|e| e.to_string());
        let parts: Vec<&str> = text.split(':').collect();
        match parts.as_slice() {
            [list] => {
                list.split(',').map(one).collect::<Result<Vec<T>, String>>().and_then(|values| {
                    if values.len() > MOST_VALUES {
                        return Err(format!(
                            "`{text}` has {} values; at most {MOST_VALUES} are measured",
                            values.len()
                        ));
                    }
                    Ok(Self(values))
                })
            }
            [from, to, step] => steps(text, one(from)?.count(), one(to)?.count(), step.trim()),
            _ => Err(format!(
                "`{text}` is not a value, a list like 1,64,4096 or a sweep like 1:256KiB:*64"
            )),
        }
    }
}

fn steps<T: Scale>(text: &str, from: u64, to: u64, step: &str) -> Result<Sweep<T>, String> {
    let malformed =
        || format!("`{text}`: the step `{step}` must be like *64 (multiply) or +100 (add)");
    if to < from {
        return Err(format!("`{text}` ends below its start; write the smaller value first"));
    }
    let (multiply, amount) = match step.split_at_checked(1) {
        Some(("*", factor)) => (true, factor.parse::<f64>().map_err(|_| malformed())?),
        Some(("+", amount)) => {
            (false, amount.parse::<T>().map_err(|_| malformed())?.count() as f64)
        }
        _ => return Err(malformed()),
    };
    let moves = if multiply { amount > 1.0 && from > 0 } else { amount > 0.0 };
    if !moves {
        return Err(format!(
            "`{text}` does not move: a step multiplies by more than 1 (from more than 0) or adds \
             more than 0"
        ));
    }
    let mut values = Vec::new();
    let mut at = from as f64;
    let mut moved = 0;
    while at.round() as u64 <= to {
        let count = at.round() as u64;
        // A small factor may round to the same whole number twice.
        if values.last() != Some(&count) {
            values.push(count);
        }
        if values.len() > MOST_VALUES {
            return Err(format!("`{text}` has more than {MOST_VALUES} values; take a larger step"));
        }
        let next = if multiply { at * amount } else { at + amount };
        moved += 1;
        // Beyond 2^53 an f64 may add nothing, and a factor next to 1 takes for ever to the next
        // whole number.
        if next <= at || moved > MOST_STEPS {
            return Err(format!("`{text}` moves too little from {count} on; take a larger step"));
        }
        at = next;
    }
    Ok(Sweep(values.into_iter().map(T::from_count).collect()))
}

impl<T: Display> Display for Sweep<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, value) in self.0.iter().enumerate() {
            write!(f, "{}{value}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// Takes a list of values or one value; an empty list is refused.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Sweep<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum OneOrMany<T> {
            Many(Vec<T>),
            One(T),
        }
        match OneOrMany::deserialize(deserializer)? {
            OneOrMany::One(value) => Ok(Self(vec![value])),
            OneOrMany::Many(values) if values.is_empty() => {
                Err(D::Error::custom("a sweep needs at least one value"))
            }
            OneOrMany::Many(values) => Ok(Self(values)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Result<Vec<u64>, String> {
        text.parse::<Sweep<Bytes>>().map(|s| s.values().iter().map(|b| b.0).collect())
    }

    #[test]
    fn the_forms_people_write() {
        assert_eq!(bytes("64"), Ok(vec![64]));
        assert_eq!(bytes("1,64,4KiB"), Ok(vec![1, 64, 4096]));
        assert_eq!(bytes("1:256KiB:*64"), Ok(vec![1, 64, 4096, 262_144]));
        assert_eq!(bytes("1:100:*64"), Ok(vec![1, 64]));
        assert_eq!(bytes("0:100:+50"), Ok(vec![0, 50, 100]));
        assert_eq!(bytes("1:4:*1.5"), Ok(vec![1, 2, 3]));
    }

    #[test]
    fn a_sweep_that_hardly_moves_is_refused() {
        for bad in ["9007199254740991:9007199254740992:+1", "1:10:*1.000000000000001"] {
            assert!(bytes(bad).unwrap_err().contains("moves too little"), "{bad}");
        }
        let most = u64::MAX;
        for bad in [format!("1:{most}:*inf"), format!("{most}:{most}:+1")] {
            assert!(bad.parse::<Sweep<u64>>().unwrap_err().contains("moves too little"), "{bad}");
        }
    }

    #[test]
    fn a_sweep_that_does_not_move_is_refused() {
        #[rustfmt::skip]
        let texts = [
            "1:10:*1", "1:10:*0.5", "0:10:*2", "1:10:+0", "10:1:*2", "1:10", "1:10:2", "1:10:*x",
            "1:9GB:+1", "",
        ];
        for bad in texts {
            assert!(bytes(bad).is_err(), "{bad} was accepted");
        }
    }
}
