//! Real Envoys in namespaces.
#![allow(clippy::print_stderr, reason = "times are for who reads the output")]

#[path = "../../../tests/common/inside.rs"]
mod inside;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use hopbench_control::authority::Authority;
use hopbench_mesh::{
    AdminAddress, Listener, Protocol, ProxyIdentity, ProxyRoute, ProxySpec, SPIFFE, Upstream,
};
use hopbench_model::{FaultKind, IpFamily, Variant};
use nix::mount::{MsFlags, mount, umount};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::*;
use crate::network::stack::kernel_has_ipv6;
use crate::processes::process_table::{self, ProcessId};

/// Where echo servers listen.
const ECHO: u16 = 7000;
/// Where proxies listen.
const FRONT: u16 = 8000;
/// Longer than anything here takes.
const PATIENCE_NS: Nanos = 20 * SECOND;

/// Runs `body` in a sandbox, where there is an Envoy.
fn with_envoy(body: impl FnOnce()) {
    match missing() {
        Some((why, _)) => inside::skip(&inside::this_test(), &why),
        None => inside::inside(body),
    }
}

/// A proxy that passes TCP connections on from one port to another.
fn proxy(from: u16, to: u16) -> ProxySpec {
    let route = ProxyRoute {
        name: "echo".to_owned(),
        address: None,
        port: from,
        protocol: Protocol::Tcp,
        from_proxy: false,
        to_proxy: false,
        checked: false,
        telemetry: None,
        upstream: Upstream::Endpoints(vec![local(to)]),
    };
    ProxySpec {
        name: format!("from {from}"),
        variant: Variant { mtls: false, ..Variant::plain() },
        admin: AdminAddress::Pipe(format!("@admin-{from}")),
        ready: None,
        listeners: vec![Listener {
            name: "gateway".to_owned(),
            port: from,
            redirected: false,
            edge: true,
            addresses: vec![Ipv4Addr::UNSPECIFIED.into()],
            routes: vec![route],
        }],
        mark: None,
        identity: None,
        access_log: "/tmp/logs/access.log".to_owned(),
        policy: None,
    }
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

fn task<'a>(name: &str, stack: &'a Stack, proxy: ProxySpec) -> MeshTask<'a> {
    MeshTask {
        name: name.to_owned(),
        stack,
        cpus: None,
        envoy: None,
        program: MeshProgram::Envoy(Box::new(proxy)),
    }
}

fn proxies() -> Proxies {
    Proxies::new("/proc/self/exe".into(), None)
}

/// A namespace with a server in it that says everything back.
fn stack(name: &str) -> Stack {
    let stack = Stack::create(name, &[IpFamily::Ipv4]).unwrap();
    let listener = stack.namespace.run(|| TcpListener::bind(local(ECHO))).unwrap().unwrap();
    std::thread::Builder::new()
        .spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut reader = stream.try_clone().unwrap();
                std::thread::Builder::new()
                    .spawn(move || std::io::copy(&mut reader, &mut &stream))
                    .unwrap();
            }
        })
        .unwrap();
    stack
}

/// Says something to a port and hears what comes back; the connection is over then.
fn echo(stack: &Stack, port: u16) -> std::io::Result<String> {
    let mut stream = stack.namespace.run(move || TcpStream::connect(local(port)))??;
    stream.set_read_timeout(Some(std::time::Duration::from_secs(5)))?;
    stream.write_all(b"hello")?;
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = clock::now() + PATIENCE_NS;
    while !holds() {
        assert!(clock::now() < end, "{what}");
        clock::sleep_until(clock::now() + LOOK_NS);
    }
}

fn send(pid: u32, signal: Signal) {
    kill(Pid::from_raw(pid as i32), signal).unwrap();
}

