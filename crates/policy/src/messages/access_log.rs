//! `envoy.service.accesslog.v3` and `envoy.data.accesslog.v3`: what was done with requests and
//! connections.

use bytes::Bytes;

use super::address::Address;

/// A batch of entries. Each is kept as its bytes and decoded when it is its turn. An entry of two
/// bytes becomes one of hundreds, and a batch of such would fill the memory.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StreamAccessLogsMessage {
    #[prost(message, optional, tag = "2")]
    pub(crate) http_logs: Option<Entries>,
    #[prost(message, optional, tag = "3")]
    pub(crate) tcp_logs: Option<Entries>,
}

/// The answer at the end, which says nothing.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StreamAccessLogsResponse {}

/// Entries of one kind: each the bytes of an [`HttpEntry`] or of a [`TcpEntry`].
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Entries {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub(crate) log_entry: Vec<Bytes>,
}

/// A request.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HttpEntry {
    #[prost(message, optional, tag = "1")]
    pub(crate) common_properties: Option<Common>,
    #[prost(message, optional, tag = "3")]
    pub(crate) request: Option<RequestProperties>,
    #[prost(message, optional, tag = "4")]
    pub(crate) response: Option<ResponseProperties>,
}

/// A connection.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TcpEntry {
    #[prost(message, optional, tag = "1")]
    pub(crate) common_properties: Option<Common>,
    #[prost(message, optional, tag = "2")]
    pub(crate) connection_properties: Option<ConnectionProperties>,
}

/// What both have.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Common {
    #[prost(message, optional, tag = "2")]
    pub(crate) downstream_remote_address: Option<Address>,
    #[prost(message, optional, tag = "23")]
    pub(crate) duration: Option<Duration>,
    /// The connection goes on: another entry will come, which has all that this one has.
    #[prost(bool, tag = "27")]
    pub(crate) intermediate_log_entry: bool,
}

/// `google.protobuf.Duration`.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Duration {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(crate) nanos: i32,
}

/// The request as it came.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct RequestProperties {
    #[prost(string, tag = "5")]
    pub(crate) path: String,
    #[prost(uint64, tag = "11")]
    pub(crate) request_headers_bytes: u64,
    #[prost(uint64, tag = "12")]
    pub(crate) request_body_bytes: u64,
}

/// The response as it went.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ResponseProperties {
    #[prost(message, optional, tag = "1")]
    pub(crate) response_code: Option<UInt32>,
    #[prost(uint64, tag = "2")]
    pub(crate) response_headers_bytes: u64,
    #[prost(uint64, tag = "3")]
    pub(crate) response_body_bytes: u64,
}

/// `google.protobuf.UInt32Value`.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct UInt32 {
    #[prost(uint32, tag = "1")]
    pub(crate) value: u32,
}

/// Bytes with the client.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct ConnectionProperties {
    #[prost(uint64, tag = "1")]
    pub(crate) received_bytes: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) sent_bytes: u64,
}

impl Duration {
    /// Nanoseconds; 0 where it is negative, the most there is where it is more.
    pub(crate) fn ns(self) -> u64 {
        let ns = i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos);
        u64::try_from(ns.max(0)).unwrap_or(u64::MAX)
    }
}
