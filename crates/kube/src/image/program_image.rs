//! The image of one program, for one kind of machine.

use std::io;

use serde_json::{Value, json};

use super::blob::{Blob, MANIFEST};
use super::layer::layer;
use super::layout::{ENTRYPOINT, USER};
use super::program::Program;

/// The image of one program.
#[derive(Debug)]
pub(super) struct ProgramImage {
    /// The machine, in the words of images.
    pub(super) architecture: &'static str,
    pub(super) layer: Blob,
    pub(super) config: Blob,
    pub(super) manifest: Blob,
}

impl ProgramImage {
    pub(super) fn of(program: &Program) -> io::Result<Self> {
        let layer = Blob::new(layer(program)?, "application/vnd.oci.image.layer.v1.tar");
        let config = Blob::of(
            &config(program.architecture, &layer),
            "application/vnd.oci.image.config.v1+json",
        );
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": config.descriptor(),
            "layers": [layer.descriptor()],
        });
        let manifest = Blob::of(&manifest, MANIFEST);
        Ok(Self { architecture: program.architecture, layer, config, manifest })
    }

    /// The descriptor that points to its manifest, with the machine.
    pub(super) fn descriptor(&self) -> Value {
        let mut out = self.manifest.descriptor();
        out["platform"] = json!({"architecture": self.architecture, "os": "linux"});
        out
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
            "Labels": {
                "org.opencontainers.image.title": "hopbench",
                "org.opencontainers.image.version": env!("CARGO_PKG_VERSION"),
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [layer.digest()]},
        "history": [{"created": NEVER, "created_by": "hopbench kube image"}],
    })
}