#[test]
fn several_start_at_once_count_what_passes_and_go() {
    with_envoy(|| {
        let names = ["a", "b", "c", "d"];
        let stacks = names.map(stack);
        let tasks = || {
            names
                .iter()
                .zip(&stacks)
                .map(|(name, stack)| task(name, stack, proxy(FRONT, ECHO)))
                .collect()
        };
        let mut proxies = proxies();
        let start = clock::now();
        proxies.start(tasks()).unwrap();
        eprintln!("four proxies ready: {} ms", (clock::now() - start) / 1_000_000);
        let pids = names.map(|name| proxies.pid(name).unwrap());
        for (pid, stack) in pids.iter().zip(&stacks) {
            assert_eq!(process_table::network_of(*pid), Some(stack.namespace.inode()));
        }
        // Those that run are left alone.
        proxies.start(tasks()).unwrap();
        assert_eq!(names.map(|name| proxies.pid(name).unwrap()), pids);

        let before = names.map(|name| proxies.counters(name).unwrap());
        for _ in 0..3 {
            assert_eq!(echo(&stacks[1], FRONT).unwrap(), "hello");
        }
        let start = clock::now();
        let after = names.map(|name| proxies.counters(name).unwrap());
        eprintln!("counters of four proxies: {} us", (clock::now() - start) / 1000);
        for (at, (before, after)) in before.iter().zip(&after).enumerate() {
            let passed = if at == 1 { 3 } else { 0 };
            for counter in ["downstream_connections", "upstream_connections", "upstream_connects"] {
                assert_eq!(after[counter] - before[counter], passed, "{counter} of {}", names[at]);
            }
        }
        // What a gauge says is from the question before.
        let _ = proxies.gauges("a").unwrap();
        until("gauges", || proxies.gauges("a").unwrap()["allocated_bytes"] > 1e6);
        assert_eq!(proxies.gauges("a").unwrap()["workers"], f64::from(Variant::CONCURRENCY));

        let living = pids.map(|pid| ProcessId::now(pid).unwrap());
        proxies.stop();
        assert!(living.iter().all(|process| !process.is_alive()));
        assert!(!proxies.is_alive("a") && proxies.pid("a").is_none());
    });
}

#[test]
fn one_that_died_is_told_with_how_and_started_again() {
    with_envoy(|| {
        let stack = stack("a");
        let tasks = || {
            ["first", "second"]
                .iter()
                .zip([FRONT, FRONT + 1])
                .map(|(n, p)| task(n, &stack, proxy(p, ECHO)))
                .collect()
        };
        let mut proxies = proxies();
        proxies.start(tasks()).unwrap();
        let [first, second] = ["first", "second"].map(|name| proxies.pid(name).unwrap());
        send(first, Signal::SIGKILL);
        let fault = proxies.counters("first").unwrap_err();
        assert_eq!(fault.kind, FaultKind::Measuring);
        assert!(fault.text.starts_with("first has ended (signal: 9 (SIGKILL))"), "{fault}");
        assert!(!proxies.is_alive("first") && proxies.is_alive("second"));
        // Said again and again, until it is started.
        assert_eq!(proxies.gauges("first").unwrap_err(), fault);
        proxies.start(tasks()).unwrap();
        assert_eq!(proxies.pid("second"), Some(second));
        assert_ne!(proxies.pid("first"), Some(first));
        assert_eq!(proxies.counters("first").unwrap()["downstream_connections"], 0);
        assert_eq!(echo(&stack, FRONT).unwrap(), "hello");
        assert_eq!(proxies.counters("nobody").unwrap_err().text, "nobody is not part of the lab");
    });
}

