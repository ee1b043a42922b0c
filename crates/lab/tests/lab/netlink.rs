//! Every netlink call against what `ip` and `tc` say afterwards.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use crate::inside::inside;
use crate::oracle::{json, link, output};
use crate::pair::{A, B, joined, two};
use hopbench_lab::namespace::Namespace;

#[test]
fn a_new_namespace_has_lo_and_nothing_else() {
    inside(|| {
        let (a, mut na, b, _) = two();
        let links = json(&a, "ip -d -j link");
        assert_eq!(links.as_array().unwrap().len(), 1, "{links}");
        assert_eq!(links[0]["ifname"], "lo");
        assert!(links[0]["flags"].as_array().unwrap().contains(&"UP".into()), "{links}");
        let own = na.links().unwrap();
        assert_eq!(
            (own.len(), own[0].name.as_str(), own[0].up, own[0].kind.as_deref()),
            (1, "lo", true, None)
        );
        assert_ne!(a.inode(), b.inode());
        for namespace in [&a, &b] {
            let expected = format!("net:[{}]", namespace.inode());
            assert_eq!(output(namespace, "readlink /proc/self/ns/net").trim(), expected);
            let seen =
                namespace.run(|| std::fs::read_link("/proc/thread-self/ns/net").unwrap()).unwrap();
            assert_eq!(seen.to_string_lossy(), expected);
        }
        let current = Namespace::current("here").unwrap();
        assert_eq!(
            std::fs::read_link("/proc/self/ns/net").unwrap().to_string_lossy(),
            format!("net:[{}]", current.inode())
        );
        assert_eq!(current.name(), "here");
    });
}

#[test]
fn veth_joins_two_namespaces() {
    inside(|| {
        let (a, mut na, b, mut nb) = two();
        na.add_veth("va", "vb", &b).unwrap();
        let (here, there) = (link(&a, "va"), link(&b, "vb"));
        assert_eq!(here["linkinfo"]["info_kind"], "veth");
        assert_eq!(here["link_index"], there["ifindex"]);
        assert_eq!(there["link_index"], here["ifindex"]);
        assert!(!here["flags"].as_array().unwrap().contains(&"UP".into()), "{here}");
        na.set_up("va").unwrap();
        nb.set_up("vb").unwrap();
        assert!(link(&a, "va")["flags"].as_array().unwrap().contains(&"LOWER_UP".into()));

        na.set_mtu("va", 8000).unwrap();
        assert_eq!(link(&a, "va")["mtu"], 8000);
        let mac = na.mac("va").unwrap();
        let told = mac.map(|byte| format!("{byte:02x}")).join(":");
        assert_eq!(link(&a, "va")["address"], told);
        assert_eq!(u64::from(na.index("va").unwrap()), link(&a, "va")["ifindex"].as_u64().unwrap());

        let listed = na.links().unwrap();
        let va = listed.iter().find(|l| l.name == "va").unwrap();
        assert_eq!(
            (va.kind.as_deref(), va.mtu_bytes, va.up, va.master),
            (Some("veth"), 8000, true, None)
        );
        assert_eq!(va.mac, mac);
    });
}

#[test]
fn links_are_renamed() {
    inside(|| {
        let (a, mut na, b, _) = two();
        na.add_veth("va", "vb", &b).unwrap();
        na.set_mtu("va", 1400).unwrap();
        na.rename("va", "eth0").unwrap();
        assert_eq!(link(&a, "eth0")["mtu"], 1400);
    });
}

#[test]
fn bridges_have_ports() {
    inside(|| {
        let (a, mut na, b, _) = two();
        na.add_bridge("br0").unwrap();
        na.add_veth("port", "eth0", &b).unwrap();
        na.set_master("port", "br0").unwrap();
        na.set_up("br0").unwrap();
        assert_eq!(link(&a, "br0")["linkinfo"]["info_kind"], "bridge");
        assert_eq!(link(&a, "port")["master"], "br0");
        let bridge = na.index("br0").unwrap();
        assert_eq!(
            na.links().unwrap().iter().find(|l| l.name == "port").unwrap().master,
            Some(bridge)
        );
    });
}

