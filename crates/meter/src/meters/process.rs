//! CPU time and memory of one process.

use hopbench_model::Reading;

use crate::procfile::{ProcFile, unexpected};
use crate::{Meter, ValueDef, clock_tick, labelled};

const VALUES: &[ValueDef] = &[
    ValueDef::total(
        "user_s_total",
        "s",
        "CPU time in user space, all threads, those that ended included",
    ),
    ValueDef::total(
        "system_s_total",
        "s",
        "CPU time in the kernel, all threads, those that ended included",
    ),
    ValueDef::level("threads", "threads", "threads that exist"),
    ValueDef::level("rss_bytes", "bytes", "resident memory (VmRSS)"),
    ValueDef::level("max_rss_bytes", "bytes", "most resident memory so far (VmHWM)"),
];

/// CPU time and memory of one process, from `/proc/PID/stat` and `status`; CPU time comes in clock
/// ticks (10 ms).
///
/// Two things that `/proc` also has are left out on purpose: run time in nanoseconds (`schedstat`)
/// and context switches (`status`). Both are kept per thread, and the kernel drops them with the
/// thread. A sum over `task/` misses every thread that ended, and goes backwards when one does. For
/// its own process the agent has them, ended threads included, from `getrusage`.
pub(crate) const METER: Meter = Meter {
    name: "process",
    summary: "CPU time, memory and threads of one process",
    values: VALUES,
    open: |target| {
        let (folder, tick_s) = (target.proc_folder(), clock_tick::seconds());
        let mut stat = ProcFile::open(format!("{folder}/stat"))?;
        let mut status = ProcFile::open(format!("{folder}/status"))?;
        Ok(Box::new(move |into: &mut Reading| {
            parse_stat(&stat.text()?, tick_s, into)
                .ok_or_else(|| unexpected("/proc/PID/stat", "CPU times"))?;
            parse_status(&status.text()?, into);
            Ok(())
        }))
    },
};

fn parse_stat(text: &str, tick_s: f64, into: &mut Reading) -> Option<()> {
    // The name in parentheses may hold spaces and parentheses itself; nothing after it does.
    let (_, after_name) = text.rsplit_once(')')?;
    // Counted as in proc(5), the first word here is field 3.
    let field = |n: usize| after_name.split_ascii_whitespace().nth(n - 3)?.parse::<u64>().ok();
    let (user, system, threads) = (field(14)?, field(15)?, field(20)?);
    into.insert("user_s_total".to_owned(), user as f64 * tick_s);
    into.insert("system_s_total".to_owned(), system as f64 * tick_s);
    into.insert("threads".to_owned(), threads as f64);
    Some(())
}

/// A process that has ended but was not waited for has no memory lines: nothing is added then.
fn parse_status(text: &str, into: &mut Reading) {
    for (label, key) in [("VmRSS", "rss_bytes"), ("VmHWM", "max_rss_bytes")] {
        if let Some(bytes) = labelled::bytes(text, label) {
            into.insert(key.to_owned(), bytes);
        }
    }
    // A peak that was noted before the last growth is none.
    if let Some(rss) = into.get("rss_bytes").copied()
        && let Some(most) = into.get_mut("max_rss_bytes")
    {
        *most = most.max(rss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MeteredProcess;

    #[test]
    fn every_value_of_a_known_text() {
        let names = ["cat", "a b", "x) S 1 (", ")", "\u{fffd}"];
        for name in names {
            let stat = format!(
                "9539 ({name}) R 9534 9534 7165 0 -1 4194304 99 0 0 0 1234 567 0 0 20 0 7 0 99203 \
                 3133440 394 1\n"
            );
            let mut reading = Reading::new();
            parse_stat(&stat, 0.01, &mut reading).unwrap();
            parse_status(
                "Name:\tcat\nVmHWM:\t    2000 kB\nVmRSS:\t    1748 kB\nThreads:\t7\n",
                &mut reading,
            );
            let expected = [
                ("max_rss_bytes", 2_048_000.0),
                ("rss_bytes", 1_789_952.0),
                ("system_s_total", 567.0 * 0.01),
                ("threads", 7.0),
                ("user_s_total", 1234.0 * 0.01),
            ];
            assert_eq!(
                reading,
                expected.map(|(key, value)| (key.to_owned(), value)).into(),
                "{name}"
            );
        }
    }

    #[test]
    fn the_most_memory_is_at_least_the_present() {
        for (most, expected) in [(1600, 1748), (2000, 2000)] {
            let mut reading = Reading::new();
            parse_status(&format!("VmHWM:\t {most} kB\nVmRSS:\t 1748 kB\n"), &mut reading);
            assert_eq!(reading["max_rss_bytes"], f64::from(expected * 1024));
        }
    }

    #[test]
    fn texts_that_are_no_stat_are_refused() {
        for bad in
            ["", "1 cat R 1", "1 (cat) R 1 2 3", "1 (cat) R 1 1 1 0 -1 4 9 0 0 0 x 567 0 0 20 0 7"]
        {
            assert!(parse_stat(bad, 0.01, &mut Reading::new()).is_none(), "{bad:?} was accepted");
        }
    }

    #[test]
    fn a_process_without_memory_gives_no_memory_values() {
        let mut reading = Reading::new();
        parse_status("Name:\tgone\nState:\tZ (zombie)\nThreads:\t1\n", &mut reading);
        assert!(reading.is_empty(), "{reading:?}");
    }

    #[test]
    fn a_process_that_does_not_exist_is_unavailable() {
        // Above the largest id that the kernel gives out (2^22).
        let why = (METER.open)(&MeteredProcess::process(u32::MAX)).err().unwrap().why;
        assert!(why.contains("/proc/4294967295/stat"), "{why}");
    }
}
