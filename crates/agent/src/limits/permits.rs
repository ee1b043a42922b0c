//! The permits of the run whose agent this is.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use hopbench_control::conductor::RunKey;
use hopbench_model::{Fault, Permit, SignedPermit};
use hopbench_wire::{Prepare, Role};

/// The key whose permits count, and the latest permit.
#[derive(Debug)]
pub(crate) struct Permits {
    run: RunKey,
    latest: Mutex<Option<Arc<Permit>>>,
}

impl Permits {
    /// Those of a run; there is none yet.
    pub(crate) fn of(run: RunKey) -> Self {
        Self { run, latest: Mutex::default() }
    }

    /// Refuses an order that the permit it came with does not allow: a job larger than any of the
    /// plan, and for a client a target that is not of the plan. Where `any_port` is set, the
    /// target's address alone counts.
    pub(crate) fn check(
        &self,
        order: &Prepare,
        target: SocketAddr,
        any_port: bool,
    ) -> Result<(), Fault> {
        let permit = self.take(order.permit.as_ref())?;
        permit.bounds.refuse(&order.job)?;
        if order.role == Role::Client && !permit.allows(target, any_port) {
            return Err(Fault::environment(format!(
                "{target} is none of the {} targets of the run's plan; this agent connects nowhere \
                 else",
                permit.targets.len()
            )));
        }
        Ok(())
    }

    /// The permit of an order, which is the latest from now on; refused where it is not the run's,
    /// or earlier than the latest.
    fn take(&self, signed: Option<&SignedPermit>) -> Result<Arc<Permit>, Fault> {
        let refused =
            |why: String| Fault::environment(format!("the order's permit is refused: {why}"));
        let signed = signed.ok_or_else(|| {
            Fault::environment(
                "the order has no permit, and an agent of a run does nothing without one",
            )
        })?;
        let permit = Arc::new(self.run.read(signed).map_err(|error| refused(error.to_string()))?);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        match &*latest {
            Some(known) if permit.sequence < known.sequence => Err(refused(format!(
                "it has number {}, and this agent knows number {} already",
                permit.sequence, known.sequence
            ))),
            Some(known) if permit.sequence == known.sequence && permit != *known => {
                Err(refused(format!("number {} said something else before", permit.sequence)))
            }
            _ => {
                *latest = Some(Arc::clone(&permit));
                Ok(permit)
            }
        }
    }
}
