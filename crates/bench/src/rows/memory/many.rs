//! 100 000 connections on one machine, each with a request a second.

use std::time::Duration;

use anyhow::{Context, Result};
use hopbench_stats::Histogram;
use nix::sys::resource::{Resource, getrlimit};

use super::{BothEnds, OTHER_FILES, Share};
use crate::bench::{Bench, Figures, ours};
use crate::lab::{CLIENT_ADDRESS, OTHER_CLIENT_ADDRESS};
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const CONNECTIONS: u32 = 100_000;
/// How long the load of a client runs before its window. Others may still open their connections in
/// the beginning, which takes seconds of the same CPU.
const ALL_OPEN: Duration = Duration::from_secs(5);
/// Processes an end, at most: with more of them their own memory would be the figure.
const MOST_PROCESSES: u32 = 32;

const GIB: f64 = 1_073_741_824.0;
const GOALS: &[Goal] = &[
    Goal::value("bytes", "memory, both ends", "GiB", 1.0 / GIB, Reach::AtMost(1.0)),
    Goal::value("lateness_p99_ns", "send lateness p99", "us", 1e-3, Reach::AtMost(5000.0)),
    Goal::value("achieved_share", "achieved / asked", "", 1.0, Reach::Shown),
];

/// Evenly spaced, each connection in its turn, from two addresses.
pub(crate) fn row() -> Row {
    Row {
        name: "memory-many".to_owned(),
        what: "http, 100 000 connections, 1 request/s each, our target".to_owned(),
        against: "",
        needs: Vec::new(),
        goals: GOALS,
        note: "Peak resident memory (VmHWM) of all processes of both ends together; user memory \
               only. Each end has a CPU of its own, and the client has two addresses, since one \
               has fewer ports. Where 100 500 open files are allowed (`ulimit -Hn`), an end is \
               one process with one thread. Otherwise an end has as few processes as the limit \
               allows, 6 with 20 000, and the commands say how many. Each client then has a \
               target of its own. Its load begins once its own connections are open, and its \
               window 5 s later, when those of the others are open, too. \
               Lateness is of the histograms of all clients together."
            .to_owned(),
        ours: Box::new(ours),
        theirs: None,
    }
}

fn ours(bench: &Bench) -> Result<Figures> {
    let (_, files) = getrlimit(Resource::RLIMIT_NOFILE).context("limit of open files")?;
    let ends = BothEnds::shared(bench, ("http", "/?size=16"), &shares(CONNECTIONS, files)?)?;
    let (mut lateness, mut completed_per_s) = (Histogram::new(), 0.0);
    for record in &ends.records {
        let of_client = ours::latency(record, "lateness_ns")?;
        lateness.merge_base64(&of_client.hdr).context("lateness of a client")?;
        completed_per_s += ours::metric(record, "completed_per_s")?;
    }
    Ok(Figures::from([
        ("bytes", ends.client_bytes + ends.target_bytes),
        ("lateness_p99_ns", lateness.percentile(99.0) as f64),
        ("achieved_share", completed_per_s / f64::from(CONNECTIONS)),
    ]))
}

/// The shares of as few clients as will do where a process may open so many files. They differ by
/// one connection at most.
///
/// # Errors
/// When it would take more than [`MOST_PROCESSES`].
fn shares(connections: u32, files: u64) -> Result<Vec<Share>> {
    let room = files.saturating_sub(OTHER_FILES.into()).max(1);
    let processes = u32::try_from(u64::from(connections).div_ceil(room)).ok();
    let processes = processes.filter(|count| *count <= MOST_PROCESSES).with_context(|| {
        let least = connections.div_ceil(MOST_PROCESSES) + OTHER_FILES;
        format!("found a limit of {files} open files, expected {least} or more (`ulimit -Hn`)")
    })?;
    let (each, rest) = (connections / processes, connections % processes);
    let share = |index: u32| {
        let connections = each + u32::from(index < rest);
        Share { connections, warmup: ALL_OPEN, words: words(connections) }
    };
    Ok((0..processes).map(share).collect())
}

/// A request a second for each connection.
fn words(connections: u32) -> String {
    format!(
        "--schedule rate --rate {connections} --local-address \
         {CLIENT_ADDRESS},{OTHER_CLIENT_ADDRESS}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::number_after;

    #[test]
    fn the_shares_add_up_and_fit_the_limit() {
        for files in [4096, 20_000, 100_499, 100_500, u64::MAX] {
            let shares = shares(CONNECTIONS, files).unwrap();
            let connections = shares.iter().map(|share| share.connections).sum::<u32>();
            let per_s = shares.iter().map(|share| number_after(&share.words, "--rate").unwrap());
            assert_eq!(connections, CONNECTIONS, "{files}");
            assert_eq!(per_s.sum::<f64>(), f64::from(CONNECTIONS), "{files}");
            for share in &shares {
                assert!(u64::from(share.connections + OTHER_FILES) <= files, "{files}");
                assert!(shares[0].connections - share.connections <= 1, "{files}");
            }
        }
    }

    #[test]
    fn there_are_as_few_processes_as_the_limit_allows() {
        let processes = |files| shares(CONNECTIONS, files).unwrap().len();
        let limits = [3625, 4096, 20_000, 100_499, 100_500, u64::MAX];
        assert_eq!(limits.map(processes), [32, 28, 6, 2, 1, 1]);
    }

    #[test]
    fn a_limit_that_is_too_low_is_told_with_the_least_that_will_do() {
        for files in [0, 500, 1024, 3624] {
            let error = shares(CONNECTIONS, files).err().unwrap().to_string();
            assert!(error.contains("3625"), "{error}");
        }
    }
}
