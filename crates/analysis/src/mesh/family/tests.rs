use hopbench_model::{MeshMode, Variant, fixture};

use super::*;

fn path(via: Via, mesh: MeshMode, variant: &str) -> Path {
    let proxied = !mesh.is_none() || matches!(via, Via::Gateway(_));
    Path {
        from: fixture::place("bridge", "a"),
        to: fixture::place("bridge", "b"),
        via,
        mesh,
        variant: proxied.then(|| Variant { name: variant.to_owned(), ..Variant::plain() }),
        ..fixture::path("")
    }
}

fn sets(modes: &[MeshMode], gateway: bool) -> Vec<Hops> {
    modes
        .iter()
        .map(|mode| Hops { gateway, server: mode.has_server(), client: mode.has_client() })
        .collect()
}

#[test]
fn every_variant_has_a_family_with_the_bare_path() {
    let gateway = || Via::Gateway("c".to_owned());
    let paths = [
        path(Via::Direct, MeshMode::None, ""),
        path(Via::Direct, MeshMode::Server, "plain"),
        path(Via::Direct, MeshMode::Both, "plain"),
        path(Via::Direct, MeshMode::Both, "stats"),
        path(gateway(), MeshMode::None, "plain"),
        path(gateway(), MeshMode::Server, "plain"),
        path(Via::ClusterIp, MeshMode::Both, "plain"),
        Path { clients: 2, ..path(Via::Direct, MeshMode::Both, "plain") },
    ];
    let found = families(&paths, &References::default());
    let mut plan = fixture::plan(paths.to_vec(), vec![]);
    plan.paths[2].reference =
        Some(hopbench_model::Reference { path: plan.paths[0].name.clone(), again: true });
    assert!(
        families(&plan.paths, &plan.references())[0].members.iter().all(|member| member.path != 2),
        "a twin is no step"
    );
    let members: Vec<Vec<usize>> =
        found.iter().map(|f| f.members.iter().map(|m| m.path).collect()).collect();
    assert_eq!(members, [vec![0, 1, 2], vec![0, 3], vec![0, 4, 5]], "one path alone is no family");
    let names: Vec<_> = found.iter().map(|f| (f.name.as_str(), f.variant.as_deref())).collect();
    assert_eq!(
        names,
        [
            ("bridge@a → bridge@b, direct", Some("plain")),
            ("bridge@a → bridge@b, direct", Some("stats")),
            ("bridge@a → bridge@b, gateway@c", Some("plain")),
        ]
    );
}

#[test]
fn a_gateway_is_added_to_the_direct_path_wherever_that_stands() {
    let gateway = || Via::Gateway("c".to_owned());
    let paths = [
        path(Via::ClusterIp, MeshMode::None, ""),
        path(gateway(), MeshMode::None, "plain"),
        path(Via::Direct, MeshMode::None, ""),
        path(Via::ClusterIp, MeshMode::Both, "plain"),
    ];
    let members = |paths: &[Path]| -> Vec<Vec<usize>> {
        families(paths, &References::default())
            .iter()
            .map(|f| f.members.iter().map(|m| m.path).collect())
            .collect()
    };
    assert_eq!(members(&paths), [vec![1, 2], vec![0, 3]]);
    assert_eq!(members(&paths[..2]), [vec![1, 0]], "the Service where there is no other");
}

#[test]
fn each_gateway_of_a_cluster_has_a_family() {
    let through = |name: &str| Path {
        gateway_name: Some(name.to_owned()),
        ..path(Via::Gateway(String::new()), MeshMode::None, "plain")
    };
    let direct = path(Via::Direct, MeshMode::None, "");
    let found = families(&[direct, through("old"), through("new")], &References::default());
    let told: Vec<_> =
        found.iter().map(|family| (family.name.as_str(), family.members[1].path)).collect();
    assert_eq!(
        told,
        [("bridge@a → bridge@b, gateway@old", 1), ("bridge@a → bridge@b, gateway@new", 2),]
    );
}

#[test]
fn each_version_of_ip_has_a_family() {
    let by = |family, mesh| {
        let variant = if mesh == MeshMode::None { "" } else { "plain" };
        Path { family, ..path(Via::Direct, mesh, variant) }
    };
    let (four, six) = (None, Some(hopbench_model::IpFamily::Ipv6));
    let paths = [
        by(four, MeshMode::None),
        by(four, MeshMode::Both),
        by(six, MeshMode::Both),
        by(six, MeshMode::None),
    ];
    let found = families(&paths, &References::default());
    let members: Vec<Vec<usize>> =
        found.iter().map(|family| family.members.iter().map(|one| one.path).collect()).collect();
    assert_eq!(members, [[0, 1], [2, 3]]);
    assert_eq!(found[1].name, "bridge@a → bridge@b, direct, IPv6");
    assert!(families(&[paths[0].clone(), paths[2].clone()], &References::default()).is_empty());
}

#[test]
fn each_subject_has_a_family_even_on_the_same_nodes() {
    let of = |subject: &str, mesh| {
        let variant = if mesh == MeshMode::None { "" } else { "plain" };
        Path { subject: Some(subject.to_owned()), ..path(Via::Direct, mesh, variant) }
    };
    let paths = [
        of("old", MeshMode::None),
        of("new", MeshMode::None),
        of("old", MeshMode::Both),
        of("new", MeshMode::Both),
    ];
    let found = families(&paths, &References::default());
    let told: Vec<(Option<&str>, Vec<usize>)> = found
        .iter()
        .map(|one| (one.subject.as_deref(), one.members.iter().map(|own| own.path).collect()))
        .collect();
    assert_eq!(told, [(Some("old"), vec![0, 2]), (Some("new"), vec![1, 3])]);
}

#[test]
fn steps_are_between_what_was_measured() {
    use MeshMode::{Both, Client, None, Server};
    for (modes, steps, beside) in [
        (vec![None, Server, Client, Both], vec![0, 1, 3], vec![(0, 2), (2, 3)]),
        (vec![Both, Client, Server, None], vec![3, 2, 0], vec![(3, 1), (1, 0)]),
        (vec![None, Both], vec![0, 1], vec![]),
        (vec![None, Client, Both], vec![0, 1, 2], vec![]),
        (vec![None, Server, Client], vec![0, 1], vec![(0, 2)]),
        (vec![Server, Client, Both], vec![0, 2], vec![(1, 2)]),
        (vec![Server, Client], vec![0], vec![]),
        (vec![Both], vec![0], vec![]),
        (vec![], vec![], vec![]),
    ] {
        let sets = sets(&modes, false);
        let found = chain(&sets);
        assert_eq!(found, steps, "{modes:?}");
        assert_eq!(others(&sets, &found), beside, "{modes:?}");
    }
    let mut with_gateway = sets(&[None], false);
    with_gateway.extend(sets(&[None, Server], true));
    assert_eq!(chain(&with_gateway), [0, 1, 2]);
    assert_eq!(with_gateway[2].without(with_gateway[0]).to_string(), "gateway, server sidecar");
}
