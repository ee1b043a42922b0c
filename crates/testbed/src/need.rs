//! A need of a plan that a testbed does not meet.

use std::fmt;

use hopbench_model::Path;

/// Something that a path needs and that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The path that needs it; absent: the whole testbed.
    pub path: Option<String>,
    /// The missing thing: `runsc`; [`Need::IMPOSSIBLE`] where nothing could be added.
    pub what: String,
    /// The reason why it is needed, and how that was found out.
    pub why: String,
    /// The remedy; empty: the reason says all.
    pub remedy: String,
}

impl Need {
    /// The value of `what` if no installation makes this path possible.
    pub const IMPOSSIBLE: &str = "the path cannot exist";

    /// A need of a path or of the whole testbed: the missing thing, the reason, and the remedy.
    pub fn new(path: Option<&Path>, what: &str, why: String, remedy: &str) -> Self {
        Self {
            path: path.map(|path| path.name.clone()),
            what: what.to_owned(),
            why,
            remedy: remedy.to_owned(),
        }
    }

    /// The remedy behind a semicolon; nothing where the reason says all.
    pub fn advice(&self) -> String {
        if self.remedy.is_empty() { String::new() } else { format!("; {}", self.remedy) }
    }
}

/// `runsc is missing: it is not in PATH; install gVisor`.
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What no installation brings is not missing.
        let is_missing = if self.what == Self::IMPOSSIBLE { "" } else { " is missing" };
        write!(f, "{}{is_missing}: {}{}", self.what, self.why, self.advice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_need_without_a_remedy_ends_with_its_reason() {
        let told = |remedy: &str| {
            Need::new(None, "runsc", "it is not in PATH".to_owned(), remedy).to_string()
        };
        assert_eq!(told("install gVisor"), "runsc is missing: it is not in PATH; install gVisor");
        assert_eq!(told(""), "runsc is missing: it is not in PATH");
    }
}
