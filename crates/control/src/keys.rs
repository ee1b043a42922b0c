//! Key pairs of conductors and agents: Ed25519 (RFC 8032).

use std::fmt;
use std::str::FromStr;

use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use zeroize::Zeroizing;

use crate::error::SecretError;
use crate::hex::{self, BYTES, HexError};

/// A private key with its public one. It can be neither compared nor printed by accident; its bytes
/// are overwritten when it is dropped.
#[derive(Clone)]
pub struct KeyPair {
    seed: Zeroizing<[u8; BYTES]>,
    public: PublicKey,
}

/// A public key; its text form is 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; BYTES]);

/// Bytes of a signature.
pub(crate) const SIGNATURE_BYTES: usize = 64;

impl KeyPair {
    /// A new one.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn random() -> Result<Self, SecretError> {
        Ok(Self::of(Zeroizing::new(random_bytes()?)))
    }

    /// The one of a seed. Every 32 bytes are one.
    pub(crate) fn of(seed: Zeroizing<[u8; BYTES]>) -> Self {
        let mut public = PublicKey([0; BYTES]);
        public.0.copy_from_slice(signer(&seed).public_key().as_ref());
        Self { seed, public }
    }

    /// The public key, which others know it by.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    pub(crate) fn seed(&self) -> &[u8; BYTES] {
        &self.seed
    }

    /// The signature of a message.
    pub(crate) fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
        let mut out = [0; SIGNATURE_BYTES];
        out.copy_from_slice(signer(&self.seed).sign(message).as_ref());
        out
    }
}

/// 32 random bytes, for what no token may determine: cookie secrets, keys of one run.
///
/// # Errors
/// When the system gives no random bytes.
pub fn random_bytes() -> Result<[u8; 32], SecretError> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| SecretError::NoRandomness)?;
    Ok(bytes)
}

fn signer(seed: &[u8; BYTES]) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(seed)
        .unwrap_or_else(|_| unreachable!("32 bytes are a seed"))
}

/// Reads the seed: 64 hex digits of either case.
impl FromStr for KeyPair {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        hex::read(text).map(Self::of)
    }
}

/// Shows the public key.
impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyPair({})", self.public)
    }
}

impl PublicKey {
    pub(crate) fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    /// Whether the private key of this one signed the message.
    pub(crate) fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(message, signature).is_ok()
    }
}

impl FromStr for PublicKey {
    type Err = HexError;

    fn from_str(text: &str) -> Result<Self, HexError> {
        hex::read(text).map(|bytes| Self(*bytes))
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::write(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8032, section 7.1, test 1.
    #[test]
    fn signatures_are_those_of_the_standard() {
        let keys: KeyPair =
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60".parse().unwrap();
        assert_eq!(
            keys.public().to_string(),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
        );
        let signature = keys.sign(b"");
        assert!(
            hex::write(&signature)
                .starts_with("e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155")
        );
        assert!(keys.public().verifies(b"", &signature));
        assert!(!keys.public().verifies(b"x", &signature));
        assert!(!KeyPair::random().unwrap().public().verifies(b"", &signature));
    }

    #[test]
    fn a_private_key_is_not_printed() {
        let text = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        assert!(!format!("{:?}", text.parse::<KeyPair>().unwrap()).contains("9d61b19d"));
        assert_eq!("x".parse::<KeyPair>().unwrap_err(), HexError::Digit { at: 1 });
        assert_eq!("12".parse::<PublicKey>().unwrap_err(), HexError::Length { found: 2 });
    }
}
