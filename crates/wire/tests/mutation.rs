//! Valid input, mutated thousands of times: nothing panics, nothing forged passes.
//!
//! The corpus and the generator are fixed, so a failure can be repeated.

use std::net::{IpAddr, SocketAddr};

use hopbench_model::Fault;
use hopbench_wire::udp::{CookieJar, NO_COOKIE, RegistrationReply, ServerReply, answer, register};
use hopbench_wire::{
    Direction, First, FlowHeader, FlowKey, FlowKind, FrameError, FrameReader, FromAgent, Hello,
    MOST_FIRST_BYTES, PROTOCOL, ToAgent, WorkloadCode, classify, encode,
};
use serde::de::DeserializeOwned;

const ROUNDS: u32 = 20_000;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % sides.max(1) as u64) as usize
    }

    /// One to four changes of bits, bytes, length or order.
    fn mutate(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.roll(4) {
            let at = self.roll(bytes.len());
            match self.roll(6) {
                0 if !bytes.is_empty() => bytes[at] ^= 1 << self.roll(8),
                1 if !bytes.is_empty() => bytes[at] = self.roll(256) as u8,
                2 => bytes.truncate(at),
                3 => bytes.insert(at, self.roll(256) as u8),
                4 if !bytes.is_empty() => {
                    let other = self.roll(bytes.len());
                    bytes.swap(at, other);
                }
                _ => {
                    let copy: Vec<u8> = bytes[at..].to_vec();
                    let length = self.roll(copy.len().min(64));
                    bytes.extend_from_slice(&copy[..length]);
                }
            }
        }
    }
}

fn headers() -> Vec<FlowHeader> {
    [1, 2, 5, 255]
        .map(|code| FlowHeader {
            workload: WorkloadCode::from_code(code).expect("not 0"),
            direction: Direction::ToServer,
            kind: FlowKind::Udp,
            run: 7,
            flow: u32::from(code),
        })
        .into()
}

#[test]
fn frames() {
    let hello = Hello {
        protocol: PROTOCOL,
        version: "0.1.0".into(),
        commit: "0123456789ab".into(),
        boot_id: "b".into(),
        machine: [("kernel".to_owned(), "6.1".to_owned())].into(),
    };
    let mut stream = Vec::new();
    for message in [ToAgent::Hello(hello), ToAgent::Ping, ToAgent::Start { window_start_ns: 5 }] {
        stream.extend(encode(&message).unwrap());
    }
    stream.extend(encode(&FromAgent::Done(Box::default())).unwrap());
    stream.extend(
        encode(&FromAgent::Failed { fault: Fault::measuring("cut"), report: None }).unwrap(),
    );

    let mut dice = Dice(1);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..ROUNDS {
        let mut bytes = stream.clone();
        dice.mutate(&mut bytes);
        let mut reader = FrameReader::new();
        let mut taken = 0;
        let mut failure = None;
        for chunk in bytes.chunks(1 + dice.roll(300)) {
            reader.push(chunk);
            // The first three messages are the conductor's.
            while let Some(more) = match taken {
                0..3 => next::<ToAgent>(&mut reader, &mut failure),
                _ => next::<FromAgent>(&mut reader, &mut failure),
            } {
                taken += more;
            }
        }
        read += taken;
        refused += u32::from(failure.is_some());
    }
    assert!(read > 1000 && refused > 1000, "the mutations say nothing: {read} {refused}");
}

/// Takes a message; `None` at the end of what can be taken. A failure must stay the same.
fn next<T: DeserializeOwned>(
    reader: &mut FrameReader,
    failure: &mut Option<FrameError>,
) -> Option<u32> {
    match reader.next::<T>() {
        Ok(message) => {
            assert_eq!(*failure, None, "a failed reader went on");
            message.map(|_| 1)
        }
        Err(error) => {
            assert_eq!(*failure.get_or_insert(error.clone()), error);
            None
        }
    }
}

