//! A look at a plan, which may be of somebody else.

use crate::lab::Lab;

impl Lab {
    /// The same, but only for a look at a plan: nothing that the plan names is started. So an Envoy
    /// of a subject is not asked for its version.
    #[must_use]
    pub fn starting_nothing(mut self) -> Self {
        self.starts_nothing = true;
        self
    }
}
