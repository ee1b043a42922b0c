//! What an end sees of itself and of its machine beside the traffic.

use std::collections::BTreeMap;

use hopbench_meter::{MeterSet, Target};
use hopbench_model::Reading;
use hopbench_sys::{clock, usage};

/// All meters of one end.
pub(crate) struct Observer {
    meters: MeterSet,
}

/// The name under which this process' own usage stands among the readings.
const SELF: &str = "self";

impl Observer {
    pub(crate) fn new() -> Self {
        Self { meters: MeterSet::open_all(&Target::itself(), clock::now) }
    }

    /// Reads every meter.
    pub(crate) fn read(&mut self) -> BTreeMap<String, Reading> {
        let mut readings = self.meters.read();
        let usage = usage::process();
        let seconds = |ns: u64| ns as f64 / 1e9;
        readings.insert(
            SELF.to_owned(),
            Reading::from([
                ("user_s_total".to_owned(), seconds(usage.user_ns)),
                ("system_s_total".to_owned(), seconds(usage.system_ns)),
                ("max_rss_bytes".to_owned(), usage.max_rss_bytes as f64),
                ("voluntary_switches_total".to_owned(), usage.voluntary_switches as f64),
                ("involuntary_switches_total".to_owned(), usage.involuntary_switches as f64),
            ]),
        );
        // JSON has no word for what is not finite.
        for reading in readings.values_mut() {
            reading.retain(|_, value| value.is_finite());
        }
        readings
    }

    /// Meters that this machine does not have, with the reason.
    pub(crate) fn unavailable(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.meters.unavailable().iter().map(|(name, why)| (*name, why.as_str()))
    }
}
