//! The addresses of load balancers, which others give, and may take their time for.

use std::time::Duration;

use hopbench_model::{Fault, Via};
use tokio::time::Instant;

use super::cluster::{Cluster, standing_mut};
use super::progress::Progress;
use crate::api::access::Access;
use crate::api::stoppable_wait::StoppableWait;
use crate::provision::built::Built;
use crate::provision::services;

/// Time limit for the addresses of load balancers. After it the other paths are measured.
const BALANCERS: Duration = Duration::from_secs(15);

/// Waits for the addresses of load balancers, but not for long: those that come later are seen when
/// their path is asked for.
pub(super) fn balance(
    access: &Access,
    built: &mut Built,
    until: Instant,
    wait: &StoppableWait,
    progress: &Progress,
) -> Result<(), Fault> {
    let waiting = built.services.iter().filter(|service| service.via == Via::LoadBalancer);
    let names: Vec<String> = waiting.map(|service| service.name.clone()).collect();
    if !names.is_empty() {
        let until = until.min(Instant::now() + BALANCERS);
        progress.say(&format!(
            "waiting for the addresses of load balancers, {} s at most",
            BALANCERS.as_secs()
        ));
        let found = services::balancers(&access.client, &built.run, &names, until);
        let found = access.runtime.block_on(wait.for_answer("the load balancers", found))?;
        built.entries.extend(found.map_err(|e| access.refused("the load balancers", &e))?);
    }
    Ok(())
}

impl Cluster {
    /// Looks again for the addresses of a path's load balancers that had none when they were waited
    /// for.
    pub(super) fn balance_again(&mut self, path: &str) -> Result<(), Fault> {
        let (access, built) = standing_mut(&self.access, &mut self.built)?;
        let has_none =
            |name: &str| built.entries.get(name).is_none_or(|entry| entry.balancer.is_none());
        let of_path = built
            .services
            .iter()
            .filter(|service| service.path == path && service.via == Via::LoadBalancer);
        let names: Vec<String> =
            of_path.map(|service| service.name.clone()).filter(|name| has_none(name)).collect();
        if !names.is_empty() {
            let found = services::balancers(&access.client, &built.run, &names, Instant::now());
            let found = access.ask("the load balancers", found)?;
            built.entries.extend(found);
        }
        Ok(())
    }
}
