//! Counters of the kernel's packet receive loop.

use std::collections::BTreeMap;

use hopbench_model::Reading;

use crate::procfile::{ProcFile, unexpected};
use crate::{Meter, ValueDef};

const PATH: &str = "/proc/thread-self/net/softnet_stat";

/// Key and column in the file.
const SUMS: [(&str, usize); 4] = [
    ("processed_total", 0),
    ("dropped_total", 1),
    ("time_squeeze_total", 2),
    ("received_rps_total", 9),
];

/// The column with the CPU's number, since Linux 5.10.
const CPU_COLUMN: usize = 12;

const VALUES: &[ValueDef] = &[
    ValueDef::total(
        "processed_total",
        "packets",
        "packets taken up by softirq, all CPUs; of the whole machine in every namespace",
    ),
    ValueDef::total(
        "dropped_total",
        "packets",
        "packets dropped because a CPU's backlog was full (netdev_max_backlog)",
    ),
    ValueDef::total(
        "time_squeeze_total",
        "runs",
        "softirq runs that ended with work left (netdev_budget)",
    ),
    ValueDef::total(
        "received_rps_total",
        "interrupts",
        "wake-ups by another CPU that steered packets here (RPS)",
    ),
    ValueDef::total("cpu{n}_processed_total", "packets", "packets taken up by one CPU"),
];

/// The packet receive loop of each CPU, from `/proc/net/softnet_stat`.
pub(crate) const METER: Meter = Meter {
    name: "softnet",
    summary: "packets processed and dropped by the receive softirq of each CPU",
    values: VALUES,
    open: |_| {
        let (mut file, mut cpus) = (ProcFile::open(PATH)?, Cpus::default());
        Ok(Box::new(move |into: &mut Reading| {
            cpus.advance(&file.text()?).ok_or_else(|| unexpected(PATH, "packet counters"))?;
            cpus.write(into);
            Ok(())
        }))
    },
};

/// The totals of each CPU by its number. A CPU that went offline keeps its totals.
#[derive(Default)]
struct Cpus(BTreeMap<u32, [Odometer; SUMS.len()]>);

impl Cpus {
    fn advance(&mut self, text: &str) -> Option<()> {
        for (line_number, line) in text.lines().enumerate() {
            let mut columns = [None; CPU_COLUMN + 1];
            for (column, word) in columns.iter_mut().zip(line.split_ascii_whitespace()) {
                *column = Some(u32::from_str_radix(word, 16).ok()?);
            }
            // Before Linux 5.10 the line's number has to do; it is the CPU's while all are online.
            let cpu = columns[CPU_COLUMN].unwrap_or(line_number as u32);
            let odometers = self.0.entry(cpu).or_default();
            for (odometer, (_, column)) in odometers.iter_mut().zip(SUMS) {
                odometer.advance(columns[column]?);
            }
        }
        (!self.0.is_empty()).then_some(())
    }

    fn write(&self, into: &mut Reading) {
        for (n, (key, _)) in SUMS.into_iter().enumerate() {
            let sum: u64 = self.0.values().map(|odometers| odometers[n].total).sum();
            into.insert(key.to_owned(), sum as f64);
        }
        for (cpu, odometers) in &self.0 {
            into.insert(format!("cpu{cpu}_processed_total"), odometers[0].total as f64);
        }
    }
}

/// A total behind a counter of 32 bits, which a busy CPU wraps within the hour.
#[derive(Default)]
struct Odometer {
    last: u32,
    total: u64,
}

impl Odometer {
    /// Right as long as the counter moves by less than 2³² between two readings.
    fn advance(&mut self, now: u32) {
        self.total += u64::from(now.wrapping_sub(self.last));
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line as of Linux 5.10: processed, dropped, squeezed, received_rps, CPU.
    fn line(processed: u32, dropped: u32, squeezed: u32, rps: u32, cpu: u32) -> String {
        format!(
            "{processed:08x} {dropped:08x} {squeezed:08x} 00000000 00000000 00000000 00000000 \
             00000000 00000000 {rps:08x} 00000000 00000000 {cpu:08x} 00000000 00000000\n"
        )
    }

    fn read(cpus: &mut Cpus, text: &str) -> Reading {
        cpus.advance(text).unwrap();
        let mut reading = Reading::new();
        cpus.write(&mut reading);
        reading
    }

    #[test]
    fn every_value_of_a_known_text() {
        let reading =
            read(&mut Cpus::default(), &(line(0x136d, 2, 3, 4, 0) + &line(0x10, 20, 30, 40, 5)));
        let expected = [
            ("cpu0_processed_total", 4973.0),
            ("cpu5_processed_total", 16.0),
            ("dropped_total", 22.0),
            ("processed_total", 4989.0),
            ("received_rps_total", 44.0),
            ("time_squeeze_total", 33.0),
        ];
        assert_eq!(reading, expected.map(|(key, value)| (key.to_owned(), value)).into());
    }

    #[test]
    fn totals_go_on_when_a_counter_wraps_or_a_cpu_leaves() {
        let mut cpus = Cpus::default();
        let before = read(&mut cpus, &(line(u32::MAX - 9, 0, 0, 0, 0) + &line(100, 7, 0, 0, 1)));
        let wrapped = read(&mut cpus, &(line(90, 0, 0, 0, 0) + &line(150, 7, 0, 0, 1)));
        assert_eq!(wrapped["cpu0_processed_total"] - before["cpu0_processed_total"], 100.0);
        assert_eq!(wrapped["processed_total"] - before["processed_total"], 150.0);
        let one_left = read(&mut cpus, &line(91, 0, 0, 0, 0));
        assert_eq!(one_left["processed_total"] - wrapped["processed_total"], 1.0);
        assert_eq!(one_left["dropped_total"], 7.0);
    }

    #[test]
    fn an_older_kernel_names_no_cpu() {
        let old = "00000005 00000000 00000000 00000000 00000000 00000000 00000000 00000000 \
                   00000000 00000000 00000000\n";
        let reading = read(&mut Cpus::default(), &old.repeat(2));
        assert_eq!(reading["cpu1_processed_total"], 5.0);
        assert_eq!(reading["processed_total"], 10.0);
    }

    #[test]
    fn a_broken_text_is_refused() {
        for bad in ["", "00000005 00000000\n", "xyz\n"] {
            assert!(Cpus::default().advance(bad).is_none(), "{bad:?} was accepted");
        }
    }
}
