//! The image of the agents' pods: the running program and next to nothing else, as an archive.
//!
//! One tar file that is two things at once: what `docker save` writes (`manifest.json`), and an OCI
//! layout (`oci-layout`, `index.json`). Both point to the same blobs, so whatever imports images
//! takes it. The same program gives the same bytes: nothing in it has a time.

mod archive;
mod layer;
pub(crate) mod layout;
mod program;
mod reference;

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use hopbench_model::Fault;
use hopbench_sys::file::Replacement;

use self::archive::Archive;
pub use self::layout::{ENTRYPOINT, USER};
use self::program::Program;
pub use self::reference::Reference;

/// An image that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenImage {
    /// Its name, as scenarios and pods say it: `hopbench:0.1.0`.
    pub tag: String,
    /// Digest of its manifest: `sha256:...`.
    pub digest: String,
    /// Its machine, in the words of images: `amd64`, `arm64` ...
    pub architecture: &'static str,
    /// Length of the archive, bytes.
    pub bytes: u64,
}

/// The usual name of an image: `hopbench:VERSION`.
pub fn default_tag() -> String {
    format!("hopbench:{}", env!("CARGO_PKG_VERSION"))
}

/// Writes the image of the running program to the file `output`, which is there as a whole or not
/// at all.
///
/// # Errors
/// A tag that is no name of an image; a program that is not one static file; a file that cannot be
/// written.
pub fn write(output: &Path, tag: &str) -> Result<WrittenImage, Fault> {
    let failed = |what: &str, e: io::Error| {
        Fault::environment(format!("cannot {what} the image {}: {e}", output.display()))
    };
    let mut file = BufWriter::new(Replacement::of(output).map_err(|e| failed("create", e))?);
    let written = write_to(&mut file, tag)?;
    let file = file.into_inner().map_err(|e| failed("write", e.into_error()))?;
    file.finish().map_err(|e| failed("write", e))?;
    Ok(written)
}

/// Writes the image of the running program to `out`.
///
/// # Errors
/// As [`write()`].
pub fn write_to(out: &mut dyn Write, tag: &str) -> Result<WrittenImage, Fault> {
    let running = "/proc/self/exe";
    let program =
        fs::read(running).map_err(|e| Fault::environment(format!("cannot read {running}: {e}")))?;
    write_program(program, tag, out)
}

/// Writes the image of `program`, the bytes of a static ELF file, to `out`.
///
/// # Errors
/// As [`write()`].
pub fn write_program(
    program: Vec<u8>,
    tag: &str,
    out: &mut dyn Write,
) -> Result<WrittenImage, Fault> {
    let reference = Reference::parse(tag)?;
    let program = Program::parse(program)?;
    let archive = Archive::new(&program, &reference).map_err(|e| unwritable(&e))?;
    let bytes = archive.write(out).map_err(|e| unwritable(&e))?;
    Ok(WrittenImage {
        tag: reference.short(),
        digest: archive.digest(),
        architecture: program.architecture,
        bytes,
    })
}

fn unwritable(error: &io::Error) -> Fault {
    Fault::environment(format!("cannot write the image: {error}"))
}