#[test]
fn vxlan_is_told_where_to_send() {
    inside(|| {
        let (a, mut na, b, mut nb) = joined();
        let ends = [(A, "va"), (B, "vb")];
        for (netlink, (own, over), (other, _), inner) in [
            (&mut na, ends[0], ends[1], Ipv4Addr::new(10, 9, 0, 1)),
            (&mut nb, ends[1], ends[0], Ipv4Addr::new(10, 9, 0, 2)),
        ] {
            netlink.add_vxlan("vx", 42, own, over, 8472).unwrap();
            netlink.add_fdb("vx", [0; 6], other).unwrap();
            netlink.set_mtu("vx", 1450).unwrap();
            netlink.add_address("vx", inner.into(), 24).unwrap();
            netlink.set_up("vx").unwrap();
        }
        let seen = link(&a, "vx");
        let data = &seen["linkinfo"]["info_data"];
        assert_eq!(seen["linkinfo"]["info_kind"], "vxlan");
        assert_eq!(
            (&data["id"], &data["local"], &data["link"]),
            (&42.into(), &"10.1.0.1".into(), &"va".into()),
            "{seen}"
        );
        assert_eq!((&data["port"], &data["learning"]), (&8472.into(), &false.into()), "{seen}");
        let fdb = json(&a, "bridge -j fdb show dev vx");
        assert_eq!(
            (&fdb[0]["mac"], &fdb[0]["dst"]),
            (&"00:00:00:00:00:00".into(), &"10.1.0.2".into()),
            "{fdb}"
        );
        // Frames for a station of its own, and traffic through the tunnel.
        na.add_fdb("vx", [2, 0, 0, 0, 0, 9], Ipv4Addr::new(10, 1, 0, 3)).unwrap();
        let fdb = output(&a, "bridge fdb show dev vx");
        assert!(fdb.contains("02:00:00:00:00:09 dst 10.1.0.3"), "{fdb}");
        send(&a, &b, Ipv4Addr::new(10, 9, 0, 2), 50_000);
        let through = nb.counters("vx").unwrap();
        assert!(through.rx_bytes >= 50_000 && through.rx_packets > 0, "{through:?}");
    });
}

#[test]
fn macvlans_share_a_link() {
    inside(|| {
        let (a, mut na, b, _) = two();
        let pod = Namespace::create("pod").unwrap();
        na.add_veth("eth0", "peer", &b).unwrap();
        na.set_up("eth0").unwrap();
        na.add_macvlan("eth0", "eth0", &pod).unwrap();
        let seen = link(&pod, "eth0");
        assert_eq!(seen["linkinfo"]["info_kind"], "macvlan");
        assert_eq!(seen["linkinfo"]["info_data"]["mode"], "bridge");
        assert_eq!(seen["link_index"], link(&a, "eth0")["ifindex"]);
        assert_ne!(seen["address"], link(&a, "eth0")["address"]);
    });
}

#[test]
fn addresses_routes_and_neighbours() {
    inside(|| {
        let (a, mut na, _b, _nb) = joined();
        let address = json(&a, "ip -d -j addr show dev va");
        let address = address[0]["addr_info"]
            .as_array()
            .unwrap()
            .iter()
            .find(|i| i["family"] == "inet")
            .unwrap()
            .clone();
        assert_eq!((&address["local"], &address["prefixlen"]), (&"10.1.0.1".into(), &24.into()));
        assert_eq!(address["broadcast"], "10.1.0.255");

        let far = Ipv4Addr::new(169, 254, 1, 1);
        na.add_route((Ipv4Addr::new(10, 2, 0, 0).into(), 16), Some(B.into()), None).unwrap();
        na.add_route((Ipv4Addr::new(10, 3, 0, 7).into(), 32), None, Some("va")).unwrap();
        na.add_route((Ipv4Addr::UNSPECIFIED.into(), 0), Some(far.into()), Some("va")).unwrap();
        let routes = json(&a, "ip -d -j route");
        let route =
            |to: &str| routes.as_array().unwrap().iter().find(|r| r["dst"] == to).unwrap().clone();
        assert_eq!(
            (&route("10.2.0.0/16")["gateway"], &route("10.2.0.0/16")["dev"]),
            (&"10.1.0.2".into(), &"va".into())
        );
        assert_eq!(
            (&route("10.3.0.7")["scope"], &route("10.3.0.7")["dev"]),
            (&"link".into(), &"va".into())
        );
        assert!(route("10.3.0.7").get("gateway").is_none());
        let default = route("default");
        assert_eq!(
            (&default["gateway"], &default["flags"]),
            (&"169.254.1.1".into(), &serde_json::json!(["onlink"]))
        );

        na.add_neighbour("va", far.into(), [2, 0, 0, 0, 0, 1]).unwrap();
        let neighbours = json(&a, "ip -d -j neigh");
        let one =
            neighbours.as_array().unwrap().iter().find(|n| n["dst"] == "169.254.1.1").unwrap();
        assert_eq!(
            (&one["lladdr"], &one["state"]),
            (&"02:00:00:00:00:01".into(), &serde_json::json!(["PERMANENT"]))
        );
    });
}

