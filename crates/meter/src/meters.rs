//! The registry of meters.

mod conntrack;
mod cpu;
mod memory;
pub(crate) mod netdev;
pub(crate) mod process;
mod psi;
mod snmp;
mod softnet;

use crate::Meter;

/// Every meter, in the order of lists and documents.
pub const METERS: &[Meter] = &[
    cpu::METER,
    process::METER,
    netdev::METER,
    softnet::METER,
    snmp::METER,
    memory::METER,
    psi::METER,
    conntrack::METER,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use hopbench_model::Reading;

    use super::*;
    use crate::{MeteredProcess, ValueKind};

    #[test]
    fn definitions_say_what_their_names_promise() {
        for meter in METERS {
            assert!(!meter.summary.is_empty() && !meter.values.is_empty(), "{}", meter.name);
            let mut in_a_window = BTreeSet::new();
            for value in meter.values {
                let at = format!("{} {}", meter.name, value.name);
                let is_total = value.name.ends_with("_total");
                assert_eq!(is_total, value.kind == ValueKind::Total, "{at}");
                assert!(!value.unit.is_empty() && !value.help.is_empty(), "{at}");
                // A level and a total of one name would be one figure once the suffix is dropped.
                assert!(in_a_window.insert(value.name.trim_end_matches("_total")), "{at} twice");
            }
        }
    }

    #[test]
    fn whatever_is_read_here_is_declared() {
        let mut opened = 0;
        for meter in METERS {
            let Ok(mut read) = (meter.open)(&MeteredProcess::itself()) else {
                continue;
            };
            let mut reading = Reading::new();
            if read(&mut reading).is_err() {
                continue;
            }
            opened += 1;
            assert!(!reading.is_empty(), "{} read nothing", meter.name);
            for (key, value) in reading {
                let declared = meter.values.iter().filter(|def| def.matches(&key)).count();
                assert_eq!(declared, 1, "{} {key} is declared {declared} times", meter.name);
                assert!(value.is_finite() && value >= 0.0, "{} {key} is {value}", meter.name);
            }
        }
        assert!(opened >= 4, "only {opened} meters could be read");
    }
}
