//! The processes of a container, where its pod's containers share a PID namespace.

use std::path::Path;
use std::{fs, io};

/// The processes of the container with this id, in the PID namespace of the mounted `/proc`, the
/// lowest id first. None where the container is not there, or is in another namespace.
///
/// A process is the container's if the path of one of its cgroups has the container's id. Container
/// runtimes name the cgroup after it, with or without a word before it. The kernel shows that name
/// to readers in other cgroup namespaces, too.
///
/// # Errors
/// A `/proc` that cannot be listed.
pub fn processes(container: &str) -> io::Result<Vec<u32>> {
    processes_below(Path::new("/proc"), container)
}

fn processes_below(proc: &Path, container: &str) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(proc)? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        // One that ended meanwhile is nobody's.
        let groups = fs::read_to_string(proc.join(format!("{pid}/cgroup"))).unwrap_or_default();
        let is_in =
            |line: &str| line.splitn(3, ':').nth(2).is_some_and(|group| group.contains(container));
        if groups.lines().any(is_in) {
            found.push(pid);
        }
    }
    found.sort_unstable();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_is_known_by_its_cgroups() {
        let (own, other) = ("0123456789abcdef", "fedcba9876543210");
        let cases = [
            ("7", format!("0::/../cri-containerd-{own}.scope\n")),
            ("12", format!("0::/../{other}\n")),
            ("3", format!("4:memory:/kubepods/pod1/{own}\n2:cpu:/kubepods/pod1/{own}\n0::/\n")),
            ("20", format!("0::/../crio-{own}.scope/nested\n")),
            ("21", "0::/\n".to_owned()),
            // Controllers have no such name, and what is no number is no process.
            ("22", format!("1:name={own}:/\n")),
            ("self", format!("0::/{own}\n")),
        ];
        let proc = tempfile::tempdir().unwrap();
        for (name, groups) in cases {
            fs::create_dir(proc.path().join(name)).unwrap();
            fs::write(proc.path().join(name).join("cgroup"), groups).unwrap();
        }
        // It ends while they are listed.
        fs::create_dir(proc.path().join("30")).unwrap();
        let found = |container| processes_below(proc.path(), container).unwrap();
        assert_eq!(found(own), [3, 7, 20]);
        assert_eq!(found(other), [12]);
        assert_eq!(found("none"), [] as [u32; 0]);
        assert!(processes_below(&proc.path().join("absent"), own).is_err());
    }
}
