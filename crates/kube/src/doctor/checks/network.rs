//! The checks of the ways between pods: their network, Services, Gateways.

pub(super) mod gateway_api;
pub(super) mod kube_proxy;
pub(super) mod pod_network;
