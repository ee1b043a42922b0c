//! A test in the lab's sandbox, where the programs that labs use are installed.

use crate::common::inside::{skip, skip_unless};

/// Runs `body` in a sandbox; see [`crate::common::inside::inside`].
pub(crate) fn inside(test: &str, body: impl FnOnce()) {
    match hopbench_lab::find("nft") {
        None => skip(test, "`nft` is not installed"),
        Some(_) => crate::common::inside::inside(test, body),
    }
}

/// The same where nginx is; where it is not the test is skipped, and fails with
/// `HOPBENCH_REQUIRE_TOOLS=1`.
pub(crate) fn inside_with_nginx(test: &str, body: impl FnOnce()) {
    match hopbench_lab::find("nginx") {
        None => skip_unless("HOPBENCH_REQUIRE_TOOLS", test, "`nginx` is not installed"),
        Some(_) => inside(test, body),
    }
}
