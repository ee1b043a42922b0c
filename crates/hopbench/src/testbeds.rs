//! The testbeds that scenarios can name.

use std::fs::File;

use hopbench_lab::{KINDS, Lab, RUNTIMES, Reach, SERVERS};
use hopbench_model::TestbedSpec;
use hopbench_scenario::{Network, Server, Vocabulary};
use hopbench_testbed::Testbed;

/// The words that scenarios for them may use.
pub(crate) fn vocabulary() -> Vocabulary {
    Vocabulary {
        networks: KINDS
            .iter()
            .map(|kind| Network {
                name: kind.name(),
                summary: kind.summary(),
                pod: kind.reach() != Reach::Node,
                // Of pods there are two; on a host the ends have ports of their own.
                both_ends: true,
            })
            .collect(),
        runtimes: RUNTIMES.iter().map(|runtime| (runtime.name(), runtime.summary())).collect(),
        servers: SERVERS
            .iter()
            .map(|server| Server { name: server.name(), summary: server.summary(), sized: "/bytes/" })
            .collect(),
    }
}

/// A testbed, not built yet. What its agents say goes to `log`.
pub(crate) fn open(spec: &TestbedSpec, log: Option<File>) -> Box<dyn Testbed> {
    match spec {
        TestbedSpec::Lab(lab) => Box::new(Lab::new(lab, log)),
    }
}
