//! Root in a user namespace, for users who are not root.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// Set in the environment of the re-executed program, so that it happens once.
const MARK: &str = "HOPBENCH_BENCH_ROOTLESS";

/// In the new mount namespace `/run` is ours, so that `ip netns` can keep its files there; loopback
/// starts out down in a new network namespace.
const SET_UP: &str = r#"mount -t tmpfs tmpfs /run && ip link set lo up && exec "$0" "$@""#;

/// Neither root nor a way to become it.
#[derive(Debug, thiserror::Error)]
#[error(
    "network namespaces need root, and this user may not make user namespaces (`unshare -Urnm \
     true`: {why}); run it with sudo, or allow user namespaces: `sysctl user.max_user_namespaces`, \
     `kernel.unprivileged_userns_clone=1` (Debian), \
     `kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu)"
)]
struct NoPrivilege {
    why: String,
}

/// Returns at once as root; otherwise this process becomes the same program in new user, network
/// and mount namespaces, which vanish with it.
///
/// # Errors
/// [`NoPrivilege`], or when the program cannot be started again.
pub(crate) fn enter() -> Result<()> {
    if nix::unistd::geteuid().is_root() || std::env::var_os(MARK).is_some() {
        return Ok(());
    }
    let tried = Command::new("unshare")
        .args(["-Urnm", "true"])
        .stdin(Stdio::null())
        .output()
        .context("`unshare` (package util-linux) cannot be started")?;
    if !tried.status.success() {
        let why = String::from_utf8_lossy(&tried.stderr).trim().to_owned();
        return Err(NoPrivilege { why }.into());
    }
    let program = std::env::current_exe().context("path of this program")?;
    let error = Command::new("unshare")
        .args(["-Urnm", "sh", "-c", SET_UP])
        .arg(program)
        .args(std::env::args_os().skip(1))
        .env(MARK, "1")
        .exec();
    Err(error).context("re-execution through `unshare -Urnm`")
}
