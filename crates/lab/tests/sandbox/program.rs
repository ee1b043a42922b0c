//! The start of this program in its role, as one user or another.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::role::SCRIPT;

/// Marks every process of one test.
pub(crate) const TOKEN: &str = "HOPBENCH_LAB_TEST_TOKEN";

/// Nobody, on every Linux.
const NOBODY: u32 = 65534;

/// Who starts the program.
#[derive(Debug)]
pub(crate) struct User {
    uid: u32,
    /// Whether that takes a change of user.
    change: bool,
    /// This program, where the user can reach it.
    pub(crate) program: PathBuf,
}

impl User {
    /// Whether namespaces are to be had without a user namespace.
    pub(crate) fn is_root_enough(&self) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        // CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN.
        let needed = 1 << 12 | 1 << 13 | 1 << 21_u64;
        let has = status
            .lines()
            .find_map(|line| u64::from_str_radix(line.strip_prefix("CapEff:")?.trim(), 16).ok());
        self.uid == 0 && has.is_some_and(|bits| bits & needed == needed)
    }

    fn command(&self, program: &str) -> Command {
        if !self.change {
            return Command::new(program);
        }
        let mut command = Command::new("setpriv");
        let id = self.uid.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups", program]);
        command
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "user {}", self.uid)
    }
}

/// The caller, and, if that is root, also nobody.
pub(crate) fn users() -> Vec<User> {
    let this = std::env::current_exe().expect("the path of this program");
    let uid = std::fs::metadata("/proc/self").expect("/proc").uid();
    let mut users = vec![User { uid, change: false, program: this.clone() }];
    if uid == 0 {
        // The build folder may be out of nobody's reach.
        let copy = std::env::temp_dir().join(format!("hopbench-sandbox-{}", std::process::id()));
        std::fs::copy(&this, &copy).expect("a copy of this program");
        std::fs::set_permissions(&copy, std::fs::Permissions::from_mode(0o755))
            .expect("permissions");
        users.push(User { uid: NOBODY, change: true, program: copy });
    }
    users
}

impl Drop for User {
    fn drop(&mut self) {
        if self.change {
            let _ = std::fs::remove_file(&self.program);
        }
    }
}

/// How it ended, and what it said.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A program that runs; killed when dropped.
#[derive(Debug)]
pub(crate) struct Started {
    child: Child,
    token: String,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stderr: ChildStderr,
}

impl Started {
    /// A sandbox that runs a line of shell.
    pub(crate) fn script(user: &User, script: &str) -> Self {
        Self::with(user, script, |_| {})
    }

    /// The same, with more to be said about the command.
    pub(crate) fn with(user: &User, script: &str, more: impl FnOnce(&mut Command)) -> Self {
        let mut command = user.command(user.program.to_str().expect("a path in UTF-8"));
        more(command.env(SCRIPT, script));
        Self::start(command)
    }

    /// A line of shell outside of any sandbox, in which the program is a sandbox that runs
    /// `inside`.
    pub(crate) fn outside(user: &User, script: &str, inside: &str) -> Self {
        let mut command = user.command("sh");
        command.args(["-c", script]).env(SCRIPT, inside).env("PATH", super::inside::path());
        Self::start(command)
    }

    fn start(mut command: Command) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let token = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        command
            .env(TOKEN, &token)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (stdout, stderr) = (BufReader::new(stdout.expect("a pipe")), stderr.expect("a pipe"));
        Self { child, token, stdin, stdout, stderr }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What all its processes have in their environment.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Gives it something to read.
    pub(crate) fn say(&mut self, text: &str) {
        self.stdin
            .take()
            .expect("not said anything yet")
            .write_all(text.as_bytes())
            .expect("a reader");
    }

    /// Reads until a line that says `word`.
    pub(crate) fn wait_for(&mut self, word: &str) {
        let mut line = String::new();
        while line.trim() != word {
            line.clear();
            assert_ne!(
                self.stdout.read_line(&mut line).expect("a pipe"),
                0,
                "it ended without saying {word}"
            );
        }
    }

    /// Reads to the end, which comes when the last process that could say something is gone, and
    /// waits for it.
    pub(crate) fn finish(mut self) -> Done {
        drop(self.stdin.take());
        let (mut out, mut err) = (String::new(), String::new());
        self.stdout.read_to_string(&mut out).expect("a pipe");
        self.stderr.read_to_string(&mut err).expect("a pipe");
        let code = self.child.wait().expect("a child").code();
        Done { code, out, err }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
