//! The sandbox from outside: what its program sees, how it ends, and that nothing of it stays.
//!
//! Not the usual test harness, whose threads would take signals: this program is the runner of the
//! tests, and with a role in its environment it is the program that goes inside.

#[path = "../common/inside.rs"]
mod inside;
mod killed;
mod program;
mod role;
mod tree;

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use program::{Started, User, users};

type Test = fn(&User);

const TESTS: &[(&str, Test)] = &[
    ("exit_codes_come_through", exit_codes_come_through),
    ("what_the_program_had_it_keeps", what_the_program_had_it_keeps),
    ("inside_is_a_world_of_its_own", inside_is_a_world_of_its_own),
    ("signals_come_through", signals_come_through),
    ("signals_of_a_terminal_reach_the_program_once", signals_of_a_terminal_reach_the_program_once),
    ("orphans_do_not_stay", orphans_do_not_stay),
    ("sandboxes_nest", sandboxes_nest),
    ("what_forbids_it_is_named", what_forbids_it_is_named),
    ("what_is_masked_stays_masked", what_is_masked_stays_masked),
    ("killed_at_any_moment_nothing_stays", killed::at_any_moment),
];

fn main() -> ExitCode {
    if let Some(code) = role::play() {
        return code;
    }
    with_default_signals();
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let mut out = std::io::stdout();
    for (name, test) in TESTS {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part)) {
            continue;
        }
        if let Some(why) = inside::impossible() {
            inside::skip(name, &why);
            continue;
        }
        for user in users() {
            // A test that fails panics, and with it this program.
            test(&user);
            let _ = writeln!(out, "test {name} (as {user}) ... ok");
        }
    }
    ExitCode::SUCCESS
}

/// Starts this program again where it was started with signals ignored, as shells do it with what
/// they start in the background: a script cannot trap a signal that was ignored when it began.
fn with_default_signals() {
    const ONCE: &str = "HOPBENCH_TEST_DEFAULT_SIGNALS";
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("SigIgn");
    // HUP, INT and QUIT are the signals 1 to 3.
    if u64::from_str_radix(ignored.trim(), 16).expect("a number") & 0b111 == 0 {
        return;
    }
    assert!(
        std::env::var_os(ONCE).is_none(),
        "`env --default-signal` left HUP, INT or QUIT ignored: {ignored}"
    );
    let mut again = Command::new("env");
    again.arg("--default-signal=HUP,INT,QUIT").arg(std::env::current_exe().expect("this program"));
    let error = again.args(std::env::args_os().skip(1)).env(ONCE, "1").exec();
    panic!("env (coreutils 8.31 or newer) cannot be executed: {error}");
}

fn exit_codes_come_through(user: &User) {
    for (script, code) in [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 255", 255),
        ("kill -KILL $$", 128 + 9),
        ("kill -TERM $$", 128 + 15),
    ] {
        let done = Started::script(user, script).finish();
        assert_eq!(done.code, Some(code), "{script}: {}", done.err);
    }
}

fn what_the_program_had_it_keeps(user: &User) {
    let mut started = Started::with(
        user,
        "read line; echo \"got $line\"; pwd; echo \"$GIVEN\"; echo trouble >&2",
        |c| {
            c.current_dir("/usr").env("GIVEN", "a b  c");
        },
    );
    started.say("words\n");
    let done = started.finish();
    assert_eq!(
        (done.code, done.out.as_str()),
        (Some(0), "got words\n/usr\na b  c\n"),
        "{}",
        done.err
    );
    assert_eq!(done.err, "trouble\n");
}

fn inside_is_a_world_of_its_own(user: &User) {
    let done = Started::script(
        user,
        "id -u; echo $$; cat /proc/1/comm; cat /proc/1/status | grep PPid; ls /sys/class/net; \
         ls -A /run | wc -l; cat /sys/class/net/lo/operstate; ip -o link show lo up | wc -l; \
         ip netns add x; mount -t tmpfs tmpfs /mnt; touch /mnt/here; ls /mnt; \
         for link in net mnt pid user; do readlink /proc/self/ns/$link; done",
    )
    .finish();
    assert_eq!(done.code, Some(0), "{}{}", done.out, done.err);
    let lines: Vec<&str> = done.out.lines().collect();
    let expected = ["0", "2", "init", "PPid:\t0", "lo", "0", "unknown", "1", "here"];
    assert_eq!(lines[..9], expected, "{}", done.out);
    let own = |name: &str| {
        std::fs::read_link(format!("/proc/self/ns/{name}"))
            .expect("a namespace")
            .to_string_lossy()
            .into_owned()
    };
    for (name, seen) in ["net", "mnt", "pid"].into_iter().zip(&lines[9..]) {
        assert_ne!(own(name), *seen);
    }
    assert_eq!(
        own("user") == lines[12],
        user.is_root_enough(),
        "a user namespace where, and only where, it is needed"
    );
    assert!(!std::path::Path::new("/mnt/here").exists(), "a mount came out");
}

