//! Receive steering (RPS): the CPUs that work on what the links of a namespace receive.

use std::io;

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use super::stack::Stack;

/// Steers what the links of a namespace receive to these CPUs, and reads back that it is so.
pub(crate) fn steer(stack: &Stack, cpus: &[usize]) -> io::Result<()> {
    let wanted = cpus.to_vec();
    stack.namespace.run(move || with_own_sysfs(|| set_masks(&wanted)))?
}

/// Shows `body` a `/sys` of the network namespace that the thread is in.
fn with_own_sysfs<T>(body: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    const NOTHING: Option<&str> = None;
    // The thread ends after this, and its mounts with it.
    unshare(CloneFlags::CLONE_NEWNS)?;
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
    // In a user namespace a new one must not allow more than the one that is there.
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("sysfs"), "/sys", Some("sysfs"), flags, NOTHING)?;
    body()
}

fn set_masks(cpus: &[usize]) -> io::Result<()> {
    for link in std::fs::read_dir("/sys/class/net")? {
        let queues = link?.path().join("queues");
        let Ok(queues) = std::fs::read_dir(queues) else { continue };
        for queue in queues {
            let file = queue?.path().join("rps_cpus");
            if !file.exists() {
                continue;
            }
            std::fs::write(&file, mask(cpus)).map_err(|error| match error.kind() {
                // The kernel asks for the capability in the first user namespace, whoever owns the
                // link.
                io::ErrorKind::PermissionDenied => {
                    io::Error::other(format!("rps_cpus needs root ({error})"))
                }
                _ => error,
            })?;
            let read = std::fs::read_to_string(&file)?;
            if unmask(&read).as_deref() != Some(cpus) {
                return Err(io::Error::other(format!(
                    "{}: wrote {}, read {}",
                    file.display(),
                    mask(cpus),
                    read.trim()
                )));
            }
        }
    }
    Ok(())
}

/// `rps_cpus` as the kernel writes it: hexadecimal words of 32 CPUs, the highest first.
fn mask(cpus: &[usize]) -> String {
    let words = cpus.iter().max().map_or(1, |highest| highest / 32 + 1);
    let mut bits = vec![0u32; words];
    for cpu in cpus {
        bits[cpu / 32] |= 1 << (cpu % 32);
    }
    bits.iter().rev().map(|word| format!("{word:08x}")).collect::<Vec<_>>().join(",")
}

/// CPUs that a mask of the kernel names.
fn unmask(text: &str) -> Option<Vec<usize>> {
    let words = text.trim().split(',').rev().enumerate();
    let words = words.map(|(at, word)| Some((at, u32::from_str_radix(word, 16).ok()?)));
    let words: Vec<(usize, u32)> = words.collect::<Option<_>>()?;
    let cpus = words.iter().flat_map(|(at, word)| {
        (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |b| at * 32 + b)
    });
    Some(cpus.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_the_kernels() {
        assert_eq!(mask(&[0]), "00000001");
        assert_eq!(mask(&[1, 33]), "00000002,00000002");
        for set in [vec![0], vec![3, 4, 31], vec![0, 32, 95]] {
            assert_eq!(unmask(&mask(&set)), Some(set));
        }
        // Short words are what a small machine prints.
        assert_eq!(unmask("3\n"), Some(vec![0, 1]));
        assert_eq!(unmask("x"), None);
    }
}
