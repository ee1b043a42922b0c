//! Names of runs and of their namespaces.

use hopbench_control::secret::random_bytes;
use hopbench_model::Fault;

/// Letters of a run's name.
const RUN_LETTERS: usize = 10;
/// The letters of a run's name. There are no vowels, so that no word comes of it.
const LETTERS: &[u8; 31] = b"bcdfghjklmnpqrstvwxz0123456789y";

/// A new run's name.
pub(crate) fn run() -> Result<String, Fault> {
    let random = random_bytes().map_err(Fault::environment)?;
    Ok(random[..RUN_LETTERS]
        .iter()
        .map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()]))
        .collect())
}

/// The ports of agents on nodes' own networks. They are below the node ports (30000 and up) and
/// below the ports that kernels hand out (32768 and up).
const HOST_PORTS: std::ops::Range<u16> = 20_000..30_000;
/// The number of these ports that a run has.
const PORTS_OF_A_RUN: u16 = 16;

/// The first port of a run's agents on nodes' own networks: runs that share a node rarely have the
/// same.
pub(crate) fn host_port(run: &str) -> u16 {
    let slots = u64::from((HOST_PORTS.end - HOST_PORTS.start) / PORTS_OF_A_RUN);
    let hash = run.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    HOST_PORTS.start + (hash % slots) as u16 * PORTS_OF_A_RUN
}

/// The namespace of a run.
pub fn namespace(run: &str) -> String {
    format!("hopbench-{run}")
}

/// The run that is meant by its name or by its namespace.
pub(crate) fn run_of(text: &str) -> &str {
    text.strip_prefix(&namespace("")).unwrap_or(text)
}

/// Whether a text is a label as RFC 1123 has it, which every kind of name in Kubernetes may be.
pub(crate) fn is_label(text: &str) -> bool {
    let is_inside = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(is_inside)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_run_has_ten_letters() {
        let run = run().unwrap();
        assert_eq!(run.len(), 10);
        assert!(run.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()), "{run}");
        assert_ne!(run, super::run().unwrap());
        assert_eq!((run_of(&run), run_of(&namespace(&run))), (run.as_str(), run.as_str()));
        assert!(is_label(&namespace(&run)));
        assert_eq!(LETTERS.iter().collect::<BTreeSet<_>>().len(), LETTERS.len());
    }

    #[test]
    fn runs_have_ports_of_their_own_on_nodes() {
        let ports: BTreeSet<u16> = (0..100).map(|_| host_port(&run().unwrap())).collect();
        assert!(ports.len() > 70, "of 625 slots: {ports:?}");
        assert!(
            ports.iter().all(|port| (20_000..=29_984).contains(port) && port % 16 == 0),
            "{ports:?}"
        );
        assert_eq!(host_port("bcdfghjklm"), host_port("bcdfghjklm"));
    }
}
