//! Provisioning of a run: the creation of its objects, the wait for its pods, and the state that
//! stands.

pub(crate) mod built;
pub(crate) mod container_logs;
pub(crate) mod gateway;
pub(crate) mod launch;
pub(crate) mod mesh_state;
pub(crate) mod objects;
pub(crate) mod pod_diagnosis;
pub(crate) mod pod_status;
pub(crate) mod pods;
pub(crate) mod proxy_pods;
pub(crate) mod services;
pub(crate) mod target;
