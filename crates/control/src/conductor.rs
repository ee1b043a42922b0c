//! The conductor of a run: its key pair, and the permits that it signs.

use std::collections::BTreeSet;
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use hopbench_model::{Bounds, Permit, SignedPermit};

use crate::hex::{self, HexError};
use crate::keys::{KeyPair, PublicKey, SIGNATURE_BYTES};
use crate::secret::{SecretError, random_bytes};

/// What every signed permit begins with, so that no other signature of the key can pass for one.
/// Signatures of TLS 1.3 begin with 64 spaces (RFC 8446, section 4.4.3), those of certificates with
/// a DER sequence.
const DOMAIN: &[u8] = b"hopbench permit/1\0";

/// The conductor of one run. Its private key is in this process' memory and nowhere else.
#[derive(Debug)]
pub struct Conductor {
    run: u64,
    keys: KeyPair,
    /// What was signed last.
    last: Option<(Permit, SignedPermit)>,
}

/// A conductor as the agents of its run know it: the run's number and the public key. The text form
/// is `RUN:KEY`, 16 and 64 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunKey {
    run: u64,
    key: PublicKey,
}

/// Why something is not a permit of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PermitError {
    /// Somebody else signed it, or nobody.
    #[error("its signature is not that of the run's conductor")]
    Signature,
    /// It was signed for another run.
    #[error("it is for run {found:016x}, this agent is of run {expected:016x}")]
    Run {
        /// The run that it names.
        found: u64,
        /// The agent's.
        expected: u64,
    },
    /// What was signed is no permit.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
}

/// Why a text is not a [`RunKey`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunKeyError {
    /// It has no two parts.
    #[error("found no `:`, expected RUN:KEY, 16 and 64 hex digits")]
    Form,
    /// The first part is no number of a run.
    #[error("the part before `:` is not 16 hex digits")]
    Run,
    /// The second part is no public key.
    #[error("the part after `:` {0}")]
    Key(HexError),
}

impl Conductor {
    /// That of a new run.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn new() -> Result<Self, SecretError> {
        let [a, b, c, d, e, f, g, h, ..] = random_bytes()?;
        Ok(Self {
            run: u64::from_be_bytes([a, b, c, d, e, f, g, h]),
            keys: KeyPair::random()?,
            last: None,
        })
    }

    /// The keys that its sessions are opened with.
    pub fn keys(&self) -> &KeyPair {
        &self.keys
    }

    /// The key that its agents know it by.
    pub fn run_key(&self) -> RunKey {
        RunKey { run: self.run, key: self.keys.public() }
    }

    /// The permit for these targets and bounds. It has the number of the one before if it says the
    /// same, otherwise the next. So agents tell a later permit from an earlier one.
    pub fn permit(&mut self, targets: BTreeSet<SocketAddr>, bounds: Bounds) -> SignedPermit {
        let sequence = match &self.last {
            Some((last, signed)) if last.targets == targets && last.bounds == bounds => {
                return signed.clone();
            }
            Some((last, _)) => last.sequence + 1,
            None => 1,
        };
        let permit = Permit { run: self.run, sequence, targets, bounds };
        let text = permit.to_text();
        let signature = hex::write(&self.keys.sign(&signed(&text)));
        let signed = SignedPermit { text, signature };
        self.last = Some((permit, signed.clone()));
        signed
    }
}

impl RunKey {
    /// The conductor's public key.
    pub fn key(&self) -> PublicKey {
        self.key
    }

    /// Reads a permit of this run. The signature is checked before anything else is looked at.
    ///
    /// # Errors
    /// Another signature, another run, a text that is no permit.
    pub fn read(&self, permit: &SignedPermit) -> Result<Permit, PermitError> {
        let signature = signature(&permit.signature).ok_or(PermitError::Signature)?;
        if !self.key.verifies(&signed(&permit.text), &signature) {
            return Err(PermitError::Signature);
        }
        let read = Permit::from_text(&permit.text).map_err(PermitError::Unreadable)?;
        if read.run != self.run {
            return Err(PermitError::Run { found: read.run, expected: self.run });
        }
        Ok(read)
    }
}

/// The bytes that are signed for a text.
fn signed(text: &str) -> Vec<u8> {
    [DOMAIN, text.as_bytes()].concat()
}

