//! A trial that a tool of others makes.

use std::collections::BTreeMap;
use std::time::Duration;

use hopbench_model::{CpuSet, Proof};

/// What a tool said of a trial that it made.
#[derive(Debug, Clone)]
pub struct PeerSaid {
    /// The version of the tool.
    pub version: String,
    /// The command line of the client.
    pub client: String,
    /// The command line of the server; absent: a server program of the testbed answers, or the
    /// kernel does.
    pub server: Option<String>,
    /// What the client printed.
    pub output: String,
    /// What there is to say of its own server, behind the words on a failure: whether it had ended,
    /// and its last words. Empty if there is nothing.
    pub server_said: String,
    /// Why its figures may differ from those of hopbench.
    pub differs: &'static str,
    /// When it started, since 1970 UTC.
    pub started: Duration,
    /// Facts about the client's machine, as agents say them; absent: it is this one.
    pub machine: Option<BTreeMap<String, String>>,
    /// Where its processes were, as the kernel showed it.
    pub placed: Vec<Proof>,
}

/// Whether the processes of a tool were on the CPUs that they were held to; `None`: they were held
/// to none. `processes`: the end, the CPUs that were asked for, and those that it had.
pub fn held<'a>(
    processes: impl IntoIterator<Item = (&'a str, &'a [usize], &'a [usize])>,
) -> Option<Proof> {
    let (mut on, mut ok) = (Vec::new(), true);
    for (end, asked, found) in processes {
        ok &= found.iter().all(|cpu| asked.contains(cpu));
        on.push(format!("{end} on {}", CpuSet(found.to_vec())));
    }
    let evidence = on.join("; ");
    (!evidence.is_empty()).then(|| Proof { hop: "CPUs".to_owned(), evidence, ok })
}
