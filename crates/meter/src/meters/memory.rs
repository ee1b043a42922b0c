//! Memory of the whole machine.

use hopbench_model::Reading;

use crate::procfile::{ProcFile, unexpected};
use crate::{Meter, ValueDef, labelled};

const PATH: &str = "/proc/meminfo";

const VALUES: &[ValueDef] = &[
    ValueDef::level("total_bytes", "bytes", "memory that the kernel manages (MemTotal)"),
    ValueDef::level(
        "available_bytes",
        "bytes",
        "memory that could be used without swapping, as the kernel estimates (MemAvailable)",
    ),
];

/// Memory of the whole machine, from `/proc/meminfo`.
pub(crate) const METER: Meter = Meter {
    name: "memory",
    summary: "memory of the machine and how much of it is available",
    values: VALUES,
    open: |_| {
        let mut file = ProcFile::open(PATH)?;
        Ok(Box::new(move |into: &mut Reading| {
            parse(&file.text()?, into).ok_or_else(|| unexpected(PATH, "MemTotal"))
        }))
    },
};

fn parse(text: &str, into: &mut Reading) -> Option<()> {
    into.insert("total_bytes".to_owned(), labelled::bytes(text, "MemTotal")?);
    if let Some(available) = labelled::bytes(text, "MemAvailable") {
        into.insert("available_bytes".to_owned(), available);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_a_known_text() {
        let mut reading = Reading::new();
        let text = "MemTotal:       24689300 kB\nMemFree:        23025124 kB\n\
                    MemAvailable:   23867216 kB\nBuffers: 1 kB\n";
        parse(text, &mut reading).unwrap();
        let expected = [("available_bytes", 24_440_029_184.0), ("total_bytes", 25_281_843_200.0)];
        assert_eq!(reading, expected.map(|(key, value)| (key.to_owned(), value)).into());
        assert!(parse("MemFree: 1 kB\n", &mut reading).is_none());
    }
}