#[test]
fn one_that_hangs_is_not_waited_for_and_is_asked_again_later() {
    with_envoy(|| {
        let stack = stack("a");
        let tasks = || vec![task("p", &stack, proxy(FRONT, ECHO))];
        let mut proxies = proxies();
        proxies.start(tasks()).unwrap();
        let pid = proxies.pid("p").unwrap();
        send(pid, Signal::SIGSTOP);
        let start = clock::now();
        let fault = proxies.counters("p").unwrap_err();
        assert!(clock::now() - start < 5 * SECOND);
        assert_eq!(fault.kind, FaultKind::Measuring);
        assert!(fault.text.starts_with("the admin endpoint of p does not answer: "), "{fault}");
        send(pid, Signal::SIGCONT);
        proxies.start(tasks()).unwrap();
        assert_eq!(proxies.pid("p"), Some(pid));
        assert_eq!(echo(&stack, FRONT).unwrap(), "hello");
        assert_eq!(proxies.counters("p").unwrap()["downstream_connections"], 1);
    });
}

/// What became of a connection that was given up while it came about is never told, and not waited
/// for again and again.
#[test]
fn a_connection_that_was_given_up_is_waited_for_once() {
    with_envoy(|| {
        let stack = stack("a");
        let mut proxies = proxies();
        proxies.start(vec![task("p", &stack, proxy(FRONT, ECHO + 1))]).unwrap();
        let full = || {
            fs::write("/proc/sys/net/core/somaxconn", "0").unwrap();
            let listener = TcpListener::bind(local(ECHO + 1)).unwrap();
            // Its queue takes one; whoever comes after that hears nothing.
            (TcpStream::connect(local(ECHO + 1)).unwrap(), listener)
        };
        let kept = stack.namespace.run(full).unwrap();
        let client = stack.namespace.run(|| TcpStream::connect(local(FRONT))).unwrap().unwrap();
        until("a connection", || proxies.counters("p").unwrap()["upstream_connections"] == 1);
        drop(client);
        let waited = (MOST_QUESTIONS as u64 - 1) * LOOK_NS;
        until("the end of it", || {
            proxies.running["p"].untold == 1 && {
                let counters = proxies.counters("p").unwrap();
                counters["upstream_connects"] + counters["upstream_connect_failures"] == 0
            }
        });
        let mut timed = || {
            let start = clock::now();
            proxies.counters("p").unwrap();
            clock::now() - start
        };
        let shortest = (0..10).map(|_| timed()).min().unwrap();
        assert!(shortest < waited, "{shortest} of {waited} ns");
        drop(kept);
    });
}

#[test]
fn one_that_cannot_start_says_why_in_its_own_words() {
    with_envoy(|| {
        let stack = stack("a");
        let mut proxies = proxies();
        let mut start = |wrong: ProxySpec| {
            let tasks =
                vec![task("good", &stack, proxy(FRONT, ECHO)), task("wrong", &stack, wrong)];
            proxies.start(tasks).unwrap_err()
        };
        let mut encrypted = proxy(FRONT + 1, ECHO);
        encrypted.variant.mtls = true;
        encrypted.listeners[0].routes[0].from_proxy = true;
        let none =
            || ProxyIdentity { certificate: "x".into(), key: "x".into(), authority: "x".into() };
        encrypted.identity = Some(none());
        // The port of the server.
        for (wrong, words) in [(encrypted, "certificate"), (proxy(ECHO, ECHO), "in use")] {
            let fault = start(wrong);
            assert_eq!(fault.kind, FaultKind::Environment);
            let text = fault.text.to_lowercase();
            assert!(
                text.starts_with("wrong has ended (exit status: ") && text.contains(words),
                "{fault}"
            );
            assert!(text.contains("its last words:\n  ["), "{fault}");
        }
        // The others are not affected, however late they got ready.
        proxies.start(vec![task("good", &stack, proxy(FRONT, ECHO))]).unwrap();
        assert_eq!(echo(&stack, FRONT).unwrap(), "hello");
        let mut unknown = proxy(FRONT + 2, ECHO);
        unknown.admin = AdminAddress::Pipe("/tmp/admin".to_owned());
        let fault = proxies.start(vec![task("p", &stack, unknown)]).unwrap_err();
        assert!(fault.text.contains("expected @ and the name"), "{fault}");
    });
}

