//! HTTP/2 of any server: the same answers and the same end however reads cut the bytes.
#![no_main]

use std::sync::Arc;

use hopbench_fuzz::Pieces;
use hopbench_load::http::h2::{Connection, ConnectionError, ConnectionPlan};
use libfuzzer_sys::fuzz_target;

/// What was heard, in its order, and why the connection cannot go on.
type Heard = (Vec<String>, Option<ConnectionError>);

fn listen<'a>(mut pieces: impl Iterator<Item = &'a [u8]>, is_call: bool) -> Heard {
    let fields = [(":method", "POST"), (":scheme", "http"), (":path", "/"), (":authority", "h")];
    let plan = ConnectionPlan {
        turns: if is_call { 3 } else { 1 },
        fields: fields.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        body: vec![b'b'; 70_000].into(),
        is_head: false,
        is_call,
        streams: 3,
        window_bytes: 100_000,
        is_compressed: true,
        credential: None,
    };
    let mut connection = Connection::new(Arc::new(plan));
    (0..3).for_each(|number| connection.ask(number));
    let end = pieces.find_map(|piece| connection.receive(piece).err());
    let mut heard = Vec::new();
    while let Some(one) = connection.heard() {
        heard.push(format!("{one:?}"));
    }
    assert!(heard.len() <= 3 && connection.under_way() + heard.len() == 3, "{heard:?}");
    for _ in 0..100 {
        let bytes = connection.outgoing().len();
        connection.sent(bytes);
    }
    (heard, end)
}

fuzz_target!(|input: &[u8]| {
    for is_call in [false, true] {
        let whole = listen(input.get(1..).into_iter(), is_call);
        assert_eq!(whole, listen(Pieces::of(input), is_call));
    }
});
