//! CPUs of the nodes: sets of their own where there are enough, and the two ends of a path apart where there are two.

use std::io;

use crate::stack::Stack;

/// CPUs for each of `nodes`, whose paths lead from node to node as `ends` say; `Err` says why they are better left to
/// the scheduler.
///
/// With fewer CPUs than nodes, nodes that are never the two ends of one path share a CPU: a round trip between two
/// ends on one CPU is another measurement (no wake-up of another CPU), and would differ from run to run if the
/// scheduler chose.
pub(crate) fn deal(cpus: &[usize], nodes: usize, ends: &[(usize, usize)]) -> Result<Vec<Vec<usize>>, String> {
    let inside = ends.iter().any(|(from, to)| from == to);
    let dealt = match shares(cpus, nodes) {
        Some(shares) => shares,
        None if cpus.len() < 2 => return Err(format!("{} CPU for {nodes} nodes: all share it", cpus.len())),
        None => apart(cpus, nodes, ends).ok_or_else(|| {
            format!("{} CPUs cannot keep the ends of all paths apart: all nodes share them", cpus.len())
        })?,
    };
    if inside && dealt.iter().any(|share| share.len() == 1) {
        return Err(format!(
            "{} CPUs for {nodes} nodes, and a path inside one node needs two for its ends: all share them",
            cpus.len()
        ));
    }
    Ok(dealt)
}

/// The same, where gateways stand `between` ends: they are kept apart from both, too, if there are CPUs for that.
pub(crate) fn deal_around(
    cpus: &[usize],
    nodes: usize,
    ends: &[(usize, usize)],
    between: &[(usize, usize)],
) -> Result<Vec<Vec<usize>>, String> {
    // What is on one node shares its CPUs anyway.
    let apart: Vec<(usize, usize)> =
        ends.iter().chain(between.iter().filter(|(end, gateway)| end != gateway)).copied().collect();
    deal(cpus, nodes, &apart).or_else(|_| deal(cpus, nodes, ends))
}

/// One CPU a node, so that no path has both ends on one.
fn apart(cpus: &[usize], nodes: usize, ends: &[(usize, usize)]) -> Option<Vec<Vec<usize>>> {
    let mut given: Vec<usize> = Vec::with_capacity(nodes);
    for node in 0..nodes {
        let taken = |cpu: usize| {
            ends.iter().any(|&(from, to)| {
                let other = if from == node { to } else { from };
                (from == node || to == node) && given.get(other) == Some(&cpu)
            })
        };
        let load = |cpu: usize| given.iter().filter(|used| **used == cpu).count();
        let cpu = cpus.iter().copied().filter(|cpu| !taken(*cpu)).min_by_key(|cpu| load(*cpu))?;
        given.push(cpu);
    }
    Some(given.into_iter().map(|cpu| vec![cpu]).collect())
}

/// A share of `cpus` for each of `nodes`, as even as can be; `None` where a node would get none.
fn shares(cpus: &[usize], nodes: usize) -> Option<Vec<Vec<usize>>> {
    if nodes == 0 || cpus.len() < nodes {
        return None;
    }
    let start = |node: usize| node * cpus.len() / nodes;
    Some((0..nodes).map(|node| cpus[start(node)..start(node + 1)].to_vec()).collect())
}

/// Runs `body` with the calling thread on these CPUs; what is started there stays on them.
pub(crate) fn on<T>(cpus: Option<&[usize]>, body: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let Some(cpus) = cpus else { return body() };
    let before = hopbench_sys::cpu::allowed()?;
    hopbench_sys::cpu::pin_thread(cpus)?;
    let result = body();
    hopbench_sys::cpu::pin_thread(&before)?;
    result
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
    let cpus =
        words.iter().flat_map(|(at, word)| (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |b| at * 32 + b));
    Some(cpus.collect())
}

/// Steers what the links of a namespace receive to these CPUs, and reads back that it is so.
pub(crate) fn steer(stack: &Stack, cpus: &[usize]) -> io::Result<()> {
    let wanted = cpus.to_vec();
    stack.namespace.run(move || with_own_sysfs(|| set_masks(&wanted)))?
}

/// Shows `body` a `/sys` of the network namespace that the thread is in.
fn with_own_sysfs<T>(body: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};
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
            std::fs::write(&file, mask(cpus)).map_err(|e| match e.kind() {
                // The kernel asks for the capability in the first user namespace, whoever owns the link.
                io::ErrorKind::PermissionDenied => io::Error::other(format!("rps_cpus needs root ({e})")),
                _ => e,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_is_given_once_and_every_node_has_one() {
        for (cpus, nodes) in [(2, 2), (3, 2), (8, 3), (64, 5), (7, 7)] {
            let all: Vec<usize> = (0..cpus).map(|cpu| cpu * 2).collect();
            let shares = shares(&all, nodes).unwrap();
            assert_eq!(shares.concat(), all);
            assert!(shares.iter().all(|share| share.len() >= cpus / nodes), "{shares:?}");
        }
        assert_eq!(shares(&[0, 1], 3), None);
        assert_eq!(shares(&[0, 1], 0), None);
    }

    #[test]
    fn the_ends_of_a_path_are_kept_apart() {
        // The quickstart on a small machine: a to b, and a to c through b.
        assert_eq!(deal(&[0, 1], 3, &[(0, 1), (0, 2)]), Ok(vec![vec![0], vec![1], vec![1]]));
        assert!(deal(&[0, 1], 3, &[(0, 1), (1, 2), (2, 0)]).unwrap_err().contains("apart"));
        assert!(deal(&[0], 2, &[(0, 1)]).is_err());
        assert_eq!(deal(&[0, 1, 2, 3], 2, &[(0, 0), (0, 1)]), Ok(vec![vec![0, 1], vec![2, 3]]));
        assert!(deal(&[0, 1], 2, &[(0, 0), (0, 1)]).unwrap_err().contains("inside one node"));
    }

    #[test]
    fn a_gateway_is_kept_apart_where_there_are_cpus() {
        // Nodes a to d: c, which nobody uses, comes before the gateway's d.
        let (ends, between) = ([(0, 1)], [(0, 3), (1, 3)]);
        assert_eq!(deal(&[0, 1, 2], 4, &ends).unwrap()[3], [0], "with the client");
        assert_eq!(deal_around(&[0, 1, 2], 4, &ends, &between), Ok(vec![vec![0], vec![1], vec![2], vec![2]]));
        // Two are enough for the ends alone.
        assert_eq!(deal_around(&[0, 1], 4, &ends, &between), deal(&[0, 1], 4, &ends));
        assert_eq!(
            deal_around(&[0, 1], 2, &ends, &[(0, 1), (1, 1)]),
            Ok(vec![vec![0], vec![1]]),
            "on the servers' node"
        );
    }

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
