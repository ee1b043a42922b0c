//! Tips for those whose fingers know another tool.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
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

/// Whether the command measures what iperf3 does: bits or packets.
fn is_like_iperf3(command: &str) -> bool {
    hopbench_load::workload(command)
        .is_some_and(|workload| matches!(workload.kind().unit, Unit::Bits | Unit::Packets))
}

/// The same error; where a flag is not known here and iperf3 has it, with a tip.
pub(in crate::cmd) fn with_tip(mut error: Error, command: &str) -> Error {
    if error.kind() != ErrorKind::UnknownArgument || !is_like_iperf3(command) {
        return error;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    if let Some((_, tip)) = IPERF3.iter().find(|(flags, _)| flags.contains(&flag.as_str())) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*tip).into()]));
        // A guess by spelling would only compete with it.
        error.remove(ContextKind::SuggestedArg);
    }
    error
}
