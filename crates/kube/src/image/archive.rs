//! The archive of an image.

use std::io::{self, Write};

use serde_json::{Value, json};
use tar::Builder;

use super::blob::{Blob, INDEX};
use super::layer::{file, folder};
use super::program_image::ProgramImage;
use super::reference::Reference;

/// Writes the archive of an image to `out`, and says how many bytes that were. `of_all` points to
/// the images of several programs; `None` where there is one.
pub(super) fn write(
    images: &[ProgramImage],
    of_all: Option<&Blob>,
    reference: &Reference,
    out: &mut dyn Write,
) -> io::Result<u64> {
    let mut tar = Builder::new(Counted { out, bytes: 0 });
    folder(&mut tar, "blobs/", 0o755)?;
    folder(&mut tar, "blobs/sha256/", 0o755)?;
    let parts = images.iter().flat_map(|one| [&one.config, &one.layer, &one.manifest]);
    for blob in parts.chain(of_all) {
        file(&mut tar, &blob.path(), 0o644, &blob.bytes)?;
    }
    let mut entry =
        |path: &str, value: &Value| file(&mut tar, path, 0o644, value.to_string().as_bytes());
    entry("index.json", &index(images, of_all, reference))?;
    entry("manifest.json", &for_docker(images, reference))?;
    entry("oci-layout", &json!({"imageLayoutVersion": "1.0.0"}))?;
    let counted = tar.into_inner()?;
    counted.out.flush()?;
    Ok(counted.bytes)
}

/// The index of an OCI layout, which points to one image.
fn index(images: &[ProgramImage], of_all: Option<&Blob>, reference: &Reference) -> Value {
    let mut described = match of_all {
        Some(of_all) => of_all.descriptor(),
        None => images[0].descriptor(),
    };
    described["annotations"] = json!({
        // The name for containerd, and the tag for all others.
        "io.containerd.image.name": reference.full(),
        "org.opencontainers.image.ref.name": reference.tag(),
    });
    json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [described]})
}

/// The manifest that `docker load` reads instead. It knows one machine: that of the first program.
fn for_docker(images: &[ProgramImage], reference: &Reference) -> Value {
    json!([{
        "Config": images[0].config.path(),
        "RepoTags": [reference.short()],
        "Layers": [images[0].layer.path()],
    }])
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
