use std::sync::Arc;

use super::*;
use crate::Window;
use crate::measure::recorder::Live;

/// With a read of one byte each, what a slow receiver has left would not be read in time.
#[test]
fn what_is_left_when_load_has_ended_is_read_in_bulk() {
    let window = Arc::new(Window::default());
    window.open(SECOND, SECOND, 2 * SECOND);
    let mut out = Recorder::new(window, Arc::new(Live::default()), false);
    let receiver = Receiver { size: 1, discard: false, waits: false };
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
    let all = StreamFlow::Receiver(Receiver { size: 1 << 20, discard: false, waits: false });
    let mut flow = all;
    assert!(
        matches!(flow.on(Event::Received(b"x"), 3 * SECOND, &mut out), Op::Recv(n) if n == 1 << 20)
    );
}
