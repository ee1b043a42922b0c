//! A permit: what the agents of a run may do, as the run's conductor signs it.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::units::Span;
use crate::{Fault, Job, Nanos};

/// What the agents of a run may do: no other targets, and no larger jobs, than those of its plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permit {
    /// The run's number.
    pub run: u64,
    /// Number of the permit in its run, from 1. Agents take no earlier one than they have.
    pub sequence: u64,
    /// The targets that clients may connect to.
    pub targets: BTreeSet<SocketAddr>,
    /// How large a job may be.
    pub bounds: Bounds,
}

/// The largest jobs of a plan, its searches included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The longest trial, ns: warm-up, window and timeout together.
    pub trial_ns: Nanos,
    /// The most connections, those of all clients of a path together.
    pub connections: u32,
    /// The most threads of one end.
    pub threads: u32,
}

/// A permit with its signature. The text is sent as it was signed, so that it need not be written
/// twice in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedPermit {
    /// The [`Permit`] as JSON.
    pub text: String,
    /// The conductor's signature, 128 hex digits.
    pub signature: String,
}

impl Permit {
    /// The text that is signed.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| unreachable!("numbers and texts"))
    }

    /// Reads such a text.
    ///
    /// # Errors
    /// Anything else.
    pub fn from_text(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Whether a client may connect to `target`; where `any_port` is set, as for ICMP, to its
    /// address alone.
    pub fn allows(&self, target: SocketAddr, any_port: bool) -> bool {
        let ip = target.ip().to_canonical();
        let same = |known: &SocketAddr| {
            known.ip().to_canonical() == ip && (any_port || known.port() == target.port())
        };
        self.targets.iter().any(same)
    }
}

impl Bounds {
    /// Raises them so that they hold for `job`, too.
    pub fn cover(&mut self, job: &Job) {
        self.trial_ns = self.trial_ns.max(length(job));
        self.connections = self.connections.max(job.connections);
        self.threads = self.threads.max(job.threads);
    }

    /// Refuses a job that is larger.
    ///
    /// # Errors
    /// What of it is larger than anything in the plan.
    pub fn refuse(&self, job: &Job) -> Result<(), Fault> {
        let beyond = |what: &str, asked: String, most: String| {
            Err(Fault::environment(format!(
                "the run's plan has at most {most} {what}, and {asked} were asked for: this is no \
                 trial of the plan"
            )))
        };
        if job.connections > self.connections {
            return beyond(
                "connections",
                job.connections.to_string(),
                self.connections.to_string(),
            );
        }
        if job.threads > self.threads {
            return beyond("threads", job.threads.to_string(), self.threads.to_string());
        }
        if length(job) > self.trial_ns {
            let what = "for a trial (with warm-up and timeout)";
            return beyond(what, Span(length(job)).to_string(), Span(self.trial_ns).to_string());
        }
        Ok(())
    }
}

/// How long a trial may take: warm-up, window and timeout.
fn length(job: &Job) -> Nanos {
    let timing = job.timing;
    timing.warmup_ns.saturating_add(timing.window_ns).saturating_add(timing.timeout_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Timing, fixture};

    fn permit(targets: &[&str]) -> Permit {
        let targets = targets.iter().map(|target| target.parse().unwrap()).collect();
        Permit { run: 1, sequence: 1, targets, bounds: Bounds::default() }
    }

    #[test]
    fn only_what_is_listed_is_allowed() {
        let permit = permit(&["10.0.0.1:7474", "[fd00::1]:80"]);
        let allows = |target: &str, any_port| permit.allows(target.parse().unwrap(), any_port);
        assert!(allows("10.0.0.1:7474", false) && allows("[::ffff:10.0.0.1]:7474", false));
        assert!(!allows("10.0.0.1:7475", false) && !allows("10.0.0.2:7474", false));
        assert!(
            allows("10.0.0.1:0", true)
                && allows("[fd00::1]:0", true)
                && !allows("10.0.0.2:0", true)
        );
        assert_eq!(Permit::from_text(&permit.to_text()), Ok(permit.clone()));
        assert!(Permit::from_text("{}").is_err());
    }

    #[test]
    fn bounds_are_those_of_the_largest_jobs() {
        let timing = Timing { warmup_ns: 1, timeout_ns: 100, ..fixture::timing(10) };
        let of_rr = fixture::job("rr", serde_json::Value::Null);
        let job = |connections, threads| Job { connections, threads, timing, ..of_rr.clone() };
        let mut bounds = Bounds::default();
        assert!(bounds.refuse(&job(1, 1)).is_err(), "nothing is in the plan");
        bounds.cover(&job(8, 1));
        bounds.cover(&job(2, 2));
        assert_eq!(bounds, Bounds { trial_ns: 111, connections: 8, threads: 2 });
        assert_eq!(bounds.refuse(&job(8, 2)), Ok(()));
        let said = |job: Job| bounds.refuse(&job).unwrap_err().text;
        assert!(said(job(9, 1)).contains("at most 8 connections"));
        assert!(said(job(1, 3)).contains("at most 2 threads"));
        let longer = Job { timing: Timing { timeout_ns: u64::MAX, ..timing }, ..job(1, 1) };
        assert!(said(longer).contains("for a trial"));
    }
}
