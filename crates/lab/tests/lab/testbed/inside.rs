//! A test in the lab's sandbox, where the programs that labs use are installed.

use crate::inside::{skip, skip_unless, this_test};

/// Runs `body` in a sandbox; see [`crate::inside::inside`].
pub(crate) fn inside(body: impl FnOnce()) {
    match hopbench_lab::find("nft") {
        None => skip(&this_test(), "`nft` is not installed"),
        Some(_) => crate::inside::inside(body),
    }
}

/// The same where nginx is; where it is not the test is skipped, and fails with
/// `HOPBENCH_REQUIRE_TOOLS=1`.
pub(crate) fn inside_with_nginx(body: impl FnOnce()) {
    match hopbench_lab::find("nginx") {
        None => skip_unless("HOPBENCH_REQUIRE_TOOLS", &this_test(), "`nginx` is not installed"),
        Some(_) => inside(body),
    }
}
