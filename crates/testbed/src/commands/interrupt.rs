//! The question whether the user wants to stop.

use std::fmt;
use std::sync::Arc;

/// Knows whether the user wants to stop. By default the user never does.
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Interrupt {
    /// One that asks `wanted`, many times a second where something takes long.
    pub fn by(wanted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(wanted)))
    }

    /// Whether the user wants to stop.
    pub fn wanted(&self) -> bool {
        self.0.as_ref().is_some_and(|wanted| wanted())
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interrupt").field("is_heeded", &self.0.is_some()).finish()
    }
}
