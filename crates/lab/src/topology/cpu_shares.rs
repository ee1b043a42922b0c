//! The shares of CPUs that nodes get.
//!
//! Nodes have sets of their own if there are enough CPUs. Otherwise at least the two ends of a path
//! get different CPUs.

/// The CPUs of each of `nodes`. `ends` are the nodes at both ends of each path. `Err` is the reason
/// why the scheduler had better choose.
///
/// With fewer CPUs than nodes, some nodes share a CPU: those that are never the two ends of one
/// path. A round trip between two ends on one CPU is another measurement, without a wake-up of
/// another CPU. If the scheduler chose, it would differ from run to run.
pub(crate) fn deal(
    cpus: &[usize],
    nodes: usize,
    ends: &[(usize, usize)],
) -> Result<Vec<Vec<usize>>, String> {
    let inside = ends.iter().any(|(from, to)| from == to);
    let dealt = match shares(cpus, nodes) {
        Some(shares) => shares,
        None if cpus.len() < 2 => {
            return Err(format!("{} CPU for {nodes} nodes: all share it", cpus.len()));
        }
        None => apart(cpus, nodes, ends).ok_or_else(|| {
            format!(
                "{} CPUs cannot keep the ends of all paths apart: all nodes share them",
                cpus.len()
            )
        })?,
    };
    if inside && dealt.iter().any(|share| share.len() == 1) {
        return Err(format!(
            "{} CPUs for {nodes} nodes, and a path inside one node needs two for its ends: all \
             share them",
            cpus.len()
        ));
    }
    Ok(dealt)
}

/// The same with gateways `between` ends. They are kept apart from both, too, if there are CPUs for
/// that.
pub(crate) fn deal_around(
    cpus: &[usize],
    nodes: usize,
    ends: &[(usize, usize)],
    between: &[(usize, usize)],
) -> Result<Vec<Vec<usize>>, String> {
    // What is on one node shares its CPUs anyway.
    let apart: Vec<(usize, usize)> = ends
        .iter()
        .chain(between.iter().filter(|(end, gateway)| end != gateway))
        .copied()
        .collect();
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
        assert_eq!(
            deal_around(&[0, 1, 2], 4, &ends, &between),
            Ok(vec![vec![0], vec![1], vec![2], vec![2]])
        );
        // Two are enough for the ends alone.
        assert_eq!(deal_around(&[0, 1], 4, &ends, &between), deal(&[0, 1], 4, &ends));
        assert_eq!(
            deal_around(&[0, 1], 2, &ends, &[(0, 1), (1, 1)]),
            Ok(vec![vec![0], vec![1]]),
            "on the servers' node"
        );
    }
}