#[test]
fn counters_are_those_of_ip() {
    inside(|| {
        let (a, mut na, b, mut nb) = joined();
        let before = (na.counters("va").unwrap(), nb.counters("vb").unwrap());
        send(&a, &b, B, 1_000_000);
        let after = (na.counters("va").unwrap(), nb.counters("vb").unwrap());
        assert!(after.0.tx_bytes - before.0.tx_bytes > 1_000_000, "{after:?}");
        assert_eq!((after.0.tx_bytes, after.0.tx_packets), (after.1.rx_bytes, after.1.rx_packets));
        assert_eq!((after.0.tx_dropped, after.1.rx_dropped), (0, 0));
        let ip = json(&b, "ip -s -j link show dev vb");
        let stats = &ip[0]["stats64"];
        let now = nb.counters("vb").unwrap();
        assert_eq!(stats["rx"]["bytes"], now.rx_bytes);
        assert_eq!(
            (&stats["tx"]["bytes"], &stats["tx"]["packets"]),
            (&now.tx_bytes.into(), &now.tx_packets.into())
        );
    });
}

#[test]
fn kernel_parameters_belong_to_the_namespace() {
    inside(|| {
        let (a, _na, b, _nb) = joined();
        a.set_sysctl("net.ipv4.ip_forward", "1").unwrap();
        a.set_sysctl("net/ipv4/conf/va/proxy_arp", "1").unwrap();
        a.set_sysctl("net.ipv4.ip_local_port_range", "2000 60000").unwrap();
        assert_eq!(output(&a, "cat /proc/sys/net/ipv4/ip_forward").trim(), "1");
        assert_eq!(output(&a, "cat /proc/sys/net/ipv4/conf/va/proxy_arp").trim(), "1");
        assert_eq!(output(&b, "cat /proc/sys/net/ipv4/ip_forward").trim(), "0");
        assert_eq!(a.sysctl("net.ipv4.ip_forward").unwrap(), "1");
        let error = a.set_sysctl("net.ipv4.no_such", "1").unwrap_err().to_string();
        assert!(error.starts_with("cannot set net.ipv4.no_such = 1 in a: No such file"), "{error}");
    });
}

#[test]
fn errors_say_what_where_and_why() {
    inside(|| {
        let (a, mut na, b, _) = two();
        na.add_bridge("br0").unwrap();
        let told = |result: std::io::Result<()>| result.unwrap_err().to_string();
        assert_eq!(
            told(na.set_up("nic9")),
            "cannot find link nic9 in namespace a: No such device (os error 19)"
        );
        assert_eq!(
            told(na.add_bridge("br0")),
            "cannot add bridge br0 in namespace a: File exists (os error 17)"
        );
        let long = told(na.add_veth("a-name-of-sixteen", "x", &b));
        assert_eq!(
            long,
            "a link cannot be called \"a-name-of-sixteen\": 1 to 15 bytes are allowed"
        );
        let error = told(na.add_route(
            (Ipv4Addr::new(10, 0, 0, 0).into(), 8),
            Some(Ipv4Addr::new(10, 7, 7, 7).into()),
            None,
        ));
        // The kernel's own words follow its number.
        assert!(
            error.starts_with("cannot add route to 10.0.0.0/8 via 10.7.7.7 in namespace a: "),
            "{error}"
        );
        assert!(error.contains("gateway") && error.contains("os error"), "{error}");
        // After an error the socket is still good.
        assert_eq!(na.links().unwrap().len(), json(&a, "ip -j link").as_array().unwrap().len());
    });
}

/// The kernel takes a pair away when the namespace of either end goes: so the other end says
/// whether it is gone.
#[test]
fn a_namespace_goes_with_its_last_holder() {
    inside(|| {
        let (a, mut na, b, nb) = two();
        na.add_veth("va", "vb", &b).unwrap();
        let mut sleeper = b.command("sleep").unwrap().arg("60").spawn().unwrap();
        drop((b, nb));
        pause(100);
        assert_eq!(json(&a, "ip -j link").as_array().unwrap().len(), 2, "a process holds it");
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        let gone = (0..200).any(|_| {
            pause(20);
            na.links().unwrap().len() == 1
        });
        assert!(gone, "{:?}", na.links());
    });
}

