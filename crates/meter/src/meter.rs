//! The contract of a meter: the values that it can read, and an open source of them.

use std::fmt;
use std::io;

use hopbench_model::Reading;

/// Something that can be observed, known by name before it is opened.
#[derive(Debug, Clone, Copy)]
pub struct Meter {
    /// The name in readings and records; the file that defines the meter has the same name.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Every value that a reading may hold. A kernel that does not know one leaves it out.
    pub values: &'static [ValueDef],
    /// Opens what has to be read. It is [`Unavailable`] when this machine does not have it, or this
    /// process may not see it.
    ///
    /// Values that belong to a network namespace are those of the calling thread's namespace at
    /// this moment, wherever the source is read later.
    pub open: fn(&MeteredProcess) -> Result<OpenMeter, Unavailable>,
}

/// An open meter. A call adds the values of that moment to the reading.
///
/// Its error is what the kernel said, with the file's name. What was added before is then not to be
/// used.
pub type OpenMeter = Box<dyn FnMut(&mut Reading) -> io::Result<()> + Send>;

/// What a meter is pointed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct MeteredProcess {
    /// The process for the meters that observe one; `None` is this process.
    pub pid: Option<u32>,
}

impl MeteredProcess {
    /// This process.
    pub fn itself() -> Self {
        Self::default()
    }

    /// Another process, by its id in this process's PID namespace.
    pub fn process(pid: u32) -> Self {
        Self { pid: Some(pid) }
    }

    /// The process's folder in `/proc`.
    ///
    /// `/proc/self` rather than the own id: it is right as well where `/proc` was mounted in
    /// another PID namespace.
    pub(crate) fn proc_folder(self) -> String {
        self.pid.map_or_else(|| "/proc/self".to_owned(), |pid| format!("/proc/{pid}"))
    }
}

/// Why a meter cannot be read here: a fact for the record, not a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    /// What is missing, naming the object.
    pub why: String,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Unavailable {}

/// Whether a value is subtracted or kept over a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// A running total; its name ends in `_total`.
    Total,
    /// The state at the moment of reading.
    Level,
}

/// One value of a meter, as data for lists, documents and checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ValueDef {
    /// The key in a reading. `{n}` stands for a CPU's number, `{interface}` for an interface's
    /// name.
    pub name: &'static str,
    /// What it counts: `s`, `bytes`, `packets`, ...
    pub unit: &'static str,
    /// Whether it is a total or a level.
    pub kind: ValueKind,
    /// One line on what it means.
    pub help: &'static str,
}

impl ValueDef {
    /// A running total; `name` must end in `_total`.
    pub const fn total(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self { name, unit, kind: ValueKind::Total, help }
    }

    /// A value at the moment of reading.
    pub const fn level(name: &'static str, unit: &'static str, help: &'static str) -> Self {
        Self { name, unit, kind: ValueKind::Level, help }
    }

    /// Whether a key of a reading is this value, placeholders included.
    pub fn matches(&self, key: &str) -> bool {
        let Some((before, rest)) = self.name.split_once('{') else {
            return key == self.name;
        };
        let Some((placeholder, after)) = rest.split_once('}') else {
            return false;
        };
        let Some(middle) = key.strip_prefix(before).and_then(|key| key.strip_suffix(after)) else {
            return false;
        };
        !middle.is_empty() && (placeholder != "n" || middle.bytes().all(|b| b.is_ascii_digit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_their_keys_only() {
        let cases = [
            ("rss_bytes", "rss_bytes", true),
            ("rss_bytes", "max_rss_bytes", false),
            ("cpu{n}_busy_s_total", "cpu0_busy_s_total", true),
            ("cpu{n}_busy_s_total", "cpu127_busy_s_total", true),
            ("cpu{n}_busy_s_total", "cpu_busy_s_total", false),
            ("cpu{n}_busy_s_total", "cpux_busy_s_total", false),
            ("cpu{n}_busy_s_total", "cpu0_steal_s_total", false),
            ("{interface}_rx_bytes_total", "eth0.100_rx_bytes_total", true),
            ("{interface}_rx_bytes_total", "_rx_bytes_total", false),
            ("broken{n", "broken0", false),
        ];
        for (name, key, expected) in cases {
            assert_eq!(
                ValueDef::level(name, "", "").matches(key),
                expected,
                "{name} against {key}"
            );
        }
    }

    #[test]
    fn a_target_names_its_folder() {
        assert_eq!(MeteredProcess::itself().proc_folder(), "/proc/self");
        assert_eq!(MeteredProcess::process(17).proc_folder(), "/proc/17");
    }
}
