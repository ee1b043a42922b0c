//! A trial that a tool of others makes, and the words about its programs.

use std::collections::BTreeMap;
use std::time::Duration;

use hopbench_model::{CpuSet, Proof, printable};

/// Characters of a program's last words that are told.
const MOST_TOLD: usize = 300;

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
    /// The words about its own server; see [`PeerServer::said`].
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

/// A tool's own server when its trial was over.
#[derive(Debug, Clone, Copy)]
pub enum PeerServer<'a> {
    /// It went on.
    Running,
    /// It had ended; how, where that is known: `exit code 1`.
    Ended(Option<&'a str>),
}

impl PeerServer<'_> {
    /// The words about it, behind those on a failure. `printed`: all that it printed last. Empty if
    /// it goes on and said nothing.
    pub fn said(self, printed: &str) -> String {
        let (state, how) = match self {
            Self::Running if printed.trim().is_empty() => return String::new(),
            Self::Running => ("said", None),
            Self::Ended(how) => ("had ended", how),
        };
        format!("; its server {state}{}", last_words(how, printed))
    }
}

/// The last words of a program, behind those on it: ` (exit code 1): no route; to it`. `how` it
/// ended, where that is known. Empty if there is nothing.
pub fn last_words(how: Option<&str>, printed: &str) -> String {
    let how = how.map(|how| format!(" ({})", printable::excerpt(how, MOST_TOLD)));
    let words = Some(printable::last_lines(printed, MOST_TOLD)).filter(|words| !words.is_empty());
    let words = words.map(|words| format!(": {words}"));
    [how, words].into_iter().flatten().collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_told_with_its_last_words() {
        assert_eq!(PeerServer::Running.said("\n"), "");
        assert_eq!(PeerServer::Running.said("no\nroute\n"), "; its server said: no; route");
        assert_eq!(PeerServer::Ended(None).said(""), "; its server had ended");
        assert_eq!(
            PeerServer::Ended(Some("exit code 1")).said("no route\n"),
            "; its server had ended (exit code 1): no route"
        );
    }
}
