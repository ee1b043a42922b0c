use std::sync::Arc;

use clap::FromArgMatches;
use hopbench_model::SECOND;

use super::flow::RUN_OUT;
use super::*;
use crate::Window;
use crate::flow::{Event, Flow, Op};
use crate::measure::recorder::{Live, Recorder};

/// With a read of one byte each, what a slow receiver has left would not be read in time.
#[test]
fn what_is_left_when_load_has_ended_is_read_in_bulk() {
    let window = Arc::new(Window::default());
    window.open(SECOND, SECOND, 2 * SECOND);
    let mut out = Recorder::new(window, Arc::new(Live::default()), false);
    let receiver = Receiver { piece: Piece::new(1, false), discard: false, waits: false };
    let mut flow = StreamFlow::Receiver(receiver);
    assert!(matches!(flow.start(SECOND), Op::Recv(1)));
    for (at, expected) in [
        (SECOND, 1),
        (2 * SECOND, 1),
        (2 * SECOND + RUN_OUT, RUN_OUT_BYTES),
        (3 * SECOND, RUN_OUT_BYTES),
    ] {
        let op = flow.on(Event::Received(b"x"), at, &mut out);
        assert!(matches!(op, Op::Recv(most) if most == expected), "{op:?} at {at}");
    }
    let all = StreamFlow::Receiver(Receiver {
        piece: Piece::new(1 << 20, false),
        discard: false,
        waits: false,
    });
    let mut flow = all;
    assert!(
        matches!(flow.on(Event::Received(b"x"), 3 * SECOND, &mut out), Op::Recv(n) if n == 1 << 20)
    );
}

/// A segment of 1448 B gives packets of 65 160 B, one of 8948 B such of 62 636 B.
#[test]
fn both_ends_move_whole_packets_where_little_is_left() {
    let window = Arc::new(Window::default());
    window.open(SECOND, SECOND, 2 * SECOND);
    let mut out = Recorder::new(window, Arc::new(Live::default()), false);
    for (size, packet_bytes, expected) in [
        (131_072, 65_160, Some(130_320)),
        (131_072, 62_636, Some(125_272)),
        (130_320, 65_160, Some(130_320)),
        (65_536, 65_160, Some(65_160)),
        (1 << 20, 65_160, Some(16 * 65_160)),
        // No send has more than 1 MiB.
        (4 << 20, 65_160, Some(16 * 65_160)),
        (100_000, 65_160, None),
        (65_159, 65_160, None),
        (1, 65_160, None),
    ] {
        for fills_packets in [true, false] {
            let expected = expected.filter(|_| fills_packets);
            let piece = Piece::new(size, fills_packets);
            let mut sender = StreamFlow::Sender(Sender {
                piece,
                bits_per_s: None,
                left: 0,
                sent: 0,
                began: 0,
                stays: false,
            });
            let mut receiver =
                StreamFlow::Receiver(Receiver { piece, discard: false, waits: false });
            for flow in [&mut sender, &mut receiver] {
                // A larger segment before must leave no trace.
                flow.fit_packets(62_636);
                assert_eq!(flow.fit_packets(packet_bytes), expected.is_some());
                let bytes = expected.unwrap_or(size);
                assert_eq!(flow.bulk_bytes(), fills_packets.then_some(bytes));
                let op = flow.on(Event::Go { intended: SECOND }, SECOND, &mut out);
                assert!(matches!(op, Op::SendFill(n) | Op::Recv(n) if n == bytes), "{op:?}");
            }
        }
    }
}

/// A receiver that waited for more than a write would read a part of the next one with each.
#[test]
fn a_receiver_never_waits_for_more_than_a_write() {
    for packet_bytes in [65_160, 62_636, 65_483, 33_000] {
        for size in (1..400).map(|n| n * 997) {
            let flags = ["--size", &size.to_string()].map(str::to_owned);
            let command = Params::augment_args(clap::Command::new("test").no_binary_name(true));
            let params = Params::from_arg_matches(&command.get_matches_from(flags)).unwrap();
            let job = hopbench_model::fixture::job("stream", serde_json::json!({}));
            let mut piece = Piece::new(size, params.fills_packets());
            piece.fit(packet_bytes);
            let mark = params.receive_low_water(&job).unwrap_or(1);
            assert!(mark <= piece.bytes, "{mark} of {size}, packets of {packet_bytes}");
            // Nor does it wake up before most of it is there.
            assert!(mark >= piece.bytes.min(128 << 10) / 8 * 7 - 1, "{mark} of {size}");
        }
    }
}
