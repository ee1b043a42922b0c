//! The archive around the layer.

use std::fmt::Write as _;
use std::io::{self, Write};

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tar::Builder;

use super::layer::{file, folder, layer};
use super::layout::{ENTRYPOINT, USER};
use super::program::Program;
use super::reference::Reference;

/// Everything in the archive but its frame.
#[derive(Debug)]
pub(super) struct Archive {
    layer: Blob,
    config: Blob,
    manifest: Blob,
    index: Vec<u8>,
    /// The manifest that `docker load` reads instead of the index.
    docker: Vec<u8>,
}

impl Archive {
    /// Of a program.
    pub(super) fn new(program: &Program, reference: &Reference) -> io::Result<Self> {
        let layer = Blob::new(layer(program)?);
        let config = Blob::of(&config(program.architecture, &layer));
        let manifest = Blob::of(&json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": config.described("application/vnd.oci.image.config.v1+json"),
            "layers": [layer.described("application/vnd.oci.image.layer.v1.tar")],
        }));
        let mut described = manifest.described("application/vnd.oci.image.manifest.v1+json");
        described["platform"] = json!({"architecture": program.architecture, "os": "linux"});
        described["annotations"] = json!({
            // The name for containerd, and the tag for all others.
            "io.containerd.image.name": reference.full(),
            "org.opencontainers.image.ref.name": reference.tag(),
        });
        let index = json!({
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.index.v1+json",
            "manifests": [described],
        });
        let docker = json!([{
            "Config": config.path(),
            "RepoTags": [reference.short()],
            "Layers": [layer.path()],
        }]);
        Ok(Self { layer, config, manifest, index: bytes(&index), docker: bytes(&docker) })
    }

    /// Digest of the manifest.
    pub(super) fn digest(&self) -> String {
        format!("sha256:{}", self.manifest.sha256)
    }

    /// Writes it, and says how many bytes that were.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<u64> {
        let mut tar = Builder::new(Counted { out, bytes: 0 });
        folder(&mut tar, "blobs/", 0o755)?;
        folder(&mut tar, "blobs/sha256/", 0o755)?;
        for blob in [&self.config, &self.layer, &self.manifest] {
            file(&mut tar, &blob.path(), 0o644, &blob.bytes)?;
        }
        file(&mut tar, "index.json", 0o644, &self.index)?;
        file(&mut tar, "manifest.json", 0o644, &self.docker)?;
        file(&mut tar, "oci-layout", 0o644, &bytes(&json!({"imageLayoutVersion": "1.0.0"})))?;
        let counted = tar.into_inner()?;
        counted.out.flush()?;
        Ok(counted.bytes)
    }
}

fn config(architecture: &str, layer: &Blob) -> Value {
    const NEVER: &str = "1970-01-01T00:00:00Z";
    json!({
        "created": NEVER,
        "architecture": architecture,
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": ["PATH=/"],
            "Entrypoint": [ENTRYPOINT],
            "WorkingDir": "/tmp",
            "Labels": {"org.opencontainers.image.title": "hopbench", "org.opencontainers.image.version": env!("CARGO_PKG_VERSION")},
        },
        "rootfs": {"type": "layers", "diff_ids": [layer.digest()]},
        "history": [{"created": NEVER, "created_by": "hopbench kube image"}],
    })
}

/// Bytes under the name of their digest.
#[derive(Debug)]
struct Blob {
    bytes: Vec<u8>,
    sha256: String,
}

impl Blob {
    fn new(bytes: Vec<u8>) -> Self {
        let mut sha256 = String::with_capacity(64);
        for byte in digest(&SHA256, &bytes).as_ref() {
            // A string takes whatever is written to it.
            let _ = write!(sha256, "{byte:02x}");
        }
        Self { bytes, sha256 }
    }

    fn of(value: &Value) -> Self {
        Self::new(bytes(value))
    }

    fn digest(&self) -> String {
        format!("sha256:{}", self.sha256)
    }

    fn path(&self) -> String {
        format!("blobs/sha256/{}", self.sha256)
    }

    fn described(&self, media_type: &str) -> Value {
        json!({"mediaType": media_type, "digest": self.digest(), "size": self.bytes.len()})
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

/// Counts what passes.
struct Counted<'a> {
    out: &'a mut dyn Write,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.out.write(buffer)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
