//! The NIC of an end: of all interfaces that it sees, the one that moved most.

use std::collections::BTreeMap;

use hopbench_meter::delta;
use hopbench_model::{EndReport, Reading};

/// What is counted of a NIC.
const COUNTED: [&str; 4] = ["rx_bytes", "rx_packets", "tx_bytes", "tx_packets"];

/// The traffic of an end's NIC a second, each way: `nic_rx_bytes_per_s` ... Nothing where the end
/// read no interfaces.
pub(super) fn rates(end: &EndReport, seconds: f64) -> BTreeMap<String, f64> {
    let moved = moved(end);
    let Some(name) = busiest(&moved) else { return BTreeMap::new() };
    let rate = |what| {
        let moved = moved.get(&format!("{name}_{what}"))?;
        Some((format!("nic_{what}_per_s"), moved / seconds))
    };
    COUNTED.into_iter().filter_map(rate).collect()
}

/// Its name.
pub(super) fn name(end: &EndReport) -> Option<String> {
    busiest(&moved(end)).map(str::to_owned)
}

/// The rate of the slower of two NICs, by their names and the facts of their machines, bits/s.
/// `None` where neither machine says one: of virtual interfaces none does.
pub(super) fn slower(nics: [Option<(&String, &BTreeMap<String, String>)>; 2]) -> Option<u64> {
    let speed = |(name, machine): (&String, &BTreeMap<String, String>)| {
        machine.get(&format!("nic_{name}_speed_bits_per_s"))?.parse().ok()
    };
    nics.into_iter().flatten().filter_map(speed).min()
}

fn moved(end: &EndReport) -> Reading {
    let [start, end] = [&end.start, &end.end].map(|tick| tick.readings.get("netdev"));
    start.zip(end).map(|(start, end)| delta::window(start, end)).unwrap_or_default()
}

fn busiest(moved: &Reading) -> Option<&str> {
    let bytes = |name: &str| {
        let of = |way: &str| moved.get(&format!("{name}_{way}_bytes")).copied().unwrap_or(0.0);
        // The loopback counts each packet both ways, and leads to a sidecar of the same pod. It is
        // the NIC only where hardly anything goes elsewhere.
        let weight = if name == "lo" { 0.1 } else { 1.0 };
        weight * (of("rx") + of("tx"))
    };
    let names = moved.keys().filter_map(|key| key.strip_suffix("_rx_bytes"));
    names.max_by(|a, b| bytes(a).total_cmp(&bytes(b)))
}

#[cfg(test)]
mod tests {
    use hopbench_model::Tick;

    use super::*;

    #[test]
    fn the_slower_nic_is_that_of_the_link() {
        let names = ["eth0".to_owned(), "veth1".to_owned()];
        let facts = |speed: &str| {
            BTreeMap::from([("nic_eth0_speed_bits_per_s".to_owned(), speed.to_owned())])
        };
        let (fast, slow) = (facts("25000000000"), facts("10000000000"));
        let of = |nics: [(&usize, &BTreeMap<String, String>); 2]| {
            slower(nics.map(|(name, machine)| Some((&names[*name], machine))))
        };
        assert_eq!(of([(&0, &fast), (&0, &slow)]), Some(10_000_000_000));
        assert_eq!(of([(&1, &fast), (&0, &fast)]), Some(25_000_000_000), "a pod's is not known");
        assert_eq!(of([(&1, &fast), (&1, &slow)]), None);
    }

    #[test]
    fn the_interface_that_moved_most_is_the_nic() {
        let tick = |eth0: f64, net1: f64| {
            let values = [
                ("eth0_rx_bytes_total", 9e9 + 1000.0 * eth0),
                ("eth0_rx_packets_total", eth0),
                ("eth0_tx_bytes_total", 10.0 * eth0),
                ("eth0_tx_packets_total", 5.0 + eth0),
                ("net1_rx_bytes_total", 100.0 * net1),
                ("net1_rx_packets_total", 2.0 * net1),
                ("net1_tx_bytes_total", 3000.0 * net1),
                ("net1_tx_packets_total", 3.0 * net1),
                ("interfaces", 2.0),
            ];
            let netdev = values.map(|(name, value)| (name.to_owned(), value)).into();
            Tick { readings: [("netdev".to_owned(), netdev)].into(), ..Tick::default() }
        };
        let end =
            EndReport { start: tick(0.0, 7.0), end: tick(40.0, 107.0), ..EndReport::default() };
        assert_eq!(name(&end).as_deref(), Some("net1"));
        let expected = [
            ("nic_rx_bytes_per_s", 5000.0),
            ("nic_rx_packets_per_s", 100.0),
            ("nic_tx_bytes_per_s", 150_000.0),
            ("nic_tx_packets_per_s", 150.0),
        ];
        assert_eq!(rates(&end, 2.0), expected.map(|(name, rate)| (name.to_owned(), rate)).into());
        // A sidecar's traffic on the loopback is more, and none of the NIC's.
        let beside = |bytes: f64| {
            let mut end = end.clone();
            let lo = [("lo_rx_bytes_total", bytes), ("lo_tx_bytes_total", bytes)];
            let readings = end.end.readings.get_mut("netdev").expect("the meter");
            readings.extend(lo.map(|(name, value)| (name.to_owned(), value)));
            let readings = end.start.readings.get_mut("netdev").expect("the meter");
            readings.extend(lo.map(|(name, _)| (name.to_owned(), 0.0)));
            name(&end)
        };
        assert_eq!(beside(310_000.0).as_deref(), Some("net1"));
        assert_eq!(beside(310_000_000.0).as_deref(), Some("lo"), "by hand, on one machine");
        let unread = EndReport::default();
        assert_eq!((name(&unread), rates(&unread, 1.0)), (None, BTreeMap::new()));
    }
}
