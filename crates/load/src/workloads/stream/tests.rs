use std::sync::Arc;

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
    let receiver = Receiver { size: 1, fills_packets: false, discard: false, waits: false };
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
        size: 1 << 20,
        fills_packets: false,
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
fn a_sender_writes_whole_packets_where_little_is_left() {
    let fit = |size: usize, fills_packets: bool, packet: usize| {
        let (bits_per_s, stays) = (None, false);
        let sender = Sender { size, bits_per_s, fills_packets, left: 0, sent: 0, began: 0, stays };
        StreamFlow::Sender(sender).fit_packets(packet)
    };
    for (size, packet, expected) in [
        (131_072, 65_160, Some(130_320)),
        (131_072, 62_636, Some(125_272)),
        (130_320, 65_160, Some(130_320)),
        (65_536, 65_160, Some(65_160)),
        (1 << 20, 65_160, Some(16 * 65_160)),
        (100_000, 65_160, None),
        (65_159, 65_160, None),
        (1, 65_160, None),
    ] {
        assert_eq!(fit(size, true, packet), expected, "{size} bytes, packets of {packet}");
        assert_eq!(fit(size, false, packet), None);
    }
}
