//! The plan of a run on a cluster: the pods and Services of its paths, and their nodes and
//! networks.
//!
//! `discovery` and `kube_proxy` ask the cluster. The rest is pure.

pub(crate) mod assign;
pub(crate) mod attachment;
pub(crate) mod discovery;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod gateways;
pub(crate) mod kube_proxy;
pub(crate) mod names;
pub(crate) mod nodes;
pub(crate) mod peers;
pub(crate) mod placement;
pub(crate) mod services;
pub(crate) mod traffic;