#[test]
fn flow_headers() {
    let key = FlowKey::new([5; 32]);
    let mut dice = Dice(2);
    let mut parsed = 0u32;
    for round in 0..ROUNDS {
        let good = headers()[round as usize % headers().len()].encode(&key);
        let mut bytes = good.to_vec();
        dice.mutate(&mut bytes);
        bytes.resize(32, 0);
        let bytes: [u8; 32] = bytes.try_into().unwrap();
        if let Ok((header, token)) = FlowHeader::parse(&bytes) {
            parsed += 1;
            assert_eq!(key.verify(&header, &token), bytes == good, "{bytes:?}");
        }
    }
    assert!(parsed > 1000, "the mutations say nothing: {parsed}");
}

#[test]
fn registrations_and_answers() {
    let (key, jar) = (FlowKey::new([5; 32]), CookieJar::new([6; 32]));
    let peer: SocketAddr = "[2001:db8::1]:9".parse().unwrap();
    let local: IpAddr = "2001:db8::2".parse().unwrap();
    let hear = |datagram: &[u8]| {
        let verdict = answer(datagram, peer, local, |run| (run == 7).then_some(&key), &jar);
        let answered = match &verdict {
            RegistrationReply::Ignore => 0,
            RegistrationReply::Challenge(bytes) => bytes.len(),
            RegistrationReply::Accept(_, bytes) => bytes.len(),
        };
        assert!(answered < datagram.len().max(1), "{answered} bytes for {}", datagram.len());
        verdict
    };
    let mut dice = Dice(3);
    let (mut ignored, mut challenged) = (0u32, 0u32);
    for round in 0..ROUNDS {
        let header = headers()[round as usize % headers().len()];
        let good = register(&header, &key, &jar.cookie(peer, local, &header));
        let mut bytes = good.to_vec();
        dice.mutate(&mut bytes);
        let authentic = bytes.len() == 64 && bytes[..32] == good[..32] && bytes[48..] == [0; 16];
        match hear(&bytes) {
            RegistrationReply::Ignore => {
                assert!(!authentic, "{bytes:?}");
                ignored += 1;
            }
            RegistrationReply::Challenge(challenge) => {
                assert!(authentic && bytes != good, "{bytes:?}");
                challenged += 1;
                let mut challenge = challenge.to_vec();
                dice.mutate(&mut challenge);
                if let Some(read) = ServerReply::parse(&challenge) {
                    let length =
                        if matches!(read, ServerReply::Challenge { .. }) { 28 } else { 12 };
                    assert_eq!(challenge.len(), length);
                }
            }
            RegistrationReply::Accept(accepted, _) => {
                assert_eq!((accepted, &bytes[..]), (header, &good[..]));
            }
        }
    }
    assert!(
        ignored > 1000 && challenged > 300,
        "the mutations say nothing: {ignored} {challenged}"
    );
    assert!(matches!(
        hear(&register(&headers()[0], &key, &NO_COOKIE)),
        RegistrationReply::Challenge(_)
    ));
}

#[test]
fn first_bytes() {
    let starts: [&[u8]; 4] = [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"HOPB\x01\x01\0\0",
        b"HEAD / HTTP/1.1\r\n",
        b"OPTIONS * HTTP/1.1\r\n",
    ];
    let mut dice = Dice(4);
    for round in 0..ROUNDS {
        let mut bytes = starts[round as usize % starts.len()].to_vec();
        dice.mutate(&mut bytes);
        let whole = classify(&bytes);
        assert!(bytes.len() < MOST_FIRST_BYTES || whole != First::NeedMore, "{bytes:?}");
        let first = (0..=bytes.len())
            .map(|n| classify(&bytes[..n]))
            .find(|verdict| *verdict != First::NeedMore);
        assert_eq!(first.unwrap_or(First::NeedMore), whole, "{bytes:?}");
    }
}
