//! A blob: bytes under the name of their digest.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

/// The media type of an index of images.
pub(super) const INDEX: &str = "application/vnd.oci.image.index.v1+json";
/// The media type of an image's manifest.
pub(super) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// Bytes under the name of their digest.
#[derive(Debug)]
pub(super) struct Blob {
    pub(super) bytes: Vec<u8>,
    sha256: String,
    media_type: &'static str,
}

impl Blob {
    pub(super) fn new(bytes: Vec<u8>, media_type: &'static str) -> Self {
        let mut sha256 = String::with_capacity(64);
        for byte in digest(&SHA256, &bytes).as_ref() {
            // A string takes whatever is written to it.
            let _ = write!(sha256, "{byte:02x}");
        }
        Self { bytes, sha256, media_type }
    }

    /// Of a document.
    pub(super) fn of(value: &Value, media_type: &'static str) -> Self {
        Self::new(value.to_string().into_bytes(), media_type)
    }

    /// `sha256:...`.
    pub(super) fn digest(&self) -> String {
        format!("sha256:{}", self.sha256)
    }

    /// Its place in an OCI layout.
    pub(super) fn path(&self) -> String {
        format!("blobs/sha256/{}", self.sha256)
    }

    /// The descriptor that points to it.
    pub(super) fn descriptor(&self) -> Value {
        json!({"mediaType": self.media_type, "digest": self.digest(), "size": self.bytes.len()})
    }

    pub(super) fn media_type(&self) -> &'static str {
        self.media_type
    }
}
