//! A test in the lab's sandbox, where the programs that labs use are installed.

use crate::common::inside::skip;

/// Runs `body` in a sandbox; see [`crate::common::inside::inside`].
pub(crate) fn inside(test: &str, body: impl FnOnce()) {
    match ["nft", "nginx"].into_iter().find(|tool| hopbench_lab::find(tool).is_none()) {
        Some(tool) => skip(test, &format!("`{tool}` is not installed")),
        None => crate::common::inside::inside(test, body),
    }
}
