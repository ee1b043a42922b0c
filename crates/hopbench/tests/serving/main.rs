//! The binary as a server: as an agent, between agents on hosts, and as the services of proxies.

mod agent;
mod hostile;
mod hosts;
#[path = "../lab/lab.rs"]
mod lab;
mod limits;
mod policy;
