//! The programs that make HTTP requests, calls of gRPC among them.

pub(crate) mod fortio;
pub(crate) mod generator;
pub(crate) mod ghz;
pub(crate) mod h2load;
pub(crate) mod hey;
pub(crate) mod k6;
pub(crate) mod oha;
pub(crate) mod wrk;
