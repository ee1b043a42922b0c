//! The trial that a tool of others makes in place of hopbench: what it states, and the testbed's
//! evidence.

use hopbench_model::{BY_PEER, Fault, Peer, Record, SECOND, Transport, WorkloadKind};
use hopbench_testbed::{PeerSaid, Testbed};
use hopbench_wire::Hello;
use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::{CellTrial, Done, outcome, proven};
use crate::conduct::Watcher;

/// What no tool lets anybody prove.
const NOT_PROVED: &str = "the addresses that the server saw, and what each end counted: the tool \
                          does not say them";

impl CellTrial<'_> {
    /// Lets the tool of this cell measure.
    pub(super) fn by_peer(
        &self,
        peer: &Peer,
        ours: &Hello,
        testbed: &mut dyn Testbed,
        watcher: &dyn Watcher,
    ) -> Result<Done, Fault> {
        let route = testbed.route(self.path, self.point)?;
        let before = testbed.counters(&route)?;
        let said = testbed.run_peer(&route, self.point, &|| watcher.interrupted())?;
        let after = testbed.counters(&route)?;
        let mut record = stated(peer, &said, &self.point.job.workload)?;
        if record.window_s <= 0.0 {
            record.window_s = self.point.job.timing.window_ns as f64 / SECOND as f64;
        }
        let started = OffsetDateTime::UNIX_EPOCH + said.started;
        let environment = &mut record.environment;
        environment.version = format!("hopbench {}", ours.version);
        environment.commit.clone_from(&ours.commit);
        environment.client.extend(said.machine.unwrap_or_else(|| ours.machine.clone()));
        environment.client.insert("tool".to_owned(), said.version.clone());
        // ICMP has no ports.
        let address = match self.point.job.transport() {
            Transport::Icmp => route.target.ip().to_string(),
            _ => route.target.to_string(),
        };
        let settings = [
            ("hops", route.hops.join(", ")),
            ("address", address),
            ("measured by", said.version),
            ("command", said.client),
            ("server command", said.server.unwrap_or_default()),
            ("not proved", NOT_PROVED.to_owned()),
        ];
        let settings = settings.into_iter().filter(|(_, value)| !value.is_empty());
        record.settings.extend(settings.map(|(name, value)| (name.to_owned(), value)));
        record.explanation.push(said.differs.to_owned());
        record.proof = said.placed;
        record.proof.extend(proven(
            testbed,
            testbed.prove_peer(&route, self.point, &before, &after, &record),
        ));
        let mut record = Record {
            run_id: self.run_id.to_owned(),
            path: self.path.name.clone(),
            workload: self.point.workload.clone(),
            point: self.point.point.clone(),
            round: self.round,
            session: self.session,
            started_at: started.format(&Rfc3339).unwrap_or_default(),
            ..record
        };
        outcome::decide(&mut record, false, Ok(()));
        Ok(Done { record, fault: None })
    }
}

/// What a tool states, as a record of the kind that was planned. Where it states nothing, its
/// server may have said why.
fn stated(peer: &Peer, said: &PeerSaid, planned: &str) -> Result<Record, Fault> {
    let failed = |fault: Fault| Fault::measuring(format!("{}{}", fault.text, said.server_said));
    read(peer, said, planned).map_err(failed)
}

fn read(peer: &Peer, said: &PeerSaid, planned: &str) -> Result<Record, Fault> {
    let tool = &peer.tool;
    let mut record = hopbench_import::stated(tool, &said.output)
        .map_err(|problem| Fault::measuring(problem.to_string()))?;
    let found = record.job["workload"].as_str().unwrap_or_default();
    let found = found.replacen(WorkloadKind::IMPORTED, BY_PEER, 1);
    if found != planned {
        let why = format!("{tool} printed the figures of {found}, expected those of {planned}");
        return Err(Fault::measuring(why));
    }
    if record.metrics.is_empty() {
        return Err(Fault::measuring(format!("{tool} printed no figure: {}", said.client)));
    }
    record.job["workload"] = Value::from(found);
    Ok(record)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn said(output: &str) -> PeerSaid {
        PeerSaid {
            version: "qperf 0.4.11".to_owned(),
            client: "qperf tcp_lat".to_owned(),
            server: None,
            output: output.to_owned(),
            server_said: "; its server said: no".to_owned(),
            differs: "half",
            started: Duration::ZERO,
            machine: None,
            placed: Vec::new(),
        }
    }

    #[test]
    fn a_record_has_what_the_tool_states_and_no_more() {
        let peer = Peer { tool: "qperf".to_owned(), of: "latency".to_owned() };
        let read = |output: &str, planned| {
            stated(&peer, &said(output), planned).map_err(|fault| fault.text)
        };
        let record = read("tcp_lat:\n    latency  =  20 us\n", "peer-rr").unwrap();
        assert_eq!(record.job["workload"], "peer-rr");
        assert_eq!(record.metrics, [("service_mean_ns".to_owned(), 40_000.0)].into());
        assert!(record.explanation[0].contains("doubled"), "{:?}", record.explanation);
        assert!(record.proof.is_empty() && record.latency.is_empty());
        let other = read("tcp_bw:\n    bw  =  752 MB/sec\n", "peer-rr").unwrap_err();
        assert_eq!(
            other,
            "qperf printed the figures of peer-stream, expected those of peer-rr; \
             its server said: no"
        );
        let broken = read("failed to connect\n", "peer-rr").unwrap_err();
        assert!(broken.starts_with("the output of qperf"), "{broken}");
        assert!(broken.ends_with("; its server said: no"), "{broken}");
    }
}
