//! Agents and ways to them that go while a run is on.

use hopbench_control::keys::KeyPair;
use hopbench_kube::Cluster;
use hopbench_model::{Bounds, Permit, Via};
use hopbench_testbed::{AgentId, Control, Testbed};
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::Api;
use kube::api::DeleteParams;

use crate::common::{cell, eventually, ground, hello, path, plan, spec};

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn an_agent_that_somebody_deletes_is_there_again_for_the_next_trial() {
    let Some(ground) = ground("a deleted pod") else { return };
    let spec = spec();
    let plan = plan(&spec, vec![path("p", "pod@a", "pod@b", Via::ClusterIp)]);
    let mut cluster = ground.cluster(&spec);
    cluster.up(&plan).unwrap();
    let (path, point) = cell(&plan, "p");
    let route = cluster.route(path, point).unwrap();
    let server = &route.servers[0];
    let before = ground.pod(&cluster, &server.0);
    // A session that stands ends with the pod, without anybody asking.
    let Control::Forwarded { mut stream, .. } = cluster.control(server).unwrap() else {
        panic!("not forwarded")
    };
    stream.set_read_timeout(Some(std::time::Duration::from_secs(30))).unwrap();
    let pods: Api<Pod> =
        Api::namespaced(ground.access.client.clone(), cluster.namespace().unwrap());
    let name = before.metadata.name.clone().unwrap();
    ground
        .access
        .ask("delete", pods.delete(&name, &DeleteParams::default().grace_period(1)))
        .unwrap();
    let mut bytes = [0; 1];
    let ended = std::io::Read::read(&mut stream, &mut bytes);
    assert!(matches!(ended, Ok(0)), "the way to a pod that is gone: {ended:?}");
    eventually("the pod is gone", || {
        ground.access.ask("get", pods.get_opt(&name)).unwrap().is_none()
    });
    let again = cluster.route(path, point).unwrap();
    assert_eq!(again.servers, route.servers);
    hello(&mut cluster, server).unwrap();
    let after = ground.pod(&cluster, &server.0);
    assert_ne!(before.metadata.uid, after.metadata.uid);
    let namespace = cluster.namespace().unwrap().to_owned();
    cluster.down();
    ground.assert_gone(&namespace);
}

/// The address that a pod had may be anybody's tomorrow.
#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_pod_that_is_made_anew_is_in_a_later_permit_and_its_old_address_is_not() {
    let Some(ground) = ground("a later permit") else { return };
    let spec = spec();
    let plan = plan(
        &spec,
        vec![path("p", "pod@a", "pod@b", Via::Direct), path("q", "pod@b", "pod@a", Via::ClusterIp)],
    );
    let mut cluster = ground.cluster(&spec);
    cluster.up(&plan).unwrap();
    let (path, point) = cell(&plan, "p");
    let permit = |cluster: &mut Cluster| {
        let signed = cluster.permit(&Bounds::default()).unwrap().unwrap();
        Permit::from_text(&signed.text).unwrap()
    };
    let route = cluster.route(path, point).unwrap();
    let first = permit(&mut cluster);
    assert_eq!(
        first.targets.len(),
        2,
        "the other path's, too, which nobody has asked for yet: {first:?}"
    );
    assert!(first.targets.contains(&route.target) && permit(&mut cluster) == first);
    let pods: Api<Pod> =
        Api::namespaced(ground.access.client.clone(), cluster.namespace().unwrap());
    let name = cluster.pod(&route.servers[0]).unwrap().to_owned();
    ground
        .access
        .ask("delete", pods.delete(&name, &DeleteParams::default().grace_period(1)))
        .unwrap();
    eventually("the pod is gone", || {
        ground.access.ask("get", pods.get_opt(&name)).unwrap().is_none()
    });
    let again = cluster.route(path, point).unwrap();
    let later = permit(&mut cluster);
    assert!(later.targets.contains(&again.target), "{later:?}");
    if again.target != route.target {
        assert!(
            later.sequence > first.sequence && !later.targets.contains(&route.target),
            "{later:?}"
        );
    }
    cluster.down();
}

#[test]
#[ignore = "needs a cluster: scripts/test-cluster.sh"]
fn a_way_that_is_cut_is_made_again() {
    let Some(ground) = ground("a cut way") else { return };
    let spec = spec();
    let plan = plan(&spec, vec![path("p", "pod@a", "pod@a", Via::Direct)]);
    let mut cluster = ground.cluster(&spec);
    cluster.up(&plan).unwrap();
    let (path, point) = cell(&plan, "p");
    let route = cluster.route(path, point).unwrap();
    assert_eq!((route.clients[0].0.as_str(), route.servers[0].0.as_str()), ("pod@a", "pod@a#2"));
    for _ in 0..3 {
        hello(&mut cluster, &route.clients[0]).unwrap();
    }
    // Neither the keys of another conductor nor what an agent of the run has opens a session.
    let Control::Forwarded { stream, .. } = cluster.control(&route.clients[0]).unwrap() else {
        panic!("not forwarded")
    };
    let secrets: Api<Secret> =
        Api::namespaced(ground.access.client.clone(), cluster.namespace().unwrap());
    let own = |agent: &AgentId| {
        let name = format!("agent-{}", cluster.pod(agent).unwrap());
        let secret = ground.access.ask("a Secret", secrets.get(&name)).unwrap();
        String::from_utf8(secret.data.unwrap()["credentials"].0.clone()).unwrap()
    };
    let [of_client, of_server] = [own(&route.clients[0]), own(&route.servers[0])];
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let ([key, run], [other, same_run]) = (&words(&of_client)[..], &words(&of_server)[..]) else {
        panic!("{of_client}")
    };
    assert!(key != other && run == same_run);
    let (thief, agent): (KeyPair, KeyPair) = (other.parse().unwrap(), key.parse().unwrap());
    let config = hopbench_control::tls::conductor_config(&thief, &agent.public()).unwrap();
    let mut channel = hopbench_control::Channel::open_forwarded(stream, config).unwrap();
    let until = hopbench_sys::clock::now() + 10_000_000_000;
    let answer =
        channel.send(&"hello").and_then(|()| channel.receive_until::<serde_json::Value>(until));
    assert!(answer.is_err(), "{answer:?}");
    cluster.down();
}
