//! The environment that a program was started with, as the kernel shows it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use hopbench_model::{Nanos, SECOND};
use hopbench_sys::clock;

/// A process shows nothing until the kernel has made its stack. That takes microseconds, or the
/// turn of another process on a busy machine.
const MOST_EXEC_NS: Nanos = SECOND / 5;
const LOOK_NS: Nanos = 100_000;

/// Variables by their names.
pub(crate) type Environment = BTreeMap<String, String>;

/// The environment of a process that was started a moment ago and runs `program`. `None`: it runs
/// another program, has ended, or has its title there by now. nginx writes its title over all of it
/// when it has read its configuration, some milliseconds after its start.
pub(super) fn environment(pid: u32, program: &Path) -> Option<Environment> {
    let end = clock::now() + MOST_EXEC_NS;
    let bytes = loop {
        let bytes = fs::read(format!("/proc/{pid}/environ")).ok()?;
        if !bytes.is_empty() || clock::now() > end {
            break bytes;
        }
        clock::sleep_until(clock::now() + LOOK_NS);
    };
    // A script's own environment is not that of the program which it starts.
    let file = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let runs = file(Path::new(&format!("/proc/{pid}/exe")))?;
    variables(&bytes).filter(|_| file(program) == Some(runs))
}

/// `None`: these are no variables, or no longer.
fn variables(bytes: &[u8]) -> Option<Environment> {
    let bytes = bytes.strip_suffix(&[0])?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let variable = |piece: &[u8]| {
        let at = piece.iter().position(|byte| *byte == b'=')?;
        Some((text(&piece[..at]), text(&piece[at + 1..])))
    };
    bytes.split(|byte| *byte == 0).map(variable).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::processes::tools;

    #[test]
    fn a_program_shows_what_it_was_started_with() {
        let program = tools::find("sleep").unwrap().canonicalize().unwrap();
        let mut command = Command::new("sleep");
        let mut child = command.arg("60").env("HOPBENCH_TEST", "a=b").spawn().unwrap();
        let seen = environment(child.id(), &program);
        let of_other = environment(child.id(), &std::env::current_exe().unwrap());
        child.kill().unwrap();
        // It is not collected yet: its number is its own.
        let of_dead = loop {
            let seen = environment(child.id(), &program);
            if seen.is_none() {
                break seen;
            }
        };
        child.wait().unwrap();
        let value = seen.and_then(|all| all.get("HOPBENCH_TEST").cloned());
        assert_eq!(value.as_deref(), Some("a=b"));
        assert_eq!((of_other, of_dead), (None, None));
    }

    #[test]
    fn a_title_is_no_environment() {
        let all = [("A", "1"), ("B", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(variables(b"A=1\0B=\0"), Some(all.into()));
        for bytes in [&b""[..], b"A=1", b"/tmp/nginx.conf\0\0\0\0", b"A=1\0/nginx.conf\0"] {
            assert_eq!(variables(bytes), None);
        }
    }
}
