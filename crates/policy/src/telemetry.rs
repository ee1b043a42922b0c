//! The telemetry service: proxies tell it of each request and each connection, in batches, on
//! streams that never end.

mod aggregate;
mod latencies;

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use prost::Message;
use serde_json::{Map, Value, json};

use crate::grpc::{Status, framed};
use crate::messages::access_log::{
    Common, HttpEntry, StreamAccessLogsMessage, StreamAccessLogsResponse, TcpEntry,
};
use crate::messages::address::Address;
use crate::service::{Count, Service};
use aggregate::{Aggregate, Label, LoggedExchange};

/// What it was told.
#[derive(Debug, Default)]
pub(crate) struct Telemetry {
    aggregate: Mutex<Aggregate>,
    intermediate: Count,
}

impl Service for Telemetry {
    const METHOD: &'static str = "/envoy.service.accesslog.v3.AccessLogService/StreamAccessLogs";
    const STREAMS: bool = true;

    fn take(&self, message: Bytes) -> Result<Bytes, Status> {
        let message: StreamAccessLogsMessage = decoded(message)?;
        for entry in message.http_logs.unwrap_or_default().log_entry {
            let entry: HttpEntry = decoded(entry)?;
            if self.is_final(entry.common_properties.as_ref()) {
                self.add(of_request(entry));
            }
        }
        for entry in message.tcp_logs.unwrap_or_default().log_entry {
            let entry: TcpEntry = decoded(entry)?;
            if self.is_final(entry.common_properties.as_ref()) {
                self.add(of_connection(&entry));
            }
        }
        self.nothing()
    }

    fn nothing(&self) -> Result<Bytes, Status> {
        Ok(framed(&StreamAccessLogsResponse::default()))
    }

    fn totals(&self) -> Map<String, Value> {
        let mut totals = self.lock().totals();
        totals.insert("intermediate_reports".to_owned(), json!(self.intermediate.get()));
        totals
    }
}

impl Telemetry {
    fn add(&self, (label, report): (Label, LoggedExchange)) {
        self.lock().add(label, report);
    }

    /// A thread that panicked leaves sums that are still sums.
    fn lock(&self) -> MutexGuard<'_, Aggregate> {
        self.aggregate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing more will be reported of the same thing; counts it where there will.
    fn is_final(&self, common: Option<&Common>) -> bool {
        let is_final = !common.is_some_and(|common| common.intermediate_log_entry);
        if !is_final {
            self.intermediate.one();
        }
        is_final
    }
}

fn decoded<M: Message + Default>(bytes: Bytes) -> Result<M, Status> {
    M::decode(bytes).map_err(|error| Status::invalid(error.to_string()))
}

fn of_request(entry: HttpEntry) -> (Label, LoggedExchange) {
    let common = entry.common_properties.unwrap_or_default();
    let request = entry.request.unwrap_or_default();
    let response = entry.response.unwrap_or_default();
    let code = response.response_code.unwrap_or_default().value;
    let report = LoggedExchange {
        received_bytes: request.request_headers_bytes.saturating_add(request.request_body_bytes),
        sent_bytes: response.response_headers_bytes.saturating_add(response.response_body_bytes),
        duration_ns: common.duration.unwrap_or_default().ns(),
    };
    (Label::http(code, peer(&common), request.path), report)
}

fn of_connection(entry: &TcpEntry) -> (Label, LoggedExchange) {
    let nothing = Common::default();
    let common = entry.common_properties.as_ref().unwrap_or(&nothing);
    let bytes = entry.connection_properties.unwrap_or_default();
    let report = LoggedExchange {
        received_bytes: bytes.received_bytes,
        sent_bytes: bytes.sent_bytes,
        duration_ns: common.duration.unwrap_or_default().ns(),
    };
    (Label::tcp(peer(common)), report)
}

fn peer(common: &Common) -> Option<std::net::IpAddr> {
    common.downstream_remote_address.as_ref().and_then(Address::ip)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::access_log::{ConnectionProperties, Entries};

    /// What is reported of a connection that goes on is reported again at its end.
    #[test]
    fn a_connection_counts_when_it_is_over() {
        let telemetry = Telemetry::default();
        for (intermediate, bytes) in [(true, 10), (true, 20), (false, 30)] {
            let entry = TcpEntry {
                common_properties: Some(Common {
                    intermediate_log_entry: intermediate,
                    ..Common::default()
                }),
                connection_properties: Some(ConnectionProperties {
                    received_bytes: bytes,
                    sent_bytes: 0,
                }),
            };
            let tcp_logs = Some(Entries { log_entry: vec![entry.encode_to_vec().into()] });
            let message = StreamAccessLogsMessage { http_logs: None, tcp_logs };
            telemetry.take(message.encode_to_vec().into()).unwrap();
        }
        let totals = telemetry.totals();
        assert_eq!((&totals["reports"], &totals["intermediate_reports"]), (&json!(1), &json!(2)));
        assert_eq!(totals["received_bytes"], 30);
    }

    #[test]
    fn entries_without_anything_inside_count() {
        let telemetry = Telemetry::default();
        let http_logs = Some(Entries { log_entry: vec![Bytes::new(); 3] });
        let message = StreamAccessLogsMessage { http_logs, tcp_logs: None };
        telemetry.take(message.encode_to_vec().into()).unwrap();
        assert_eq!(telemetry.totals()["http_reports"], 3);
        for wrong in [&b"\x12"[..], b"\x12\x03\x0a\x01\x0a", b"\x1a\x03\x0a\x01\x0a"] {
            assert_eq!(telemetry.take(wrong.into()).unwrap_err().code, 3, "{wrong:?}");
        }
    }
}
