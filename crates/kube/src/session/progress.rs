//! Progress messages for the caller.

use std::fmt;
use std::sync::Arc;

/// A function that takes a line.
type Listener = Arc<dyn Fn(&str) + Send + Sync>;

/// Takes lines for the caller; by default it drops them.
#[derive(Clone, Default)]
pub(crate) struct Progress(Option<Listener>);

impl Progress {
    pub(crate) fn to(tell: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(tell)))
    }

    /// Says a line.
    pub(crate) fn say(&self, line: &str) {
        if let Some(tell) = &self.0 {
            tell(line);
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("is_heard", &self.0.is_some()).finish()
    }
}
