//! Scenarios that make no sense, and exactly what is said about them.

use crate::common::{lines, on, text, try_plan, with};

pub(crate) fn told(text: &str) -> String {
    match try_plan(text) {
        Ok(_) => "nothing is wrong".to_owned(),
        Err(problems) => lines(&problems),
    }
}

/// The rows of a table: a text, and what belongs to it, a line each, four columns further to the
/// right. A line still further to the right continues the one above it. A line that begins with #
/// is a comment.
pub(crate) fn rows(table: &str) -> Vec<(String, Vec<String>)> {
    let column = |line: &str| line.len() - line.trim_start().len();
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    let mut first = None;
    for line in table.lines() {
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let right = column(line) - *first.get_or_insert_with(|| column(line));
        if right == 0 {
            rows.push((text(content), Vec::new()));
            continue;
        }
        let (row, below) = rows.last_mut().expect("a text above it");
        if right == 4 {
            below.push(content.to_owned());
        } else if let Some(above) = below.last_mut() {
            *above = format!("{above} {content}");
        } else {
            *row = format!("{row} {}", text(content));
        }
    }
    assert!(!rows.is_empty() && rows.iter().all(|(_, below)| !below.is_empty()), "{rows:?}");
    rows
}

/// Compares every row, which is a part of a scenario and what is said about it, then reports all
/// rows that differ.
pub(crate) fn compare(table: &str, scenario: impl Fn(&str) -> String) {
    let rows = rows(table);
    let wrong: Vec<String> = rows
        .iter()
        .map(|(text, expected)| (text, expected.join("\n"), told(&scenario(text))))
        .filter(|(_, expected, said)| said != expected)
        .map(|(text, expected, said)| format!("{text}\n  expected  {expected}\n  said      {said}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

#[test]
fn the_whole_file() {
    let rows = r#"
        ""
            x.yaml: found an empty file, expected a scenario: a mapping with name, paths and
                workloads
        5
            x.yaml:1:1: found `5`, expected a scenario: a mapping with name, paths and workloads
        nam: x\nREST
            x.yaml:1:1: nam: found `nam`, expected one of name, testbed, budget, rounds, stop, seed,
                baseline, a-a, minimum-effect, stay-connected, subjects, paths, places, mesh,
                workloads, time, warmup, interval, timeout, engine, cpu; did you mean `name`?
            x.yaml:1:1: found no `name`, expected a name of at most 64 letters, digits and -_.+ that
                starts with a letter or digit
        name: a/b\nREST
            x.yaml:1:7: name: found `a/b`, expected a name of at most 64 letters, digits and -_.+
                that starts with a letter or digit
        name: x\nname: y\nREST
            x.yaml:2:1: name: found `name` a second time, expected each key once
        name: x\nrounds: 0\nREST
            x.yaml:2:9: rounds: found `0`, expected 1 to 1000
        name: x\nrounds: [1]\nREST
            x.yaml:2:9: rounds: found a list, expected 1 to 1000
        name: x\nseed: -1\nREST
            x.yaml:2:7: seed: found `-1`, expected a whole number up to 18446744073709551615
        name: x\nbaseline: q\nREST
            x.yaml:2:11: baseline: found `q`, expected `p`; did you mean `p`?
        name: x\ntime:\nREST
            x.yaml:2:1: time: found nothing, expected a value, a list of values, or a range like
                {from: 1B, to: 256KiB, factor: 64}
        name: x\ntime: soon\nREST
            x.yaml:2:7: time: found `soon`, expected a time like 10 (seconds), 500ms, 2m30s or 1h
        name: x\nengine: epol\nREST
            x.yaml:2:9: engine: found `epol`, expected one of epoll, uring, spin, threads; did you
                mean `epoll`?
        name: &a x\nREST
            x.yaml:1:7: found an anchor, expected the value itself: anchors, aliases and tags are
                not used in scenarios
        name: !!str x\nREST
            x.yaml:1:7: found a tag, expected the value itself: anchors, aliases and tags are not
                used in scenarios
        name: x\n[1]: 2\nREST
            x.yaml:2:1: found a list, expected a word as the key
        name: x\nrounds: {\nREST
            x.yaml:3:1: found a syntax error (invalid indentation), expected YAML
        name: x\nREST\n---\nname: y\n
            x.yaml:4:1: found a second document, expected one scenario a file
        name: x\nworkloads: {w: rr}
            x.yaml:1:1: found no `paths`, expected at least one, like paths: {direct: host@a ->
                host@b}
        name: x\npaths: {p: host@a -> host@b}
            x.yaml:1:1: found no `workloads`, expected at least one, like workloads: {latency: {rr:
                {size: 64}}}
        name: x\npaths: {}\nworkloads: {}
            x.yaml:2:8: paths: found an empty mapping, expected a mapping from names to paths
            x.yaml:3:12: workloads: found an empty mapping, expected a mapping from names to
                workloads
    "#;
    let rest = "paths: {p: host@a -> host@b}\nworkloads: {w: rr}";
    compare(rows, |text| text.replace("REST", rest));
}

#[test]
fn brackets_between_braces_stand_in_quotes() {
    let search = |of: &str| {
        with(&format!("{{rr: , search: {{cpu: {{of: {of}, ceiling: 60%, rates: 1..9}}}}}}"))
    };
    let set = |to: &str| on(&format!("paths: {{p: {{from: host@a, to: {to}, via: cluster-ip}}}}"));
    for (text, line) in [(search("nodes [a, b]"), 4), (set("host@[b, c]"), 2)] {
        let told = told(&text);
        let begin = format!("x.yaml:{line}:");
        let end = "), expected YAML: between braces, a value with [ ] or a comma stands in quotes, \
                   like of: \"nodes [b, c]\" or to: \"bridge@[b, c]\"";
        assert!(told.starts_with(&begin) && told.ends_with(end), "{told}");
    }
    for text in [search("\"nodes [a, b]\""), set("\"host@[b, c]\"")] {
        assert_eq!(told(&text), "nothing is wrong");
    }
}

#[test]
fn testbeds() {
    let rows = "
        {lab: {node: 3}}
            x.yaml:2:17: testbed.lab.node: found `node`, expected one of nodes, link, mtu,
                zone-link, zone-delay; did you mean `nodes`?
        {lab: {nodes: 0}}
            x.yaml:2:24: testbed.lab.nodes: found `0`, expected 1 to 100 nodes
        {lab: {nodes: [a, B]}}
            x.yaml:2:28: testbed.lab.nodes: found `B`, expected a name of at most 15 lower-case
                letters, digits and - that starts with a letter
        {lab: {nodes: [a, b, a]}}
            x.yaml:2:31: testbed.lab.nodes: found `a` a second time, expected each node once
        {lab: {nodes: {a: {zon: x}, b: }}}
            x.yaml:2:29: testbed.lab.nodes.a.zon: found `zon`, expected one of zone, link,
                server-work; did you mean `zone`?
        {lab: {link: fast}}
            x.yaml:2:23: testbed.lab.link: found `fast`, expected a bit rate like 10Gbit, from 1kbit
                to 1000Gbit
        {lab: {link: 0bit}}
            x.yaml:2:23: testbed.lab.link: found `0bit`, expected a bit rate like 10Gbit, from 1kbit
                to 1000Gbit
        {lab: {mtu: 100}}
            x.yaml:2:22: testbed.lab.mtu: found `100`, expected 1280 to 65535 bytes
        {lab: {zone_delay: 1ms}}
            x.yaml:2:29: testbed.lab.zone-delay: found `1ms`, expected at least two zones: give
                nodes a zone, like {a: {zone: x}, b: {zone: z}}
        {lab: {nodes: [a]}}
            x.yaml:3:12: paths.p: found `b`, expected `a`; did you mean `a`?
    ";
    compare(rows, |testbed| on(&format!("testbed: {testbed}\npaths: {{p: host@a -> host@b}}")));
}

#[test]
fn paths() {
    let rows = r"
        paths: {p: brigde@a -> host@b}
            x.yaml:2:12: paths.p: found `brigde`, expected one of host, bridge, overlay, ptp,
                macvlan, eni, vlan; did you mean `bridge`?
        paths: {p: bridge+kata@a -> host@b}
            x.yaml:2:12: paths.p: found `kata`, expected `runsc`
        paths: {p: host+runsc@a -> host@b}
            x.yaml:2:12: paths.p: found `host+runsc`, expected a pod for the runtime runsc; host is
                none
        paths: {p: host@a}
            x.yaml:2:12: paths.p: found `host@a`, expected a path like `host@a -> bridge@b`, or a
                mapping with from and to
        paths: {p: host -> bridge@b}
            x.yaml:2:12: paths.p: found `host`, expected a place like bridge@a: a network kind, @
                and a node
        paths: {p: host@a -> bridge@b via gateway}
            x.yaml:2:12: paths.p: found `gateway`, expected one of direct, cluster-ip,
                node-port@NODE, gateway@NODE, load-balancer, address@HOST:PORT
        paths: {p: vlan@a -> vlan@a}
            x.yaml:2:12: paths.p: found `vlan@a` at both ends, expected two places; one node cannot
                hold both ends of a path of kind vlan
        paths: {'a,b': host@a -> host@b}
            x.yaml:2:9: paths: found `a,b`, expected a name of at most 64 letters, digits and -_.+
                that starts with a letter or digit
        paths: {p: {from: host@a}}
            x.yaml:2:12: paths.p: found no `to`, expected both ends: from and to, like bridge@a
        paths: {p: {from: host@a, to: host@b, form: 1}}
            x.yaml:2:39: paths.p.form: found `form`, expected one of from, to, via, clients,
                backends, gateways, affinity, family, mesh; did you mean `from`?
        paths: {p: {from: host@a, to: host@b, clients: 0}}
            x.yaml:2:48: paths.p.clients: found `0`, expected a whole number from 1 to 1000
        paths: {p: {from: host@a, to: host@b, backends: 2}}
            x.yaml:2:12: paths.p: found 2 backends, expected one backend without a Service or
                gateway; for more, via: cluster-ip, node-port@NODE, load-balancer or gateway@NODE
        paths: {p: {from: host@a, to: 'host@[b, b]', via: cluster-ip}}
            x.yaml:2:31: paths.p.to: found `b` twice, expected each node once
        paths: {p: {from: host@a, to: 'host@[b, c]', via: cluster-ip, backends: 1}}
            x.yaml:2:73: paths.p.backends: found `1`, expected a whole number from 2, one on each
                node of host@[b, c], to 1000
        paths: {p: {from: vlan@a, to: 'vlan@[b, a]', via: cluster-ip}}
            x.yaml:2:12: paths.p: found `vlan@a` at both ends, expected two places; one node cannot
                hold both ends of a path of kind vlan
        paths: {p: {from: bridge@a, to: bridge@b, via: gateway@c, gateways: 0}}
            x.yaml:2:69: paths.p.gateways: found `0`, expected a whole number from 1 to 1000
        paths: {p: {from: bridge@a, to: bridge@b, via: 'gateway@[c, d]', gateways: 1}}
            x.yaml:2:76: paths.p.gateways: found `1`, expected a whole number from 2 to 1000
        paths: {p: {from: host@a, to: host@b, gateways: 2}}
            x.yaml:2:49: paths.p.gateways: found `2`, expected via: gateway@NODE with it: other
                paths have no gateways of their own
        paths: {p: {from: host@a, to: host@b, affinity: client-ip}}
            x.yaml:2:12: paths.p.affinity: found `client-ip`, expected via: cluster-ip,
                node-port@NODE or load-balancer, and with cluster-ip no sidecar of the client: only
                a Service knows clients by their addresses
        paths: {p: {from: host@a, to: host@b, via: cluster-ip, affinity: cookie}}
            x.yaml:2:66: paths.p.affinity: found `cookie`, expected client-ip
        paths: {p: {from: host@a, to: host@b, family: 6}}
            x.yaml:2:47: paths.p.family: found `6`, expected ipv4 or ipv6
        paths: {p: {from: host@a, to: host@b, via: 'address@203.0.113.7:80', family: ipv6}}
            x.yaml:2:12: paths.p.family: found `ipv6`, expected no family with via:
                address@203.0.113.7:80: the address has one
        paths: {p: {from: [host@a], to: host@b}}
            x.yaml:2:19: paths.p.from: found a list, expected a place like bridge@a
        paths: {p: host@a -> host@b, p: host@b -> host@a}
            x.yaml:2:30: paths.p: found `p` a second time, expected each key once
        places: [host, wifi]
            x.yaml:2:16: places: found `wifi`, expected one of host, bridge, overlay, ptp, macvlan,
                eni, vlan
        places: [host, host]
            x.yaml:2:9: paths: found two paths called `host-host`, expected each path once
        places: {kinds: [host], to: [eni]}
            x.yaml:2:29: places: found `kinds` beside `from` or `to`, expected either kinds, or from
                and to
        places: {kinds: [host], nodes: a}
            x.yaml:2:32: places.nodes: found `a`, expected a pair of nodes like a -> b, or named
                pairs like {near: a -> b, far: a -> c}
        testbed: {lab: {nodes: 1}}\nplaces: [host]
            x.yaml:3:9: places: found only the node `a`, expected two nodes, or nodes: a -> a
    ";
    compare(rows, on);
}

#[test]
fn workloads() {
    let rows = "
        rrr
            x.yaml:4:6: workloads.w: found `rrr`, expected one of stream, push, rr, crr, udp, ping,
                http, grpc; did you mean `rr`?
        {rr: {}, udp: {}}
            x.yaml:4:15: workloads.w: found `udp` too, expected one workload an entry
        {paths: p}
            x.yaml:4:6: workloads.w: found no workload, expected one of stream, push, rr, crr, udp,
                ping, http, grpc
        {rr: 5}
            x.yaml:4:11: workloads.w.rr: found `5`, expected a mapping of parameters
        {rr: {siez: 1}}
            x.yaml:4:12: workloads.w.rr.siez: found `siez`, expected one of size, response, udp,
                tls, tls-version, tls-cipher, no-tls-resumption, tls-mutual, schedule, rate, burst,
                time, warmup, interval, timeout, connections, threads, engine, cpu, pacing, seed;
                did you mean `size`?
        {rr: {tls: true, tls-cert: c.pem}}
            x.yaml:4:23: workloads.w.rr.tls-cert: found `tls-cert`, expected no client certificate:
                only an agent answers this workload; measure `http` or `grpc`, or give `tls-mutual`
                where it has `tls`
        {stream: {tls_cert: c.pem}}
            x.yaml:4:16: workloads.w.stream.tls_cert: found `tls_cert`, expected no client
                certificate: only an agent answers this workload; measure `http` or `grpc`, or give
                `tls-mutual` where it has `tls`
        {crr: {tls-key: c.pem}}
            x.yaml:4:13: workloads.w.crr.tls-key: found `tls-key`, expected no client certificate:
                only an agent answers this workload; measure `http` or `grpc`, or give `tls-mutual`
                where it has `tls`
        {push: {tls-cert: c.pem}}
            x.yaml:4:14: workloads.w.push.tls-cert: found `tls-cert`, expected no client
                certificate: only an agent answers this workload; measure `http` or `grpc`, or give
                `tls-mutual` where it has `tls`
        {stream: {send_bufer: 1}}
            x.yaml:4:16: workloads.w.stream.send_bufer: found `send_bufer`, expected one of size,
                write, direction, rate, receive, congestion, send-buffer, receive-buffer,
                receive-low-water, not-sent-low-water, tls, tls-version, tls-cipher,
                no-tls-resumption, tls-mutual, time, warmup, interval, timeout, connections,
                threads, engine, cpu, pacing, seed; did you mean `send-buffer`?
        {rr: {size: 12XB}}
            x.yaml:4:18: workloads.w.rr.size: found `12XB`, expected a size like 64, 100kB (100 000
                bytes) or 128KiB (131 072 bytes)
        {rr: {size: [1, 2XB, 0]}}
            x.yaml:4:22: workloads.w.rr.size: found `2XB`, expected a size like 64, 100kB (100 000
                bytes) or 128KiB (131 072 bytes)
        {rr: {size: [1, 0]}}
            x.yaml:4:22: workloads.w.rr.size: found `0B`, expected 1B to 1GiB
        {rr: {size: []}}
            x.yaml:4:18: workloads.w.rr.size: found an empty list, expected a value, a list of
                values, or a range like {from: 1B, to: 256KiB, factor: 64}
        {rr: {size: {from: 1, to: 9}}}
            x.yaml:4:18: workloads.w.rr.size: found from, to, expected a range with from, to and
                either factor or step, like {from: 1B, to: 256KiB, factor: 64}
        {rr: {size: {from: 9, to: 1, factor: 2}}}
            x.yaml:4:18: workloads.w.rr.size: found `9:1:*2`, expected a range that can be measured:
                `9:1:*2` ends below its start; write the smaller value first
        {rr: {size: {from: 1B, to: 1s, factor: 2}}}
            x.yaml:4:18: workloads.w.rr.size: found `1B` to `1s`, expected two whole numbers, sizes,
                times or bit rates
        {rr: {size: [64, 64B]}}
            x.yaml:4:3: workloads.w.rr: found the point `{size:64B}` twice, expected each setting
                once
        {rr: {connections: many}}
            x.yaml:4:25: workloads.w.rr.connections: found `many`, expected a whole number up to
                4294967295
        {rr: {connections: 0}}
            x.yaml:4:25: workloads.w.rr.connections: found `0`, expected 1 to 1 000 000 connections
        {rr: {threads: [1, 2]}}
            x.yaml:4:25: workloads.w.rr.threads: found `2`, expected at most one thread a
                connection; raise connections
        {rr: {udp: maybe}}
            x.yaml:4:17: workloads.w.rr.udp: found `maybe`, expected true or false
        {rr: {rate: fast}}
            x.yaml:4:18: workloads.w.rr.rate: found `fast`, expected a number
        {rr: {rate: 5, schedule: closed}}
            x.yaml:4:18: workloads.w.rr.rate: found `5`, expected no rate with schedule closed: the
                answers set the pace; take schedule rate
        {rr: {schedule: poisson}}
            x.yaml:4:22: workloads.w.rr.schedule: found `poisson`, expected a rate to keep
        {rr: {burst: 8}}
            x.yaml:4:19: workloads.w.rr.burst: found `8`, expected a rate beside it
        {rr: {rate: 100, burst: [1, 0]}}
            x.yaml:4:34: workloads.w.rr.burst: found `0`, expected 1 to 1000 exchanges at the same
                moment
        {rr: {schedule: hourly}}
            x.yaml:4:22: workloads.w.rr.schedule: found `hourly`, expected one of closed, rate,
                poisson
        {rr: {cpu: x}}
            x.yaml:4:17: workloads.w.rr.cpu: found `x`, expected CPUs like 0, 0-3, 0,2 for the
                client, or client/server like 0/1
        {stream: {direction: sideways}}
            x.yaml:4:27: workloads.w.stream.direction: found `sideways`, expected one of to-server,
                from-server, both
        {udp: {rate: 10}}
            x.yaml:4:19: workloads.w.udp.rate: found `10`, expected max, datagrams a second like
                50000pps or 50kpps, or payload like 100Mbit
        {udp: {gso: 70000}}
            x.yaml:4:18: workloads.w.udp.gso: found `70000`, expected a whole number up to 65535
        {udp: {rate: max, offered: true}}
            x.yaml:4:33: workloads.w.udp.offered: found `true with rate max`, expected a rate as a
                number, like 100Mbit; or leave it out: with rate max the main figure is what arrives
                already
        {http: {server: ngnix}}
            x.yaml:4:22: workloads.w.http.server: found `ngnix`, expected one of hopbench, nginx;
                did you mean `nginx`?
        {http: {response: 2GiB}}
            x.yaml:4:24: workloads.w.http.response: found `2GiB`, expected a size like 1KiB, at most
                1GiB
        {http: {path: x}}
            x.yaml:4:20: workloads.w.http.path: found `x`, expected a path from the slash on, like
                /index.html?lang=en
        {http: {path: '/a b'}}
            x.yaml:4:20: workloads.w.http.path: found `/a b`, expected a path and query in visible
                ASCII; percent-encode other characters
        {http: {path: /x, response: 1}}
            x.yaml:4:20: workloads.w.http: found `path` beside `response`, expected only one of the
                two
        {http: {body: a, body-size: 1}}
            x.yaml:4:3: workloads.w.http: found `body` beside `body-size`, expected only one of the
                two
        {http: {header: nocolon}}
            x.yaml:4:22: workloads.w.http.header: found `<redacted>`, expected `Name: value`
        {rr: {}, paths: [q*]}
            x.yaml:4:23: workloads.w.paths: found `q*`, expected `p`
        {rr: {time: 25h}}
            x.yaml:4:3: workloads.w.rr.interval: found `1s with time 90000s`, expected at most 10
                000 intervals
            x.yaml:4:18: workloads.w.rr.time: found `90000s`, expected at most 24h
    ";
    compare(rows, with);
}

#[test]
fn a_path_that_nothing_is_measured_on() {
    let text = "name: x\npaths:\n  p: host@a -> host@b\n  q: host@b -> host@a\n\
                workloads: {w: {rr: {}, paths: p}}\n";
    assert_eq!(
        told(text),
        "x.yaml:4:3: paths.q: found no workload on it, expected at least one that has it in its \
         paths"
    );
}

#[test]
fn all_of_it_at_once_in_the_files_order() {
    let text = "name: x\nrounds: 0\nbaseline: z\npaths:\n  p: hots@a -> host@b\n  \
                q: host@a -> host@b via nowhere\n\
                workloads:\n  w: {rr: {siez: 1, size: 2XB, connections: 0}}\n  v: {htp: {}}\n\
                mehs: none\n";
    let told = told(text);
    let places: Vec<&str> =
        told.lines().map(|line| line.split(": ").next().unwrap_or_default()).collect();
    assert_eq!(
        places,
        [
            "x.yaml:2:9",
            "x.yaml:3:11",
            "x.yaml:5:6",
            "x.yaml:6:6",
            "x.yaml:8:12",
            "x.yaml:8:27",
            "x.yaml:9:7",
            "x.yaml:10:1"
        ],
        "{told}"
    );
}

/// What comes from the file goes to a terminal.
#[test]
fn control_characters_are_shown_not_sent() {
    let told = told(&with("{rr: {\"si\\e[31mze\": 1, size: \"\\a\"}}"));
    assert!(!told.contains(['\u{1b}', '\u{7}']), "{told:?}");
    assert!(told.contains("`\\u0007`"), "{told}");
}

#[test]
fn unknown_names_of_paths_are_told_beside_what_is_wrong_with_paths() {
    let names = |paths: &str| {
        format!(
            "name: x\nbaseline: hots\npaths: {{{paths}}}\n\
             workloads: {{w: {{rr: {{}}, paths: [hst, ov*, other.plain]}}}}"
        )
    };
    let wrong = "overlay: overly@a -> overlay@b, other: bridge@a -> bridge@b";
    let said = told(&names(&format!("host: host@a -> host@b, {wrong}")));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    assert_eq!(
        lines[0],
        "x.yaml:2:11: baseline: found `hots`, expected one of host, overlay, other; did you mean \
         `host`?"
    );
    assert!(lines[1].contains("paths.overlay: found `overly`"), "{said}");
    assert_eq!(
        lines[2].split_once(": ").unwrap().1,
        "workloads.w.paths: found `hst`, expected one of host, overlay, other; did you mean `host`?"
    );
    // Names that only sense would give may be any.
    let said = told(&format!("{}\nplaces: [hots]", names(wrong)));
    assert!(!said.contains("baseline") && said.contains("found `hots`"), "{said}");
}
