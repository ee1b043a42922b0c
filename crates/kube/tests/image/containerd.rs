//! A containerd of the test's own.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hopbench_sys::clock;
use tempfile::TempDir;

/// It runs, in a folder that goes with it.
pub(crate) struct Containerd {
    child: Child,
    folder: TempDir,
}

impl Containerd {
    /// Starts it; `None` where there is none, or where this user must not.
    pub(crate) fn start() -> Option<Self> {
        let root = std::fs::read_to_string("/proc/self/status").unwrap().contains("\nUid:\t0\t0\t");
        let there = ["containerd", "ctr"]
            .iter()
            .all(|name| Command::new(name).arg("--version").output().is_ok());
        if !root || !there {
            return None;
        }
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        let config = format!(
            "version = 2\nroot = '{}'\nstate = '{}'\n\
             disabled_plugins = ['io.containerd.grpc.v1.cri']\n[grpc]\naddress = '{}'\n",
            at("root"),
            at("state"),
            at("socket")
        );
        std::fs::write(at("config.toml"), config).unwrap();
        let child = Command::new("containerd")
            .args(["--config", &at("config.toml")])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let containerd = Self { child, folder };
        for _ in 0..100 {
            if containerd.asked(&["version"]).status.success() {
                return Some(containerd);
            }
            clock::sleep_until(clock::now() + Duration::from_millis(100).as_nanos() as u64);
        }
        panic!("{}", std::fs::read_to_string(containerd.folder().join("log")).unwrap());
    }

    /// Its folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What `ctr` prints.
    pub(crate) fn ctr(&self, args: &[&str]) -> String {
        let done = self.asked(args);
        assert!(done.status.success(), "ctr {args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    }

    fn asked(&self, args: &[&str]) -> std::process::Output {
        let socket = self.folder.path().join("socket");
        Command::new("ctr")
            .arg("--address")
            .arg(socket)
            .args(["--namespace", "k8s.io"])
            .args(args)
            .output()
            .unwrap()
    }
}

impl Drop for Containerd {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