#[test]
fn a_program_that_does_not_listen_is_not_waited_for() {
    /// The families of a pod, and where a service listens there.
    const LISTENS: [(&[IpFamily], &str); 2] =
        [(&[IpFamily::Ipv4], "0.0.0.0:9"), (&IpFamily::ALL, "[::]:9")];
    with_envoy(|| {
        let folder = folder();
        let script = folder.join("silent");
        program(&script, "#!/bin/sh\necho \"$@\" >&2\nexec sleep 60\n");
        let log = folder.join("log");
        let possible = if kernel_has_ipv6() { 2 } else { 1 };
        for (families, listen) in LISTENS.into_iter().take(possible) {
            let mut proxies = Proxies::new(script.clone(), Some(File::create(&log).unwrap()));
            let stack = Stack::create("a", families).unwrap();
            let task = MeshTask {
                name: "p".to_owned(),
                stack: &stack,
                cpus: None,
                envoy: None,
                program: MeshProgram::Policy { port: 9 },
            };
            let fault = proxies.start_within(vec![task], SECOND / 2).unwrap_err();
            let said = format!("policy --listen {listen} --admin @hopbench-policy");
            let why = "it does not listen on port 9";
            let told = format!("p is not ready after 500ms: {why}; its last words:\n  {said}");
            assert_eq!((fault.kind, fault.text), (FaultKind::Environment, told));
            assert_eq!(fs::read_to_string(&log).unwrap(), format!("p: {said}\n"));
            assert!(!proxies.is_alive("p") && proxies.pid("p").is_none());
        }
        fs::remove_dir_all(folder).unwrap();
    });
}

#[test]
fn services_tell_their_totals_and_their_death_is_seen() {
    with_envoy(|| {
        let folder = folder();
        let script = folder.join("service");
        program(&script, "#!/bin/sh\nexec sleep 60\n");
        let mut proxies = Proxies::new(script, None);
        // It has a port open and tells its totals: this process plays that part.
        let stack = stack("a");
        let admin =
            std::os::unix::net::SocketAddr::from_abstract_name("hopbench-telemetry").unwrap();
        let admin = stack.namespace.run(|| UnixListener::bind_addr(&admin)).unwrap().unwrap();
        std::thread::Builder::new()
            .spawn(move || {
                for mut stream in admin.incoming().map_while(Result::ok) {
                    stream
                        .write_all(b"{\"reports\": 7, \"series\": {\"told_apart\": 5}}\n")
                        .unwrap();
                }
            })
            .unwrap();
        let telemetry = MeshProgram::Telemetry { port: ECHO };
        proxies
            .start(vec![MeshTask {
                name: "t".to_owned(),
                stack: &stack,
                cpus: Some(&[0]),
                envoy: None,
                program: telemetry,
            }])
            .unwrap();
        assert_eq!(proxies.counters("t").unwrap(), BTreeMap::from([("reports".to_owned(), 7)]));
        assert_eq!(proxies.gauges("t").unwrap().len(), 0);
        let pid = proxies.pid("t").unwrap();
        assert_eq!(process_table::cpus_of(pid).unwrap().0, [0]);
        send(pid, Signal::SIGKILL);
        until("its death", || !proxies.is_alive("t"));
        assert!(proxies.counters("t").unwrap_err().text.starts_with("t has ended (signal: 9"));
        fs::remove_dir_all(folder).unwrap();
    });
}