fn signature(text: &str) -> Option<[u8; SIGNATURE_BYTES]> {
    let (one, other) = text.split_at_checked(SIGNATURE_BYTES)?;
    let mut out = [0; SIGNATURE_BYTES];
    for (half, text) in out.chunks_mut(SIGNATURE_BYTES / 2).zip([one, other]) {
        half.copy_from_slice(&*hex::read(text).ok()?);
    }
    Some(out)
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}:{}", self.run, self.key)
    }
}

impl FromStr for RunKey {
    type Err = RunKeyError;

    fn from_str(text: &str) -> Result<Self, RunKeyError> {
        let (run, key) = text.split_once(':').ok_or(RunKeyError::Form)?;
        let is_hex = run.len() == 16 && run.bytes().all(|c| c.is_ascii_hexdigit());
        let run = u64::from_str_radix(run, 16).ok().filter(|_| is_hex).ok_or(RunKeyError::Run)?;
        Ok(Self { run, key: key.parse().map_err(RunKeyError::Key)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(port: u16) -> BTreeSet<SocketAddr> {
        BTreeSet::from([SocketAddr::from(([10, 0, 0, 1], port))])
    }

    fn bounds(connections: u32) -> Bounds {
        Bounds { trial_ns: 1, connections, threads: 1 }
    }

    #[test]
    fn permits_are_read_by_whom_they_are_for() {
        let mut conductor = Conductor::new().unwrap();
        let known: RunKey = conductor.run_key().to_string().parse().unwrap();
        assert_eq!(known, conductor.run_key());
        let first = conductor.permit(targets(1), bounds(2));
        let read = known.read(&first).unwrap();
        assert_eq!((read.sequence, read.targets, read.bounds), (1, targets(1), bounds(2)));
        // The same again is the same; what differs is later.
        assert_eq!(conductor.permit(targets(1), bounds(2)), first);
        assert_eq!(known.read(&conductor.permit(targets(2), bounds(2))).unwrap().sequence, 2);
        assert_eq!(known.read(&conductor.permit(targets(2), bounds(3))).unwrap().sequence, 3);
    }

    #[test]
    fn what_others_signed_or_changed_is_no_permit() {
        let mut conductor = Conductor::new().unwrap();
        let known = conductor.run_key();
        let good = conductor.permit(targets(1), bounds(1));
        let foreign = Conductor::new().unwrap().permit(targets(1), bounds(1));
        let wider = SignedPermit { text: good.text.replace(":1\"", ":2\""), ..good.clone() };
        assert_ne!(wider.text, good.text);
        // Signed by the very key, but not as a permit.
        let bare = hex::write(&conductor.keys.sign(good.text.as_bytes()));
        for bad in [
            SignedPermit { signature: foreign.signature.clone(), ..good.clone() },
            SignedPermit { signature: String::new(), ..good.clone() },
            SignedPermit { signature: "é".repeat(64), ..good.clone() },
            SignedPermit { signature: bare, ..good.clone() },
            foreign,
            wider,
        ] {
            assert_eq!(known.read(&bad), Err(PermitError::Signature), "{bad:?}");
        }
        // The same key in another run.
        let mut other = Conductor { run: known.run ^ 1, keys: conductor.keys.clone(), last: None };
        let error = known.read(&other.permit(targets(1), bounds(1))).unwrap_err();
        assert_eq!(error, PermitError::Run { found: known.run ^ 1, expected: known.run });
        let text = "{}".to_owned();
        let signature = hex::write(&conductor.keys.sign(&signed(&text)));
        assert!(matches!(
            known.read(&SignedPermit { text, signature }),
            Err(PermitError::Unreadable(_))
        ));
    }

    #[test]
    fn what_is_no_run_key_is_told() {
        let key = "0".repeat(64);
        for (text, error) in [
            (key.clone(), RunKeyError::Form),
            (format!("+000000000000001:{key}"), RunKeyError::Run),
            (format!("1:{key}"), RunKeyError::Run),
            (format!("{:016x}:{}", 1, &key[1..]), RunKeyError::Key(HexError::Length { found: 63 })),
        ] {
            assert_eq!(text.parse::<RunKey>(), Err(error), "{text}");
        }
    }
}
