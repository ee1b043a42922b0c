//! What the kernel allows a process to profile.

use std::io;

use hopbench_sys::perf::{Sampler, Sampling};

use super::machine::{cpus, samples_per_cpu_s};

/// The setting that says what processes without rights may profile.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";

/// What the kernel lets this process profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// All that runs on the machine's CPUs.
    Machine,
    /// Threads of this user, with what the kernel does for them.
    Threads,
    /// Threads of this user, as long as they are not in the kernel.
    Programs,
}

impl Access {
    /// What the kernel allows now. It is tried, not guessed from settings.
    ///
    /// # Errors
    /// Nothing is allowed: why, and what to do about it.
    pub fn now() -> Result<Self, String> {
        let cpus = cpus().map_err(|error| format!("the CPUs are not known: {error}"))?;
        let per_s = samples_per_cpu_s();
        let all = Sampling { per_s, kernel: true };
        let own = [std::process::id()];
        let first = &cpus[..cpus.len().min(1)];
        if Sampler::of_cpus(&cpus, all).is_ok() {
            return Ok(Self::Machine);
        }
        if Sampler::of_threads(&own, first, all).is_ok() {
            return Ok(Self::Threads);
        }
        match Sampler::of_threads(&own, first, Sampling { per_s, kernel: false }) {
            Ok(_) => Ok(Self::Programs),
            Err(error) => Err(refused(&error, paranoid().as_deref())),
        }
    }

    /// Whether the kernel's part of stacks can be had.
    pub fn has_kernel(self) -> bool {
        self != Self::Programs
    }

    /// What the kernel forbids, and what to do about it; `None`: nothing.
    pub fn forbidden(self) -> Option<String> {
        self.forbidden_by(paranoid().as_deref())
    }

    fn forbidden_by(self, paranoid: Option<&str>) -> Option<String> {
        let found = setting(paranoid);
        let allow = "allow it with `sysctl kernel.perf_event_paranoid=-1`, or run as root";
        match self {
            Self::Machine => None,
            Self::Threads => Some(format!(
                "the kernel lets this user profile only processes of its own{found}: softirqs are \
                 seen only where they interrupt one of these; {allow}"
            )),
            Self::Programs => Some(format!(
                "the kernel lets this user profile only programs, not the kernel{found}: system \
                 calls and softirqs are missing; {allow}"
            )),
        }
    }
}

/// The value of the setting.
fn paranoid() -> Option<String> {
    Some(std::fs::read_to_string(PARANOID).ok()?.trim().to_owned())
}

/// The setting in a sentence.
fn setting(paranoid: Option<&str>) -> String {
    paranoid.map_or_else(String::new, |value| format!(" (kernel.perf_event_paranoid is {value})"))
}

/// Why nothing can be profiled.
fn refused(error: &io::Error, paranoid: Option<&str>) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!(
            "the kernel forbids perf_event_open{}, or a seccomp profile of the container does; \
             allow it with `sysctl kernel.perf_event_paranoid=-1`, or run as root",
            setting(paranoid)
        ),
        io::ErrorKind::Unsupported => {
            "this kernel has no perf_event_open, or a seccomp profile hides it".to_owned()
        }
        _ => format!("perf_event_open fails: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forbidden_names_the_setting_and_the_remedy() {
        assert_eq!(Access::Machine.forbidden_by(Some("2")), None);
        for (access, missing) in [(Access::Threads, "softirqs"), (Access::Programs, "system calls")]
        {
            let told = access.forbidden_by(Some("2")).unwrap();
            assert!(told.contains("(kernel.perf_event_paranoid is 2)"), "{told}");
            assert!(told.contains(missing) && told.contains("perf_event_paranoid=-1"), "{told}");
        }
        let error = io::Error::from_raw_os_error(13);
        assert!(refused(&error, Some("3")).contains("(kernel.perf_event_paranoid is 3)"));
        let told = refused(&io::Error::from_raw_os_error(38), None);
        assert!(told.contains("has no perf_event_open"), "{told}");
    }
}