#[test]
fn an_access_log_is_emptied_where_only_its_proxy_sees_it() {
    with_envoy(|| {
        let stack = stack("a");
        let mut logging = proxy(FRONT, ECHO);
        logging.variant.access_log = true;
        let mut proxies = proxies();
        proxies.start(vec![task("p", &stack, logging)]).unwrap();
        let file = format!("/proc/{}/root/tmp/logs/access.log", proxies.pid("p").unwrap());
        assert!(!Path::new("/tmp/logs/access.log").exists());
        let length = || fs::metadata(&file).unwrap().len();
        // Envoy writes what it has kept when it is much.
        let fill = || {
            until("a line", || {
                (0..20).for_each(|_| assert_eq!(echo(&stack, FRONT).unwrap(), "hello"));
                length() > 0
            });
        };
        fill();
        proxies.fresh("p");
        assert_eq!(length(), 0);
        fill();
        // No hole where the old lines were.
        assert!(!fs::read(&file).unwrap().contains(&0));
        // What does not fit is lost, and counted.
        assert_eq!(proxies.counters("p").unwrap()["log_write_failures"], 0);
        let filler = Path::new(&file).with_file_name("filler");
        let mut filler = File::create(filler).unwrap();
        let written =
            std::io::copy(&mut std::io::repeat(0).take(1 << 30), &mut filler).map_err(|e| e.kind());
        assert_eq!(written, Err(std::io::ErrorKind::StorageFull));
        until("a failure", || {
            (0..20).for_each(|_| assert_eq!(echo(&stack, FRONT).unwrap(), "hello"));
            proxies.counters("p").unwrap()["log_write_failures"] > 0
        });
    });
}

#[test]
fn proxies_believe_their_own_authority_only() {
    with_envoy(|| {
        let stack = stack("a");
        let (ours, another) = (Authority::new().unwrap(), Authority::new().unwrap());
        let mut proxies = proxies();
        let pair = |proxies: &mut Proxies, at: u16, client: &Authority| {
            let mut outbound = proxy(at, at + 1);
            let mut inbound = proxy(at + 1, ECHO);
            outbound.listeners[0].routes[0].to_proxy = true;
            inbound.listeners[0].routes[0].from_proxy = true;
            for (proxy, authority) in [(&mut outbound, client), (&mut inbound, &ours)] {
                proxy.variant.mtls = true;
                let issued = authority.issue(&format!("{SPIFFE}pod/bridge+runsc@a#2")).unwrap();
                proxy.identity = Some(ProxyIdentity {
                    certificate: issued.certificate,
                    key: issued.key,
                    authority: issued.authority,
                });
            }
            let names = [at, at + 1].map(|port| format!("p{port}"));
            proxies
                .start(vec![task(&names[0], &stack, outbound), task(&names[1], &stack, inbound)])
                .unwrap();
            names
        };
        let names = pair(&mut proxies, FRONT, &ours);
        assert_eq!(echo(&stack, FRONT).unwrap(), "hello");
        for name in &names {
            assert_eq!(proxies.counters(name).unwrap()["tls_handshakes"], 1, "{name}");
        }
        // Past the client's proxy nobody encrypts: nothing comes back.
        assert_ne!(echo(&stack, FRONT + 1).ok().as_deref(), Some("hello"));
        pair(&mut proxies, FRONT + 10, &another);
        assert_ne!(echo(&stack, FRONT + 10).ok().as_deref(), Some("hello"));
        assert!(ours.issue("ä").is_err());
    });
}

#[test]
fn an_envoy_in_a_folder_that_is_covered_runs() {
    with_envoy(|| {
        let folder = folder();
        let (there, here) =
            (tools::envoy().unwrap().path.canonicalize().unwrap(), folder.join("my envoy"));
        File::create(&here).unwrap();
        mount(Some(&there), &here, None::<&str>, MsFlags::MS_BIND, None::<&str>).unwrap();
        tools::use_envoy(&here).unwrap();
        let found = tools::envoy().unwrap();
        assert_eq!((found.path.as_path(), found.source), (here.as_path(), "--envoy"));
        let stack = stack("a");
        let mut proxies = proxies();
        proxies.start(vec![task("p", &stack, proxy(FRONT, ECHO))]).unwrap();
        assert_eq!(echo(&stack, FRONT).unwrap(), "hello");
        let command = fs::read(format!("/proc/{}/cmdline", proxies.pid("p").unwrap())).unwrap();
        assert!(command.starts_with(here.as_os_str().as_encoded_bytes()));
        proxies.stop();
        umount(&here).unwrap();
        fs::remove_dir_all(folder).unwrap();
    });
}

