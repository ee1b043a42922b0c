//! `envoy.config.core.v3.Address`.

use std::net::IpAddr;

/// An address: of a socket, or something that has no IP.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Address {
    #[prost(message, optional, tag = "1")]
    pub(crate) socket_address: Option<SocketAddress>,
}

/// `envoy.config.core.v3.SocketAddress`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SocketAddress {
    #[prost(string, tag = "2")]
    pub(crate) address: String,
    #[prost(uint32, tag = "3")]
    pub(crate) port_value: u32,
}

impl Address {
    /// The IP, where it has one.
    pub(crate) fn ip(&self) -> Option<IpAddr> {
        self.socket_address.as_ref()?.address.parse().ok()
    }

    /// The port, where it has one.
    pub(crate) fn port(&self) -> Option<u16> {
        u16::try_from(self.socket_address.as_ref()?.port_value).ok()
    }
}
