//! The real Envoy.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hopbench_mesh::{AdminAddress, ProxySpec, STATS};

use crate::inside::this_test;

/// Where it is: in the path, or where `make` fetches it to. Without one the calling test is
/// skipped, which is printed; with `HOPBENCH_REQUIRE_ENVOY=1` it fails.
pub(crate) fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    let cached = cache.into_iter().map(|cache| cache.join("hopbench/bin"));
    let found = std::env::split_paths(&path)
        .chain(cached)
        .map(|folder| folder.join("envoy"))
        .find(|at| at.is_file());
    if found.is_none() {
        let test = this_test();
        let required = std::env::var("HOPBENCH_REQUIRE_ENVOY").is_ok_and(|value| value == "1");
        assert!(!required, "{test} needs Envoy (HOPBENCH_REQUIRE_ENVOY=1)");
        // Not `println`: what that prints is kept back when the test passes, and a skip is to be
        // seen.
        let _ = writeln!(std::io::stdout(), "\nSKIP {test}: there is no envoy");
    }
    found
}

/// What Envoy says of a bootstrap that it does not take.
pub(crate) fn validate(envoy: &Path, proxy: &ProxySpec) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), proxy);
    let mut command = Command::new(envoy);
    command.args(["--mode", "validate"]).args(proxy.arguments()).arg("--config-path").arg(file);
    let done = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    // A field that will go away is found here before it is gone.
    if done.status.success() && !said.contains("[warning]") { Ok(()) } else { Err(said) }
}

fn write(folder: &Path, proxy: &ProxySpec) -> PathBuf {
    let file = folder.join("envoy.json");
    fs::write(&file, proxy.bootstrap().to_string()).unwrap();
    file
}

/// One that runs. Dropping this ends it.
pub(crate) struct Envoy {
    process: Child,
    admin: AdminAddress,
    folder: tempfile::TempDir,
}

impl Envoy {
    pub(crate) fn start(envoy: &Path, mut proxy: ProxySpec) -> Self {
        let folder = tempfile::tempdir().unwrap();
        proxy.access_log = folder.path().join("access.log").to_str().unwrap().to_owned();
        let file = write(folder.path(), &proxy);
        let log = fs::File::create(folder.path().join("envoy.log")).unwrap();
        let mut command = Command::new(envoy);
        command.args(proxy.arguments()).arg("--config-path").arg(file).stdin(Stdio::null());
        let process = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let mut this = Self { process, admin: proxy.admin, folder };
        let deadline = Instant::now() + Duration::from_secs(30);
        while this.ask("GET", "/ready").is_none_or(|body| body != b"LIVE\n") {
            let ended = this.process.try_wait().unwrap();
            assert!(
                ended.is_none() && Instant::now() < deadline,
                "not ready: {ended:?}\n{}",
                this.log()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        this
    }

    /// The answer of its statistics, with everything brought up to date.
    pub(crate) fn stats(&self) -> Vec<u8> {
        self.ask("GET", STATS).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        self.ask("GET", STATS).unwrap()
    }

    pub(crate) fn counters(&self) -> std::collections::BTreeMap<String, u64> {
        hopbench_mesh::counters(&self.stats()).unwrap()
    }

    /// What it wrote to its log.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("envoy.log")).unwrap()
    }

    /// Its access log: it is complete once the process has ended.
    pub(crate) fn ended_access_log(mut self) -> String {
        self.ask("POST", "/quitquitquit").unwrap();
        assert!(self.process.wait().unwrap().success());
        fs::read_to_string(self.folder.path().join("access.log")).unwrap()
    }

    /// The body of an answer of its admin endpoint, if it answers 200.
    fn ask(&self, method: &str, path: &str) -> Option<Vec<u8>> {
        let AdminAddress::Pipe(name) = &self.admin else { panic!("{:?}", self.admin) };
        let name = SocketAddr::from_abstract_name(name.strip_prefix('@').unwrap()).unwrap();
        let mut socket = match UnixStream::connect_addr(&name) {
            Ok(socket) => socket,
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => return None,
            Err(error) => panic!("{error}"),
        };
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        write!(socket, "{method} {path} HTTP/1.1\r\nhost: admin\r\nconnection: close\r\n\r\n")
            .unwrap();
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let body = &answer[end + 4..];
        let body = if head.contains("transfer-encoding: chunked") {
            unchunked(body)
        } else {
            body.to_vec()
        };
        head.starts_with("HTTP/1.1 200").then_some(body)
    }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n").unwrap();
        let length = usize::from_str_radix(str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        if length == 0 {
            return body;
        }
        body.extend(&rest[end + 2..end + 2 + length]);
        rest = &rest[end + 2 + length + 2..];
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
