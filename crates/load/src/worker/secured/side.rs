//! The end of TLS that a flow has.

use super::client::TlsClient;
use super::server::TlsServer;

/// Which end of TLS a flow has, and with what settings.
#[derive(Clone)]
pub(super) enum Side {
    Client(TlsClient),
    Server(TlsServer),
}
