//! The contract of a service: one gRPC method.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::grpc::Status;

/// A service with one method.
pub(crate) trait Service: fmt::Debug + Send + Sync + 'static {
    /// Its method, as the path of a request: `/package.Service/Method`.
    const METHOD: &'static str;
    /// Whether a call has any number of messages, over any time; otherwise it has one.
    const STREAMS: bool;

    /// Takes a message of a call; what it gives for the last is the answer, in its frame.
    fn take(&self, message: Bytes) -> Result<Bytes, Status>;

    /// The answer to a call of a stream without any message, in its frame.
    fn nothing(&self) -> Result<Bytes, Status>;

    /// Its totals since the start.
    fn totals(&self) -> Map<String, Value>;
}

/// Something that is counted.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    /// One more.
    pub(crate) fn one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// As many as were counted.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
