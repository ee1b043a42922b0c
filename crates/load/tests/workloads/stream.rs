//! The writes of `stream`: whole packets of the kernel, or what was asked for.

use hopbench_model::{Counter, EngineKind};

use crate::rig::{self, job, run, total};

/// What the sending end says it wrote at once, and what its writes had on average. A write that was
/// begun is finished, so that is exact.
fn writes(flags: &[&str], engine: EngineKind) -> (Option<u64>, u64) {
    let outcome = run(&job("stream", engine, rig::flags("stream", flags)));
    let is_reversed = flags.contains(&"from-server");
    let end = if is_reversed { &outcome.server } else { &outcome.client };
    let (bytes, writes) = (total(end, Counter::SentBytes), total(end, Counter::Completed));
    assert!(writes > 0 && bytes.is_multiple_of(writes), "{engine}: {bytes} bytes, {writes} writes");
    (end.settings.get("write_bytes").map(|said| said.parse().unwrap()), bytes / writes)
}

#[test]
fn a_write_is_whole_packets_where_little_is_left() {
    for engine in EngineKind::ALL {
        for direction in ["to-server", "from-server"] {
            let of = |more: &[&str]| writes(&[&["--direction", direction], more].concat(), *engine);
            let (said, wrote) = of(&[]);
            // Two segments of the loopback's MTU.
            assert_eq!(said, Some(wrote), "{engine} {direction}");
            assert!((130_000..=131_072).contains(&wrote), "{engine} {direction}: {wrote}");
            let (_, half) = of(&["--size", "64KiB"]);
            assert_eq!(2 * half, wrote, "{engine} {direction}");
        }
    }
}

/// Each packet holds four records. Each of them has 22 bytes beside its content, in TLS 1.2 up to
/// 29.
#[test]
fn encrypted_writes_leave_room_for_what_records_add() {
    for direction in ["to-server", "from-server"] {
        let (_, plain) = writes(&["--direction", direction], EngineKind::Epoll);
        for (version, beyond) in [("1.3", 22), ("1.2", 29)] {
            let flags = ["--direction", direction, "--tls", "--tls-version", version];
            for engine in EngineKind::ALL {
                let (said, wrote) = writes(&flags, *engine);
                assert_eq!(said, Some(wrote), "{engine} {flags:?}");
                assert_eq!(wrote + 2 * 4 * beyond, plain, "{engine} {flags:?}");
            }
        }
    }
}

#[test]
fn a_write_is_exact_where_asked_or_where_much_would_be_left() {
    for (flags, said, bytes) in [
        (&["--write", "exact"][..], None, 131_072),
        (&["--tls", "--write", "exact"], None, 131_072),
        (&["--size", "100kB"], Some(100_000), 100_000),
        (&["--size", "1000"], Some(1000), 1000),
    ] {
        assert_eq!(writes(flags, EngineKind::Epoll), (said, bytes), "{flags:?}");
    }
}
