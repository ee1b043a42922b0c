//! Pressure stall information: how long tasks waited for a CPU or for memory.

use hopbench_model::Reading;

use crate::procfile::{ProcFile, unexpected};
use crate::{Meter, ValueDef};

const VALUES: &[ValueDef] = &[
    ValueDef::total("cpu_some_s_total", "s", "time in which at least one task waited for a CPU"),
    ValueDef::total(
        "memory_some_s_total",
        "s",
        "time in which at least one task waited for memory",
    ),
];

/// Pressure stall information of the whole machine, from `/proc/pressure`.
pub(crate) const METER: Meter = Meter {
    name: "psi",
    summary: "time in which tasks waited for a CPU or for memory",
    values: VALUES,
    open: |_| {
        let mut cpu = ProcFile::open("/proc/pressure/cpu")?;
        let mut memory = ProcFile::open("/proc/pressure/memory")?;
        Ok(Box::new(move |into: &mut Reading| {
            for (key, file) in
                [("cpu_some_s_total", &mut cpu), ("memory_some_s_total", &mut memory)]
            {
                let seconds = some_s(&file.text()?)
                    .ok_or_else(|| unexpected("/proc/pressure", "total of `some`"))?;
                into.insert(key.to_owned(), seconds);
            }
            Ok(())
        }))
    },
};

/// The total of the line `some avg10=0.03 avg60=0.33 avg300=0.99 total=20461023`, which is in µs.
fn some_s(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = line.split_ascii_whitespace().find_map(|word| word.strip_prefix("total="))?;
    Some(total.parse::<u64>().ok()? as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_of_some_is_read() {
        let text = "some avg10=0.03 avg60=0.33 avg300=0.99 total=20461023\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(some_s(text), Some(20.461_023));
        for bad in ["", "full total=7\n", "some avg10=0.03\n", "some total=x\n"] {
            assert_eq!(some_s(bad), None, "{bad:?} was accepted");
        }
    }
}
