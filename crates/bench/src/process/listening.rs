//! Facts of a server's network namespace, read through its `/proc/PID/net`.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process::RunningProgram;
use crate::process::clock::{self, Moment};
use crate::process::interrupt;

/// How long a server may take to listen.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits until a process in the server's namespace listens on the TCP port. It does not connect: a
/// one-shot server would take that for its client.
///
/// # Errors
/// When the server ends or does not listen in time.
pub(crate) fn wait(server: &mut RunningProgram, port: u16) -> Result<()> {
    let begun = Moment::now();
    loop {
        let tables = [server.proc_file("net/tcp"), server.proc_file("net/tcp6")];
        if tables.iter().flatten().any(|table| listens(table, port)) {
            return Ok(());
        }
        if server.ended()? {
            bail!("`{}` ended before it listened{}", server.shown(), server.last_words());
        }
        if begun.elapsed() > PATIENCE {
            bail!(
                "`{}` does not listen on TCP port {port} after {} s{}",
                server.shown(),
                PATIENCE.as_secs(),
                server.last_words()
            );
        }
        interrupt::check()?;
        clock::sleep(Duration::from_millis(5));
    }
}

/// Bytes that the server's interface has received, headers included: one ruler for every tool.
///
/// # Errors
/// When the server is gone or has no `eth0`.
pub(crate) fn interface_bytes(server: &RunningProgram) -> Result<f64> {
    received_by("eth0", &server.proc_file("net/dev")?)
        .context("no `eth0` in the server's /proc/PID/net/dev")
}

fn listens(table: &str, port: u16) -> bool {
    let suffix = format!(":{port:04X}");
    table.lines().skip(1).any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let local = fields.next().is_some_and(|local| local.ends_with(&suffix));
        // 0A is LISTEN.
        local && fields.nth(1) == Some("0A")
    })
}

fn received_by(interface: &str, table: &str) -> Option<f64> {
    let prefix = format!("{interface}:");
    let line = table.lines().find_map(|line| line.trim_start().strip_prefix(&prefix))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TCP: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1451 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 27049 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1F90 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 27050 1 0000000000000000 20 4 30 10 -1
";

    #[test]
    fn a_listener_is_told_from_a_connection() {
        assert!(listens(TCP, 5201));
        assert!(!listens(TCP, 8080), "an established connection is not a listener");
        assert!(!listens(TCP, 51));
    }

    #[test]
    fn received_bytes_of_one_interface() {
        let table = "Inter-|   Receive\n face |bytes\n    lo:     100       1\n  \
                     eth0: 6708396032    5 0 0\n";
        assert_eq!(received_by("eth0", table), Some(6_708_396_032.0));
        assert_eq!(received_by("eth1", table), None);
    }
}
