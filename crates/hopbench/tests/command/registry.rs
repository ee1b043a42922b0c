//! A registry of images of the test's own, with one user who may push.
#![allow(clippy::unwrap_used, reason = "all of this is test")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hopbench_sys::clock;
use tempfile::TempDir;

const USER: &str = "tester";
const PASSWORD: &str = "a-good-secret";
/// The same as the registry's file of users has it (bcrypt).
const HASHED: &str = "$2y$05$abcdefghijklmnopqrstuu33OVGKCkv2MjAlyHtotsXnie7vofdOS";

/// A registry that runs, in a folder that goes with it.
pub(crate) struct Registry {
    child: Child,
    folder: TempDir,
    address: String,
}

impl Registry {
    /// Starts it on the loopback interface; `None` where there is no such program.
    pub(crate) fn start() -> Option<Self> {
        Command::new("docker-registry").arg("--version").output().ok()?;
        let folder = TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let config = format!(
            "version: 0.1\nstorage: {{filesystem: {{rootdirectory: {}}}}}\n\
             http: {{addr: {address}}}\nauth: {{htpasswd: {{realm: test, path: {}}}}}\n",
            at("store"),
            at("users")
        );
        std::fs::write(at("config.yml"), config).unwrap();
        std::fs::write(at("users"), format!("{USER}:{HASHED}\n")).unwrap();
        let log = std::fs::File::create(at("log")).unwrap();
        let child = Command::new("docker-registry")
            .args(["serve", &at("config.yml")])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let registry = Self { child, folder, address };
        for _ in 0..100 {
            if TcpStream::connect(&registry.address).is_ok() {
                return Some(registry);
            }
            clock::sleep_until(clock::now() + 100_000_000);
        }
        panic!("{}", std::fs::read_to_string(registry.folder.path().join("log")).unwrap());
    }

    /// `127.0.0.1:PORT`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// What `docker login` leaves in its folder.
    pub(crate) fn login(&self, is_right: bool) -> TempDir {
        let folder = TempDir::new().unwrap();
        let password = if is_right { PASSWORD } else { "wrong" };
        let auths =
            serde_json::json!({"auths": {&self.address: {"username": USER, "password": password}}});
        std::fs::write(folder.path().join("config.json"), auths.to_string()).unwrap();
        folder
    }

    /// What stands in it under a path, for its user.
    pub(crate) fn get(&self, path: &str, accept: &str) -> Vec<u8> {
        // tester:a-good-secret
        const BASIC: &str = "dGVzdGVyOmEtZ29vZC1zZWNyZXQ=";
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.0\r\nAuthorization: Basic {BASIC}\r\nAccept: {accept}\r\n\r\n"
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        assert!(head.contains(" 200 "), "{path}: {head}");
        answer.split_off(end + 4)
    }

    /// Runs `hopbench kube image` for a user with this folder of docker's.
    pub(crate) fn image(config: &Path, args: &[&str]) -> std::process::Output {
        Command::new(env!("CARGO_BIN_EXE_hopbench"))
            .args(["kube", "image"])
            .args(args)
            .env("DOCKER_CONFIG", config)
            .output()
            .unwrap()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