#[test]
fn an_envoy_that_is_too_old_or_not_there_is_told_with_a_remedy() {
    with_envoy(|| {
        let folder = folder();
        let old = folder.join("envoy");
        program(
            &old,
            "#!/bin/sh\necho\necho \"$0  version: 0123/1.30.9/Clean/RELEASE/BoringSSL\"\n",
        );
        let there = tools::envoy().unwrap().path;
        // In this mount namespace only.
        let cover = |with: &Path| {
            mount(Some(with), &there, None::<&str>, MsFlags::MS_BIND, None::<&str>).unwrap();
        };
        cover(&old);
        let (why, remedy) = missing().unwrap();
        assert_eq!(why, format!("{} is version 1.30.9; expected 1.39.0 or newer", there.display()));
        assert!(remedy.contains("install-envoy.sh") && remedy.contains("--envoy"), "{remedy}");
        program(&old, "#!/bin/sh\necho nginx version: nginx/1.22.1\n");
        assert!(missing().unwrap().0.ends_with(
            "expected the version of an Envoy, it printed `nginx version: nginx/1.22.1`"
        ));
        umount(&there).unwrap();
        while let Some(envoy) = tools::find("envoy").or_else(|| tools::cached("envoy")) {
            mount(Some("/dev/null"), &envoy, None::<&str>, MsFlags::MS_BIND, None::<&str>).unwrap();
        }
        assert_eq!(missing().unwrap().0, "no program `envoy` in PATH or the cache folder");
        let stack = Stack::create("a", &[IpFamily::Ipv4]).unwrap();
        let fault = proxies().start(vec![task("p", &stack, proxy(FRONT, ECHO))]).unwrap_err();
        assert_eq!(fault.text, "cannot start p: no program `envoy` in PATH or the cache folder");
        assert_eq!(fault.kind, FaultKind::Environment);
        fs::remove_dir_all(folder).unwrap();
    });
}

#[test]
fn whoever_started_them_is_killed_and_nothing_is_left() {
    /// Set for the process that is to be killed.
    const HOLDER: &str = "HOPBENCH_LAB_TEST_HOLDER";
    if std::env::var_os(HOLDER).is_some() {
        let stack = stack("a");
        let mut proxies = proxies();
        proxies.start(vec![task("p", &stack, proxy(FRONT, ECHO))]).unwrap();
        let _ = writeln!(std::io::stderr(), "\npid {}", proxies.pid("p").unwrap());
        clock::sleep_until(clock::now() + PATIENCE_NS);
        return;
    }
    with_envoy(|| {
        let mut holder = Command::new("/proc/self/exe")
            .args(["--exact", &inside::this_test(), "--nocapture"])
            .env(HOLDER, "1")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(holder.stderr.take().unwrap()).lines().map_while(Result::ok);
        let pid: u32 = lines.find_map(|line| line.strip_prefix("pid ")?.parse().ok()).unwrap();
        // Not its child: init took it over otherwise, and it would live on.
        let process = ProcessId::now(pid).unwrap();
        holder.kill().unwrap();
        holder.wait().unwrap();
        until("Envoy is left", || !process.is_alive());
    });
}

/// A folder for this test; every sandbox begins with the same process numbers, but has a network
/// namespace of its own.
fn folder() -> PathBuf {
    let own = crate::network::namespace::Namespace::current("own").unwrap();
    let folder = std::env::temp_dir().join(format!("hopbench-proxies-{}", own.inode()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn program(file: &Path, text: &str) {
    fs::write(file, text).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}
