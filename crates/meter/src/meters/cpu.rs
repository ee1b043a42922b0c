//! CPU time of the whole machine.

use std::io;

use hopbench_model::Reading;

use crate::procfile::{ProcFile, unexpected};
use crate::{Meter, ValueDef, clock_tick};

const PATH: &str = "/proc/stat";

const VALUES: &[ValueDef] = &[
    ValueDef::total(
        "busy_s_total",
        "s",
        "CPU time that was neither idle nor waiting for I/O, all CPUs; steal is part of it",
    ),
    ValueDef::total("softirq_s_total", "s", "CPU time in softirq, all CPUs; part of busy"),
    ValueDef::total(
        "steal_s_total",
        "s",
        "time the hypervisor gave to others, all CPUs; part of busy",
    ),
    ValueDef::total("cpu{n}_busy_s_total", "s", "busy time of one CPU"),
    ValueDef::total(
        "cpu{n}_softirq_s_total",
        "s",
        "softirq time of one CPU; part of its busy time",
    ),
    ValueDef::total("cpu{n}_steal_s_total", "s", "stolen time of one CPU; part of its busy time"),
    ValueDef::total("context_switches_total", "switches", "context switches, all CPUs"),
    ValueDef::level(
        "processes_running",
        "tasks",
        "tasks that run or wait for a CPU, the reader included",
    ),
];

/// CPU time of the whole machine, from `/proc/stat`; its resolution is a clock tick (10 ms).
pub(crate) const METER: Meter = Meter {
    name: "cpu",
    summary: "busy, softirq and stolen time of each CPU, context switches",
    values: VALUES,
    open: |_| {
        let (mut file, tick_s) = (ProcFile::open(PATH)?, clock_tick::seconds());
        Ok(Box::new(move |into: &mut Reading| parse(&file.text()?, tick_s, into)))
    },
};

fn parse(text: &str, tick_s: f64, into: &mut Reading) -> io::Result<()> {
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if let Some(number) = word.strip_prefix("cpu") {
            let prefix = if number.is_empty() { String::new() } else { format!("cpu{number}_") };
            let ticks = Ticks::parse(rest).ok_or_else(|| unexpected(PATH, "CPU times"))?;
            into.insert(format!("{prefix}busy_s_total"), ticks.busy as f64 * tick_s);
            into.insert(format!("{prefix}softirq_s_total"), ticks.softirq as f64 * tick_s);
            into.insert(format!("{prefix}steal_s_total"), ticks.steal as f64 * tick_s);
        } else if word == "ctxt" || word == "procs_running" {
            let name = if word == "ctxt" { "context_switches_total" } else { "processes_running" };
            let value: u64 = rest.trim().parse().map_err(|_| unexpected(PATH, word))?;
            into.insert(name.to_owned(), value as f64);
        }
    }
    if into.contains_key("busy_s_total") { Ok(()) } else { Err(unexpected(PATH, "CPU times")) }
}

/// What one `cpu` line says, in clock ticks.
struct Ticks {
    busy: u64,
    softirq: u64,
    steal: u64,
}

impl Ticks {
    /// Fields: user nice system idle iowait irq softirq steal guest guest_nice. Time of guests is
    /// in user and nice already.
    fn parse(fields: &str) -> Option<Self> {
        let mut ticks = [0u64; 8];
        let mut words = fields.split_ascii_whitespace();
        for (n, slot) in ticks.iter_mut().enumerate() {
            match words.next() {
                Some(word) => *slot = word.parse().ok()?,
                None if n < 4 => return None,
                None => break,
            }
        }
        let [user, nice, system, _idle, _iowait, irq, softirq, steal] = ticks;
        Some(Self { busy: user + nice + system + irq + softirq + steal, softirq, steal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIXTURE: &str = "\
cpu  1000 20 300 50000 600 7 80 9 500 10
cpu0 400 20 100 25000 300 7 30 9 500 10
cpu3 600 0 200 25000 300 0 50 0 0 0
intr 293038 0 0 198 8
ctxt 490449
btime 1795228481
processes 9539
procs_running 3
procs_blocked 0
softirq 153888 0 17922
";

    #[test]
    fn every_value_of_a_known_text() {
        let mut reading = Reading::new();
        parse(FIXTURE, 0.01, &mut reading).unwrap();
        let expected = [
            ("busy_s_total", 14.16),
            ("softirq_s_total", 0.8),
            ("steal_s_total", 0.09),
            ("cpu0_busy_s_total", 5.66),
            ("cpu0_softirq_s_total", 0.3),
            ("cpu0_steal_s_total", 0.09),
            ("cpu3_busy_s_total", 8.5),
            ("cpu3_softirq_s_total", 0.5),
            ("cpu3_steal_s_total", 0.0),
            ("context_switches_total", 490_449.0),
            ("processes_running", 3.0),
        ];
        assert_eq!(reading.len(), expected.len(), "{reading:?}");
        for (key, value) in expected {
            assert!((reading[key] - value).abs() < 1e-9, "{key} is {}, not {value}", reading[key]);
        }
    }

    #[test]
    fn texts_that_are_no_proc_stat_are_refused() {
        for bad in ["", "ctxt 1\n", "cpu  1 2 3\n", "cpu  1 2 x 4\n", "cpu  1 2 3 4\nctxt\n"] {
            assert!(parse(bad, 0.01, &mut Reading::new()).is_err(), "{bad:?} was accepted");
        }
    }
}
