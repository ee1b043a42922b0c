//! The binary as an agent of a testbed: its session is its standard input.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::{Child, Command, Stdio};

use hopbench_agent::hello;
use hopbench_control::Channel;
use hopbench_sys::clock;
use hopbench_wire::{FromAgent, ToAgent};

use crate::lab::process::signal;
use crate::lab::program;
use crate::lab::wait::{MS, S, pause, until};

/// An agent that is running, with the conductor's end of its session; killed when dropped.
struct Started {
    child: Child,
    channel: Channel,
}

fn command(listen: &str, fd: i32, stdin: Stdio) -> Command {
    let mut command = program(&["agent", "--listen", listen, "--control-fd", &fd.to_string()]);
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn stdin(socket: impl Into<OwnedFd>) -> Stdio {
    Stdio::from(socket.into())
}

/// An address that is free, and most likely still is when somebody takes it.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port")
}

impl Started {
    fn new(listen: &str) -> Self {
        let (ours, theirs) = UnixStream::pair().expect("a socket pair");
        let child = command(listen, 0, stdin(theirs)).spawn().expect("an agent");
        let mut channel = Channel::pair(ours).expect("a channel");
        channel.send(&ToAgent::Hello(hello())).expect("a hello that is sent");
        let answer = channel.receive_until(clock::now() + 10 * S).expect("a session");
        let Some(FromAgent::Hello(theirs)) = answer else { panic!("no hello: {answer:?}") };
        assert_eq!(theirs.machine["pid"], child.id().to_string());
        Self { child, channel }
    }

    /// The exit code, once the session is over for this reason; the agent ends within a second.
    fn code(mut self, end: impl FnOnce(Channel)) -> Option<i32> {
        let Self { child, channel } = &mut self;
        let (ours, _) = UnixStream::pair().expect("a socket pair");
        end(std::mem::replace(channel, Channel::pair(ours).expect("a channel")));
        let ended = until(S, || child.try_wait().expect("the state of a child"));
        ended.expect("it goes on").code()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_goodbye_is_a_success_and_a_dead_conductor_a_failure() {
    let listen = free_address();
    let mut agent = Started::new(&listen.to_string());
    assert!(TcpStream::connect(listen).is_ok(), "the port is open");
    agent.channel.send(&ToAgent::Clock).expect("a question");
    assert_eq!(agent.code(|mut channel| channel.send(&ToAgent::Bye).expect("a goodbye")), Some(0));
    assert!(TcpStream::connect(listen).is_err(), "the port is closed");
    assert_eq!(Started::new(&listen.to_string()).code(drop), Some(4));
}

#[test]
fn an_interrupt_is_the_conductors_to_deal_with() {
    let mut agent = Started::new(&free_address().to_string());
    signal(agent.child.id(), "INT");
    pause(100 * MS);
    assert!(matches!(agent.child.try_wait(), Ok(None)), "it ended");
    agent.channel.send(&ToAgent::Clock).expect("a question");
    let answer = agent.channel.receive_until(clock::now() + 5 * S).expect("a session");
    assert!(matches!(answer, Some(FromAgent::Clock { .. })), "{answer:?}");
    assert_eq!(agent.code(|mut channel| channel.send(&ToAgent::Bye).expect("a goodbye")), Some(0));
}

#[test]
fn both_families_are_served_on_the_wildcard_of_ipv6() {
    let port = free_address().port();
    let agent = Started::new(&format!("[::]:{port}"));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok());
    assert!(
        TcpStream::connect(("::1", port)).is_ok()
            || !std::path::Path::new("/proc/net/if_inet6").exists()
    );
    assert_eq!(agent.code(drop), Some(4));
}

#[test]
fn what_is_no_session_is_refused() {
    let (datagrams, _other) = UnixDatagram::pair().expect("a socket pair");
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let file = || std::fs::File::open("/dev/null").expect("a file");
    let listen = free_address().to_string();
    for (what, fd, stdin) in [
        ("no such file", 77, stdin(file())),
        ("no number of a file", -1, stdin(file())),
        ("a file", 0, stdin(file())),
        ("a datagram socket", 0, stdin(datagrams)),
        ("a TCP socket", 0, stdin(tcp)),
    ] {
        let mut command = command(&listen, fd, stdin);
        if fd < 0 {
            command = program(&["agent", "--listen", &listen, &format!("--control-fd={fd}")]);
        }
        let done = command.output().expect("an agent that ends");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{what}: {said}");
        for part in ["hopbench: --control-fd", &fd.to_string(), "Unix stream socket"] {
            assert!(said.contains(part), "{what}: nothing about `{part}`: {said}");
        }
    }
}

#[test]
fn a_port_in_use_is_the_environments_fault() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let listen = taken.local_addr().expect("its address");
    let (ours, theirs) = UnixStream::pair().expect("a socket pair");
    let agent = command(&listen.to_string(), 0, stdin(theirs)).spawn().expect("an agent");
    // A conductor that is not interested in why.
    drop(ours);
    let done = agent.wait_with_output().expect("an agent that ends");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(3), "{said}");
    for part in ["--listen", "in use", &listen.port().to_string()] {
        assert!(said.contains(part), "nothing about `{part}`: {said}");
    }
}
