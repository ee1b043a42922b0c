//! The rights of this process to profile, as the kernel gives them.

use std::{fmt, io};

use hopbench_sys::errno;
use hopbench_sys::perf::{Sampler, Sampling};

use super::machine::{cpus, samples_per_cpu_s};

/// The setting that says what processes without rights may profile.
const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
/// How to be allowed more. In a user namespace nobody has the capability.
const ALLOW: &str = "allow it with `sysctl kernel.perf_event_paranoid=-1`, or run as root \
                     (CAP_PERFMON)";

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

/// Something that the kernel keeps from profiles. As a text, both parts are one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// What was found, and what is missing.
    pub found: String,
    /// What to do about it.
    pub remedy: &'static str,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.found, self.remedy)
    }
}

impl Lack {
    /// The names of the kernel's functions.
    pub fn of_names() -> Self {
        Self {
            found: "the kernel shows no addresses of its functions: they are all `[kernel]`"
                .to_owned(),
            remedy: "show them with `sysctl kernel.kptr_restrict=0`",
        }
    }
}

impl Access {
    /// What the kernel allows now. It is tried, not guessed from settings.
    ///
    /// # Errors
    /// Nothing is allowed.
    pub fn now() -> Result<Self, Lack> {
        let cpus = cpus().map_err(|error| Lack {
            found: format!("the CPUs are not known: {error}"),
            remedy: "mount /sys, or look at the container's limits",
        })?;
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

    /// What the kernel forbids; `None`: nothing.
    pub fn forbidden(self) -> Option<Lack> {
        self.forbidden_by(paranoid().as_deref())
    }

    fn forbidden_by(self, paranoid: Option<&str>) -> Option<Lack> {
        let setting = setting(paranoid);
        let found = match self {
            Self::Machine => return None,
            Self::Threads => format!(
                "the kernel lets this user profile only processes of its own{setting}: softirqs \
                 are seen only where they interrupt one of these"
            ),
            Self::Programs => format!(
                "the kernel lets this user profile only programs, not the kernel{setting}: system \
                 calls and softirqs are missing"
            ),
        };
        Some(Lack { found, remedy: ALLOW })
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
fn refused(error: &io::Error, paranoid: Option<&str>) -> Lack {
    let (found, remedy) = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            let setting = setting(paranoid);
            let found = "the kernel forbids perf_event_open";
            (format!("{found}{setting}, or a seccomp profile of the container does"), ALLOW)
        }
        io::ErrorKind::Unsupported => (
            "this kernel has no perf_event_open, or a seccomp profile hides it".to_owned(),
            "use a kernel with CONFIG_PERF_EVENTS, or a profile that allows the call",
        ),
        _ if errno::too_many_files(error) => {
            (format!("perf_event_open fails: {error}"), "allow more open files (`ulimit -n`)")
        }
        _ => (
            format!("perf_event_open fails: {error}"),
            "read in perf_event_open(2) what that means; without it there are no profiles here",
        ),
    };
    Lack { found, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forbidden_names_the_setting_and_the_remedy() {
        assert_eq!(Access::Machine.forbidden_by(Some("2")), None);
        for (access, missing) in [(Access::Threads, "softirqs"), (Access::Programs, "system calls")]
        {
            let told = access.forbidden_by(Some("2")).unwrap().to_string();
            assert!(told.contains("(kernel.perf_event_paranoid is 2)"), "{told}");
            assert!(told.contains(missing) && told.contains("perf_event_paranoid=-1"), "{told}");
        }
        let error = io::Error::from_raw_os_error(13);
        let told = refused(&error, Some("3"));
        assert!(told.found.contains("(kernel.perf_event_paranoid is 3)"), "{told}");
        assert!(told.remedy.contains("CAP_PERFMON"), "{told}");
        let told = refused(&io::Error::from_raw_os_error(38), None);
        assert!(told.found.contains("has no perf_event_open"), "{told}");
        assert!(told.remedy.contains("CONFIG_PERF_EVENTS"), "{told}");
        // EMFILE, ENODEV, EINVAL: no right would help.
        for (number, remedy) in [(24, "ulimit -n"), (19, "perf_event_open(2)"), (22, "(2)")] {
            let told = refused(&io::Error::from_raw_os_error(number), Some("3"));
            assert!(told.remedy.contains(remedy) && told.remedy != ALLOW, "{told}");
        }
    }
}