#[test]
fn commands_see_their_own_devices() {
    inside(|| {
        let (a, _na, b, _nb) = joined();
        for (namespace, nic) in [(&a, "va"), (&b, "vb")] {
            assert_eq!(
                output(namespace, "ls /sys/class/net").split_whitespace().collect::<Vec<_>>(),
                ["lo", nic]
            );
        }
        let own: Vec<_> =
            std::fs::read_dir("/sys/class/net").unwrap().flatten().map(|e| e.file_name()).collect();
        assert_eq!(own, ["lo"]);
        // The mount is the command's own.
        output(&a, "mount -t tmpfs tmpfs /sys/class");
        assert!(std::path::Path::new("/sys/class/net/lo").exists());
        let error = a.command("/no/such/program").unwrap().spawn().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    });
}

/// Ten namespaces, joined to a bridge by ten pairs.
#[test]
fn building_is_quick() {
    inside(|| {
        let begin = hopbench_sys::clock::now();
        let (fabric, mut hub) = (Namespace::create("fabric").unwrap(), vec![]);
        let mut netlink = fabric.netlink().unwrap();
        netlink.add_bridge("br0").unwrap();
        netlink.set_up("br0").unwrap();
        for n in 0..10_u8 {
            let host = Namespace::create(&format!("host{n}")).unwrap();
            let port = format!("port{n}");
            netlink.add_veth(&port, "eth0", &host).unwrap();
            netlink.set_master(&port, "br0").unwrap();
            netlink.set_up(&port).unwrap();
            let mut own = host.netlink().unwrap();
            own.add_address("eth0", Ipv4Addr::new(10, 0, 0, n + 1).into(), 24).unwrap();
            own.set_up("eth0").unwrap();
            hub.push((host, own));
        }
        let took_ms = (hopbench_sys::clock::now() - begin) / 1_000_000;
        let _ = writeln!(std::io::stderr(), "ten namespaces and ten pairs: {took_ms} ms");
        assert_eq!(json(&fabric, "ip -j link").as_array().unwrap().len(), 12);
        send(&hub[0].0, &hub[9].0, Ipv4Addr::new(10, 0, 0, 10), 1000);
        // Ten times what it takes on an idle machine: this is to notice a call that waits, not to
        // measure.
        assert!(took_ms < 1500, "{took_ms} ms");
    });
}

/// Sends this many bytes over TCP and checks that they arrive.
fn send(from: &Namespace, to: &Namespace, address: Ipv4Addr, bytes: usize) {
    let listener = to
        .run(|| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port"))
        .expect("a way in");
    let port = listener.local_addr().expect("its address").port();
    let mut client =
        from.run(|| TcpStream::connect((address, port)).expect("a connection")).expect("a way in");
    let mut server = listener.accept().expect("a client").0;
    let writer = std::thread::spawn(move || client.write_all(&vec![7; bytes]).expect("a reader"));
    let mut got = vec![];
    server.read_to_end(&mut got).expect("bytes");
    writer.join().expect("the writer");
    assert_eq!(got.len(), bytes);
}

/// Sleeps.
fn pause(ms: u64) {
    hopbench_sys::clock::sleep_until(hopbench_sys::clock::now() + ms * 1_000_000);
}

#[test]
fn a_layout_that_was_taken_away_comes_back() {
    inside(|| {
        let (a, mut na, _b, _nb) = joined();
        // A gateway that only a route reaches, as the pods of `ptp` have it, and one in the link's
        // subnet.
        let far = Ipv4Addr::new(169, 254, 1, 1);
        na.add_route((far.into(), 32), None, Some("va")).unwrap();
        na.add_route((Ipv4Addr::UNSPECIFIED.into(), 0), Some(far.into()), Some("va")).unwrap();
        na.add_route((Ipv4Addr::new(10, 200, 0, 0).into(), 16), Some(B.into()), None).unwrap();
        let shown = || {
            let addresses = json(&a, "ip -j -4 address show dev va")[0]["addr_info"].clone();
            (addresses, json(&a, "ip -j -4 route show"))
        };
        let before = shown();
        assert_eq!(before.1.as_array().map(Vec::len), Some(4), "{before:?}");
        let layout = na.layout("va", false).unwrap();
        // What is there stays.
        na.restore(&layout).unwrap();
        assert_eq!(shown(), before);
        output(&a, &format!("ip address del {A}/24 dev va; ip route flush dev va"));
        assert_eq!(shown().1, serde_json::json!([]));
        na.restore(&layout).unwrap();
        assert_eq!(shown(), before);
    });
}