fn signals_come_through(user: &User) {
    for (signal, number, code) in [("TERM", "TERM", 9), ("HUP", "HUP", 9)] {
        let script =
            format!("trap 'exit {code}' {number}; echo ready; while :; do sleep 0.02; done");
        let mut started = Started::script(user, &script);
        started.wait_for("ready");
        tree::signal(started.pid(), signal);
        assert_eq!(started.finish().code, Some(code), "{signal}");
    }
    // A program that does nothing about it dies of it, as it would outside.
    let mut started = Started::script(user, "echo ready; exec sleep 100");
    started.wait_for("ready");
    tree::signal(started.pid(), "TERM");
    assert_eq!(started.finish().code, Some(128 + 15));
}

fn signals_of_a_terminal_reach_the_program_once(user: &User) {
    let script = "n=0; trap 'n=$((n+1))' INT QUIT; echo ready; for i in 1 2 3 4 5 6 7 8 9 10; do \
                  sleep 0.05; done; exit $n";
    for signal in ["INT", "QUIT"] {
        // To the whole group, as a terminal does it.
        let mut started = Started::with(user, script, |command| {
            command.process_group(0);
        });
        started.wait_for("ready");
        tree::signal_group(started.pid(), signal);
        assert_eq!(started.finish().code, Some(1), "{signal}");
        // To the outer process alone: the program is not told.
        let mut started = Started::script(user, script);
        started.wait_for("ready");
        tree::signal(started.pid(), signal);
        assert_eq!(started.finish().code, Some(0), "{signal}");
    }
}

fn orphans_do_not_stay(user: &User) {
    // Orphans that end are waited for while the program runs; those that do not end go with it.
    let script = "for i in 1 2 3 4 5; do (sleep 0.1 &); done; sleep 0.6; grep -l '^State:.Z' \
                  /proc/[0-9]*/status | wc -l; (sleep 1000 &); (setsid sleep 1000 &); sleep 0.1; \
                  exit 3";
    let started = Started::script(user, script);
    let token = started.token().to_owned();
    let done = started.finish();
    assert_eq!((done.code, done.out.trim()), (Some(3), "0"), "{}", done.err);
    // The end of init waits for the end of the others: nothing is left already.
    assert_eq!(tree::with_token(&token), Vec::<u32>::new());
}

fn sandboxes_nest(user: &User) {
    let inner = "readlink /proc/self/ns/net; id -u; exit 4";
    let this = user.program.display();
    for way in ["", "unshare -n", "unshare -Urnm", "setsid -w"] {
        let script =
            format!("readlink /proc/self/ns/net; HOPBENCH_LAB_TEST_SCRIPT='{inner}' {way} {this}");
        let done = Started::script(user, &script).finish();
        assert_eq!(done.code, Some(4), "{way}: {}", done.err);
        let lines: Vec<&str> = done.out.lines().collect();
        assert!(lines.len() == 3 && lines[0] != lines[1] && lines[2] == "0", "{way}: {}", done.out);
    }
}

fn what_forbids_it_is_named(user: &User) {
    let this = user.program.display();
    // A program without rights in a user namespace that may have no more of them.
    let weak = "setpriv --bounding-set=-all --inh-caps=-all";
    for (setting, way, expected) in [
        ("max_user_namespaces", weak, "user.max_user_namespaces = 0 forbids user namespaces"),
        ("max_net_namespaces", "env", "user.max_net_namespaces"),
    ] {
        let script =
            format!("unshare -Ur sh -c 'echo 0 > /proc/sys/user/{setting}; exec {way} {this}'");
        let done = Started::outside(user, &script, "exit 0").finish();
        assert_eq!(done.code, Some(3), "{setting}: {}{}", done.out, done.err);
        assert!(
            done.err.starts_with("cannot make namespaces for the lab: No space left"),
            "{}",
            done.err
        );
        assert!(done.err.contains(expected) && done.err.contains("sudo hopbench"), "{}", done.err);
    }
    let script = format!("unshare -Ur {weak} {this}");
    let done = Started::outside(user, &script, "exit 0").finish();
    assert_eq!(done.code, Some(3), "{}{}", done.out, done.err);
    assert!(
        done.err.starts_with("cannot become root in the lab's user namespace: "),
        "{}",
        done.err
    );
    assert!(done.err.contains("CAP_SETFCAP"), "{}", done.err);
}

/// The kernel gives nobody a /proc or /sys that shows more than the one there is, as in a container
/// that masks parts.
fn what_is_masked_stays_masked(user: &User) {
    let this = user.program.display();
    // Root of a user namespace, with nothing but the right to make another one.
    let weak = format!("exec setpriv --bounding-set=-all,+setfcap --inh-caps=-all {this}");
    let masked = |folder: &str| {
        let script = format!("unshare -Urm sh -c 'mount -t tmpfs tmpfs {folder}; {weak}'");
        Started::outside(user, &script, "ls -A /sys/class/net | wc -l").finish()
    };
    // Better no devices than those of another namespace.
    let done = masked("/sys/kernel");
    assert_eq!((done.code, done.out.trim()), (Some(0), "0"), "{}", done.err);
    let done = masked("/proc/irq");
    assert_eq!(done.code, Some(3), "{}{}", done.out, done.err);
    assert!(
        done.err.starts_with("the lab cannot mount /proc in its own mount namespace: EPERM"),
        "{}",
        done.err
    );
    assert!(done.err.contains("systempaths=unconfined"), "{}", done.err);
}

/// Sleeps.
fn pause(ms: u64) {
    hopbench_sys::clock::sleep_until(hopbench_sys::clock::now() + ms * 1_000_000);
}
