//! The image of the agents' pods: the running program and next to nothing else.
//!
//! As an archive, it is one tar file that is two things at once: what `docker save` writes
//! (`manifest.json`), and an OCI layout (`oci-layout`, `index.json`). Both point to the same blobs,
//! so whatever imports images takes it. The same program gives the same bytes: nothing in it has a
//! time. Or it goes into a registry.
//!
//! ```text
//!   Program ─► ProgramImage: layer, config, manifest ─► Image ─► archive, push
//! ```

mod archive;
mod blob;
mod layer;
pub(crate) mod layout;
mod program;
mod program_image;
mod push;
mod reference;

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use hopbench_model::Fault;
use hopbench_sys::file::Replacement;
use serde_json::json;

use self::blob::{Blob, INDEX};
pub use self::layout::{ENTRYPOINT, USER};
use self::program::Program;
use self::program_image::ProgramImage;
pub use self::reference::Reference;

/// An image of programs, one for each kind of machine.
#[derive(Debug)]
pub struct Image {
    images: Vec<ProgramImage>,
    /// What points to all of them; absent where there is one.
    of_all: Option<Blob>,
}

/// The usual name of an image: `hopbench:VERSION`.
pub fn default_tag() -> String {
    format!("hopbench:{}", env!("CARGO_PKG_VERSION"))
}

impl Image {
    /// The image of the running program, and of those in `others`, for other machines.
    ///
    /// # Errors
    /// A file that cannot be read; a program that is not one static file; two programs for one kind
    /// of machine.
    pub fn of_running(others: &[impl AsRef<Path>]) -> Result<Self, Fault> {
        let read = |path: &Path| {
            fs::read(path)
                .map_err(|e| Fault::environment(format!("cannot read {}: {e}", path.display())))
        };
        let others = others.iter().map(AsRef::as_ref);
        let files = std::iter::once(Path::new("/proc/self/exe")).chain(others);
        Self::of(files.map(read).collect::<Result<_, _>>()?)
    }

    /// The image of programs, each the bytes of a static ELF file.
    ///
    /// # Errors
    /// As [`Image::of_running`]; no program.
    pub fn of(programs: Vec<Vec<u8>>) -> Result<Self, Fault> {
        let mut images: Vec<ProgramImage> = Vec::new();
        for bytes in programs {
            let program = Program::parse(bytes)?;
            if images.iter().any(|known| known.architecture == program.architecture) {
                return Err(Fault::input(format!(
                    "two programs for {}: an image has one for each kind of machine",
                    program.architecture
                )));
            }
            images.push(ProgramImage::of(&program).map_err(|e| unwritable(&e))?);
        }
        if images.is_empty() {
            return Err(Fault::input("no program for the image"));
        }
        let described = || images.iter().map(ProgramImage::descriptor).collect::<Vec<_>>();
        let of_all = (images.len() > 1).then(|| {
            Blob::of(
                &json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": described()}),
                INDEX,
            )
        });
        Ok(Self { images, of_all })
    }

    /// Digest of what its name stands for: of its manifest, or of the index of several.
    pub fn digest(&self) -> String {
        self.of_all.as_ref().unwrap_or(&self.images[0].manifest).digest()
    }

    /// Its machines, in the words of images: `amd64`, `arm64`.
    pub fn architectures(&self) -> Vec<&'static str> {
        self.images.iter().map(|image| image.architecture).collect()
    }

    /// Writes it to the file `output`, which is there as a whole or not at all. Says the length,
    /// bytes.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, output: &Path, reference: &Reference) -> Result<u64, Fault> {
        let failed = |what: &str, e: io::Error| {
            Fault::environment(format!("cannot {what} the image {}: {e}", output.display()))
        };
        let mut file = BufWriter::new(Replacement::of(output).map_err(|e| failed("create", e))?);
        let written = self.write(&mut file, reference)?;
        let file = file.into_inner().map_err(|e| failed("write", e.into_error()))?;
        file.finish().map_err(|e| failed("write", e))?;
        Ok(written)
    }

    /// Writes it to `out`. Says the length, bytes.
    ///
    /// # Errors
    /// `out` takes no more.
    pub fn write(&self, out: &mut dyn Write, reference: &Reference) -> Result<u64, Fault> {
        archive::write(&self.images, self.of_all.as_ref(), reference, out)
            .map_err(|e| unwritable(&e))
    }

    /// Pushes it to the registry in its name, with what `docker login` left. Without TLS if
    /// `plain_http`, and if the registry is on the loopback interface.
    ///
    /// # Errors
    /// A registry that is not reached or refuses; credentials that cannot be used.
    pub fn push(&self, reference: &Reference, plain_http: bool) -> Result<(), Fault> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Fault::environment(format!("cannot push the image: {e}")))?;
        runtime.block_on(push::push(&self.images, self.of_all.as_ref(), reference, plain_http))
    }
}

fn unwritable(error: &io::Error) -> Fault {
    Fault::environment(format!("cannot write the image: {error}"))
}
