//! Tips for those whose fingers know another tool, or another command.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use hopbench_load::workload::{Workload, without_flag};
use hopbench_model::Unit;

/// Flags of iperf3 that are called something else here, or are something else: what they are, and
/// the tip.
const IPERF3: &[(&[&str], &str)] = &[
    (&["-P", "--parallel"], "take --connections, like `--connections 4`"),
    (&["-R", "--reverse"], "take --direction from-server"),
    (&["--bidir"], "take --direction both"),
    (&["-b", "--bitrate", "--bandwidth"], "take --rate, like `--rate 1Gbit`"),
    (&["-u", "--udp"], "take the command `hopbench udp`, with --size and --rate"),
    (&["-i"], "take --interval with a unit, like `--interval 1s`"),
    (
        &["-n", "--bytes", "-k", "--blockcount"],
        "there is no end by bytes; take --time, like `--time 10s`",
    ),
    (&["-w", "--window"], "take --send-buffer and --receive-buffer, like `--send-buffer 4MiB`"),
    (&["-l", "--len", "--length"], "take --size, like `--size 128KiB`"),
    (&["-O", "--omit"], "take --warmup with a unit, like `--warmup 2s`"),
    (&["-C"], "take --congestion, like `--congestion bbr`"),
    (&["-A", "--affinity"], "take --cpu, like `--cpu 0/1` for client and server"),
    (&["-J"], "take --format json"),
    (&["-p", "--port"], "write the port behind the host, like `HOST:7474`"),
];

/// Whether a workload measures what iperf3 does: bits or packets.
fn is_like_iperf3(workload: &dyn Workload) -> bool {
    matches!(workload.kind().unit, Unit::Bits | Unit::Packets)
}

/// The tip for a flag that a workload does not have; `None`: there is none.
fn tip(workload: &dyn Workload, flag: &str) -> Option<String> {
    if let Some(expected) = flag.strip_prefix("--").and_then(|it| without_flag(workload, it)) {
        return Some(format!("expected {expected}"));
    }
    let (_, tip) = IPERF3.iter().find(|(flags, _)| flags.contains(&flag))?;
    is_like_iperf3(workload).then(|| (*tip).to_owned())
}

/// The same error; where a flag is not known here and there is a tip for it, with the tip.
pub(in crate::cmd) fn with_tip(mut error: Error, command: &str) -> Error {
    let Some(workload) = hopbench_load::workload(command) else { return error };
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    if let Some(tip) = tip(workload, flag) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        // A guess by spelling would only compete with it.
        error.remove(ContextKind::SuggestedArg);
    }
    error
}
