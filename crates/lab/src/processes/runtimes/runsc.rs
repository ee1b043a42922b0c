//! `runsc`: gVisor, a kernel in user space with a TCP/IP stack of its own.
//!
//! It is started in the pod's network namespace. It takes addresses and routes of the pod's links
//! over into its own stack, and moves frames through packet sockets. So the namespace's links count
//! them as always. The control session crosses as the agent's standard input, which the sandbox
//! passes on. Nothing here needs a right on the machine: root of a user namespace will do.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::PathBuf;

use hopbench_model::{EngineKind, Point};
use serde_json::json;

use super::runtime::{Bundle, Runtime};
use crate::processes::tools;

#[derive(Debug)]
pub(super) struct Runsc;

/// Open files that the agent may have: a flow is one.
const OPEN_FILES: u64 = 1 << 20;

impl Runtime for Runsc {
    fn name(&self) -> &'static str {
        "runsc"
    }

    fn summary(&self) -> &'static str {
        "gVisor: a kernel of its own around the pod"
    }

    fn find(&self) -> Option<PathBuf> {
        tools::find("runsc").or_else(|| tools::cached("runsc"))
    }

    fn remedy(&self) -> &'static str {
        "scripts/install-runsc.sh builds it; or put gVisor's static binary `runsc` into PATH"
    }

    fn unsupported(&self, point: &Point) -> Option<String> {
        (point.job.engine == EngineKind::Uring).then(|| "gVisor has no io_uring".to_owned())
    }

    fn configure(&self, bundle: &Bundle<'_>) -> io::Result<Vec<OsString>> {
        let folder = bundle.folder;
        let state = folder.join("state");
        fs::create_dir(&state)?;
        fs::write(folder.join("config.json"), serde_json::to_vec_pretty(&config(bundle))?)?;
        let id = folder.file_name().unwrap_or(folder.as_os_str());
        let mut arguments: Vec<OsString> = [
            // The lab's own CPU sets hold for the sandbox, too; control groups would need rights.
            "--ignore-cgroups",
            "--network=sandbox",
            "--platform=systrap",
            // The root cannot be written to, so that nothing needs to be kept over it.
            "--overlay2=none",
            // The helper that opens files has no network. One that is kept for all would be a mount
            // that stays.
            "--gofer-network-namespace=new",
            "--root",
        ]
        .map(OsString::from)
        .to_vec();
        arguments.extend([
            state.into(),
            "run".into(),
            "--bundle".into(),
            folder.into(),
            id.to_owned(),
        ]);
        Ok(arguments)
    }
}

/// The bundle's description (OCI runtime specification): no capability, and the network namespace
/// that `runsc` is in.
fn config(bundle: &Bundle<'_>) -> serde_json::Value {
    let own = ["pid", "ipc", "uts", "mount"].map(|kind| json!({"type": kind}));
    let network = json!({"type": "network", "path": "/proc/self/ns/net"});
    let namespaces: Vec<_> = own.into_iter().chain([network]).collect();
    json!({
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": 0, "gid": 0},
            "args": bundle.command,
            "env": [],
            "cwd": "/",
            "noNewPrivileges": true,
            "capabilities": {},
            "rlimits": [{"type": "RLIMIT_NOFILE", "hard": OPEN_FILES, "soft": OPEN_FILES}],
        },
        "root": {"path": bundle.root, "readonly": true},
        "hostname": "sandbox",
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro"]},
        ],
        "linux": {"namespaces": namespaces},
    })
}
