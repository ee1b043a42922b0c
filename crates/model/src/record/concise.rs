//! A record without the counters that counted nothing.

use super::{NodeCost, Record};

/// A meter whose figures say something by being there.
const CPU_METER: &str = "cpu";
/// The figure of a proxy that does so.
const CORES: &str = "cores";

impl Record {
    /// Leaves out the counters of nodes that are 0: idle interfaces, and most of what the kernel
    /// counts. [`NodeCost::counter`] still knows them. Also those of proxies that are not on the
    /// path: most of what they count.
    ///
    /// Whoever makes a record does this before he takes a decision from it: then one that was read
    /// again leads to the same.
    pub fn concise(&mut self) {
        for node in &mut self.cost.nodes {
            for (_, figures) in node.meters.iter_mut().filter(|(meter, _)| *meter != CPU_METER) {
                figures.retain(|_, value| *value != 0.0);
            }
        }
        for proxy in self.cost.proxies.iter_mut().filter(|proxy| !proxy.named) {
            proxy.figures.retain(|name, value| *value != 0.0 || name == CORES);
        }
    }
}

impl NodeCost {
    /// A figure of a meter; `None`: the meter was not read, or the difference is not known.
    pub fn counter(&self, meter: &str, name: &str) -> Option<f64> {
        let figures = self.meters.get(meter)?;
        let unknown = || self.unknown.contains(&format!("{meter} {name}"));
        figures.get(name).copied().or_else(|| (!unknown()).then_some(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProxyCost;
    use crate::fixture::record;

    #[test]
    fn a_counter_that_is_absent_is_0_and_a_meter_that_is_absent_is_unknown() {
        let mut trial = record(&[("requests_per_s", 0.0)]);
        let counters = [("udp_sndbuf_errors".to_owned(), 0.0), ("tcp_in_segs".to_owned(), 7.0)];
        let sampled = [("sampled_busy_cores".to_owned(), 0.0)];
        trial.cost.nodes.push(NodeCost {
            meters: [
                ("snmp".to_owned(), counters.into()),
                ("cpu".to_owned(), sampled.into()),
                ("psi".to_owned(), [("cpu_some_s".to_owned(), 0.0)].into()),
            ]
            .into(),
            unknown: vec!["snmp tcp_out_segs".to_owned()],
            ..NodeCost::default()
        });
        trial.concise();
        let node = &trial.cost.nodes[0];
        let lengths = ["snmp", "cpu", "psi"].map(|meter| node.meters[meter].len());
        assert_eq!(lengths, [1, 1, 0], "sampled_busy_cores says something by being there");
        let names = ["udp_sndbuf_errors", "tcp_in_segs", "tcp_out_segs"];
        let values = names.map(|name| node.counter("snmp", name));
        assert_eq!(values, [Some(0.0), Some(7.0), None]);
        assert_eq!(node.counter("psi", "cpu_some_s"), Some(0.0));
        assert_eq!(node.counter("netdev", "eth0_rx_bytes"), None);
        assert_eq!(trial.metrics["requests_per_s"], 0.0, "a metric of 0 is no absent metric");
    }

    #[test]
    fn a_proxy_beside_the_path_keeps_what_it_is_and_one_on_it_keeps_all() {
        let mut trial = record(&[]);
        let figures = [("cores", 0.0), ("requests", 0.0), ("rss_bytes", 7.0)];
        for named in [true, false] {
            trial.cost.proxies.push(ProxyCost {
                name: "gateway".to_owned(),
                node: "a".to_owned(),
                named,
                figures: figures.map(|(name, value)| (name.to_owned(), value)).into(),
            });
        }
        trial.concise();
        let names = |at: usize| trial.cost.proxies[at].figures.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(0), ["cores", "requests", "rss_bytes"]);
        assert_eq!(names(1), ["cores", "rss_bytes"]);
    }
}
