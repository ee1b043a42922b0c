//! A TCP stream over TLS against its cipher alone.

use anyhow::{Result, ensure};

use crate::bench::{Bench, Figures, ours};
use crate::peer::openssl;
use crate::row::Row;
use crate::row::goal::{Goal, Reach};

const RECEIVED: &str = "received_bits_per_s";
const CORES: &str = "sender_cores";
const GOALS: &[Goal] = &[
    Goal::ratio(openssl::RATE, "sent a core", "Gbit/s", 1e-9, Reach::AtLeast(0.9)),
    Goal::value(RECEIVED, "received", "Gbit/s", 1e-9, Reach::Shown),
    Goal::value(CORES, "sender's CPU", "cores", 1.0, Reach::Shown),
];

/// One connection, 128 KiB at a time.
pub(super) fn row() -> Row {
    Row {
        name: "stream-tls".to_owned(),
        what: "stream over TLS, AES-128-GCM, 1 connection, 128 KiB".to_owned(),
        against: "openssl speed",
        needs: vec![&openssl::PEER],
        goals: GOALS,
        note: "openssl encrypts blocks of 16 KiB with AES-128-GCM on the client's CPU, and sends \
               nothing. Its rate is by its user time. hopbench has another implementation of the \
               cipher (ring). So the ratio is the share of the cipher's rate that is left with TLS \
               1.3, system calls and TCP around it. Ours is the bytes that the server's interface \
               counted, divided by the CPU of the client's whole process, read from outside: \
               start, handshake and warm-up included. The bytes include the headers of TLS and \
               TCP. The sender's CPU includes what the kernel does in its calls, on veths also \
               for the receiver."
            .to_owned(),
        ours: Box::new(ours),
        theirs: Some(Box::new(openssl::encrypt)),
    }
}

fn ours(bench: &Bench) -> Result<Figures> {
    let words = format!(
        "-c 1 --threads 1 --size 128KiB --direction to-server --tls --tls-version 1.3 \
         --tls-cipher {}",
        openssl::CIPHER
    );
    let run = ours::against_agent(bench, "stream", &words)?;
    let agreed = run.record.settings.get("tls").map_or("nothing", String::as_str);
    ensure!(
        agreed.starts_with("TLSv1_3 ") && agreed.contains("AES_128_GCM"),
        "both ends agreed on {agreed}, expected TLS 1.3 with AES-128-GCM"
    );
    let (cpu, received) = (run.cpu_per_byte(), run.metric(RECEIVED)?);
    let s_per_bit = cpu["sender_cpu_s_per_byte"] / 8.0;
    Ok(Figures::from([
        (openssl::RATE, 1.0 / s_per_bit),
        (RECEIVED, received),
        (CORES, s_per_bit * received),
    ]))
}
