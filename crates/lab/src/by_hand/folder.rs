//! Where state files are.

use std::env;
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;

use hopbench_model::Fault;
use nix::unistd::Uid;

/// The folder, made if need be: `$XDG_RUNTIME_DIR/hopbench`, or `hopbench-UID` in the folder for temporary files.
///
/// # Errors
/// What is there is not a folder of this user alone: what it says about processes could not be trusted.
pub(super) fn ours() -> Result<PathBuf, Fault> {
    let user = Uid::effective();
    let folder = match env::var_os("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty()) {
        Some(runtime) => PathBuf::from(runtime).join("hopbench"),
        None => env::temp_dir().join(format!("hopbench-{user}")),
    };
    let refused = |what: String| Fault::environment(format!("{}: {what}", folder.display()));
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(refused(error.to_string())),
        _ => {}
    }
    // Of the link itself, if it is one.
    let found = fs::symlink_metadata(&folder).map_err(|e| refused(e.to_string()))?;
    if !found.is_dir() || found.uid() != user.as_raw() || found.mode() & 0o077 != 0 {
        return Err(refused(
            "must be a folder that only you can use (mode 0700); remove it, or set XDG_RUNTIME_DIR".to_owned(),
        ));
    }
    Ok(folder)
}
