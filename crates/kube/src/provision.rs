//! Provisioning of a run: its objects are made, its pods are waited for, and what stands is kept in
//! mind.

pub(crate) mod built;
pub(crate) mod container_logs;
pub(crate) mod launch;
pub(crate) mod mesh_state;
pub(crate) mod objects;
pub(crate) mod pod_diagnosis;
pub(crate) mod pod_status;
pub(crate) mod pods;
pub(crate) mod services;
pub(crate) mod target;
