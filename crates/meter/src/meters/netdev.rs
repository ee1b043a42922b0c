//! Counters of the network interfaces.

use hopbench_model::Reading;

use crate::procfile::{ProcFile, unexpected};
use crate::{Meter, ValueDef};

/// `thread-self`, because threads of one process may be in different network namespaces.
const PATH: &str = "/proc/thread-self/net/dev";

/// A node with hundreds of pods has an interface for each; a reading must stay small.
const MAX_INTERFACES: usize = 64;

const VALUES: &[ValueDef] = &[
    ValueDef::total("{interface}_rx_bytes_total", "bytes", "received"),
    ValueDef::total(
        "{interface}_rx_packets_total",
        "packets",
        "received; after merging where the interface merges",
    ),
    ValueDef::total("{interface}_rx_errors_total", "packets", "received broken"),
    ValueDef::total(
        "{interface}_rx_drops_total",
        "packets",
        "received and dropped, those missed by the hardware included",
    ),
    ValueDef::total("{interface}_tx_bytes_total", "bytes", "sent"),
    ValueDef::total(
        "{interface}_tx_packets_total",
        "packets",
        "sent; before cutting where the interface cuts",
    ),
    ValueDef::total("{interface}_tx_errors_total", "packets", "failed to be sent"),
    ValueDef::total("{interface}_tx_drops_total", "packets", "dropped before they were sent"),
    ValueDef::level(
        "interfaces",
        "interfaces",
        "interfaces that exist; values are given for the first 64 in the kernel's order",
    ),
];

/// Counters of the interfaces of the opener's network namespace, from `/proc/net/dev`.
pub(crate) const METER: Meter = Meter {
    name: "netdev",
    summary: "bytes, packets, drops and errors of each network interface",
    values: VALUES,
    open: |_| {
        let mut file = ProcFile::open(PATH)?;
        Ok(Box::new(move |into: &mut Reading| {
            parse(&file.text()?, into).ok_or_else(|| unexpected(PATH, "interface counters"))
        }))
    },
};

fn parse(text: &str, into: &mut Reading) -> Option<()> {
    let mut count = 0u32;
    for line in interface_lines(text) {
        count += 1;
        if count as usize > MAX_INTERFACES {
            continue;
        }
        let (name, columns) = interface(line)?;
        for (key, column) in [
            ("rx_bytes", 0),
            ("rx_packets", 1),
            ("rx_errors", 2),
            ("rx_drops", 3),
            ("tx_bytes", 8),
            ("tx_packets", 9),
            ("tx_errors", 10),
            ("tx_drops", 11),
        ] {
            into.insert(format!("{name}_{key}_total"), columns[column] as f64);
        }
    }
    into.insert("interfaces".to_owned(), f64::from(count));
    Some(())
}

/// The lines after the two of the heading.
fn interface_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().skip(2)
}

/// The name and the 16 columns of one line.
fn interface(line: &str) -> Option<(&str, [u64; 16])> {
    // The kernel allows no colon in a name.
    let (name, rest) = line.split_once(':')?;
    let mut columns = [0; 16];
    let mut words = rest.split_ascii_whitespace();
    for column in &mut columns {
        *column = words.next()?.parse().ok()?;
    }
    Some((name.trim_start(), columns))
}

/// Name and received bytes of every interface that can be read from the text.
pub(crate) fn received_bytes(text: &str) -> impl Iterator<Item = (&str, u64)> {
    interface_lines(text)
        .filter_map(|line| interface(line).map(|(name, columns)| (name, columns[0])))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIXTURE: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    3193      29    0    0    0     0          0         0     3193      29    0    0    0     0       0          0
eth0.100:98957484    4963    1    2    3     4          5         6   409630    3601    7    8    9     10       11          12
";

    #[test]
    fn every_value_of_a_known_text() {
        let mut reading = Reading::new();
        parse(FIXTURE, &mut reading).unwrap();
        let expected = [
            ("eth0.100_rx_bytes_total", 98_957_484.0),
            ("eth0.100_rx_packets_total", 4963.0),
            ("eth0.100_rx_errors_total", 1.0),
            ("eth0.100_rx_drops_total", 2.0),
            ("eth0.100_tx_bytes_total", 409_630.0),
            ("eth0.100_tx_packets_total", 3601.0),
            ("eth0.100_tx_errors_total", 7.0),
            ("eth0.100_tx_drops_total", 8.0),
            ("lo_rx_bytes_total", 3193.0),
            ("lo_rx_packets_total", 29.0),
            ("lo_rx_errors_total", 0.0),
            ("lo_rx_drops_total", 0.0),
            ("lo_tx_bytes_total", 3193.0),
            ("lo_tx_packets_total", 29.0),
            ("lo_tx_errors_total", 0.0),
            ("lo_tx_drops_total", 0.0),
            ("interfaces", 2.0),
        ];
        assert_eq!(reading, expected.map(|(key, value)| (key.to_owned(), value)).into());
        assert_eq!(
            received_bytes(FIXTURE).collect::<Vec<_>>(),
            [("lo", 3193), ("eth0.100", 98_957_484)]
        );
    }

    #[test]
    fn many_interfaces_are_counted_but_not_all_are_listed() {
        let mut text = "a\nb\n".to_owned();
        for n in 0..100 {
            text += &format!("veth{n}: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
        }
        let mut reading = Reading::new();
        parse(&text, &mut reading).unwrap();
        assert_eq!(reading["interfaces"], 100.0);
        assert_eq!(reading.len(), 8 * MAX_INTERFACES + 1);
        assert!(
            reading.contains_key("veth63_tx_drops_total")
                && !reading.contains_key("veth64_tx_drops_total")
        );
    }

    #[test]
    fn a_broken_line_is_refused() {
        for bad in [
            "a\nb\nlo 1 2\n",
            "a\nb\nlo: 1 2 3\n",
            "a\nb\nlo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 x\n",
        ] {
            assert!(parse(bad, &mut Reading::new()).is_none(), "{bad:?} was accepted");
        }
    }
}
