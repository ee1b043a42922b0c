//! Services: addresses and node ports that stand for several backends, as nftables rules.
//!
//! `service` is a Service as data, and `pod_ports` has the ports behind it. `service_rules` are its
//! rules; `nft_json` is the language of the rules; `nft_program` puts them into the kernel and
//! reads their counters.

pub(crate) mod nft_json;
pub(crate) mod nft_program;
pub(crate) mod pod_ports;
pub(crate) mod service;
pub(crate) mod service_rules;
