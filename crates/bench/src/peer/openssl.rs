//! openssl: the rate of a cipher alone.

use anyhow::{Context, Result};

use crate::bench::{Bench, Figures, INSTALLED, Peer, Version, split};
use crate::lab::End;

/// How openssl is found.
pub(crate) const PEER: Peer =
    Peer { name: "openssl", version: Version::Printed("version", "OpenSSL "), source: INSTALLED };

/// The cipher by the name that openssl has for it, and `--tls-cipher` of ours.
pub(crate) const CIPHER: &str = "aes-128-gcm";
/// The figure of [`encrypt`].
pub(crate) const RATE: &str = "sent_bits_per_core_s";

/// Bytes that are encrypted at once: what a record of TLS holds at most.
const BLOCK_BYTES: u32 = 16384;

/// Encrypts on the client's CPU, and does nothing else.
///
/// Figures: [`RATE`], the bits of a second of a core.
///
/// # Errors
/// When it fails or prints something else.
pub(crate) fn encrypt(bench: &Bench) -> Result<Figures> {
    let seconds = bench.seconds();
    let words = format!("speed -evp {CIPHER} -bytes {BLOCK_BYTES} -seconds {seconds}");
    let finished = bench.run(&bench.peer(&PEER, End::Client, &split(&words))?)?;
    Ok(Figures::from([(RATE, 8.0 * parse(&finished.stdout)?)]))
}

/// Bytes a second: the last line has them in thousands, behind the name of the cipher.
fn parse(text: &str) -> Result<f64> {
    let names_cipher = |line: &&str| line.to_ascii_lowercase().starts_with(CIPHER);
    let line =
        text.lines().rev().find(names_cipher).context("openssl printed no line of its cipher")?;
    let thousands = line.split_whitespace().nth(1).and_then(|word| word.strip_suffix('k'));
    let thousands: f64 = thousands
        .and_then(|number| number.parse().ok())
        .with_context(|| format!("openssl printed no bytes a second: {line}"))?;
    Ok(1000.0 * thousands)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "version: 3.0.19\n\
                           built on: Fri Apr  3 12:29:32 2026 UTC\n\
                           options: bn(64,64)\n\
                           The 'numbers' are in 1000s of bytes per second processed.\n\
                           type          16384 bytes\n\
                           AES-128-GCM    1853030.40k\n";

    #[test]
    fn bytes_a_second() {
        assert_eq!(parse(PRINTED).unwrap().round(), 1_853_030_400.0);
        let small = PRINTED.replace("AES-128-GCM", "aes-128-gcm");
        assert_eq!(parse(&small).unwrap().round(), 1_853_030_400.0);
    }

    #[test]
    fn another_text_is_not_a_result() {
        assert!(parse("type          16384 bytes\n").is_err());
        let error = parse(&PRINTED.replace("1853030.40k", "error")).unwrap_err().to_string();
        assert!(error.contains("AES-128-GCM    error"), "{error}");
    }
}
