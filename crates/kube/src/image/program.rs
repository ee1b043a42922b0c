//! The program that an image is made of.

use hopbench_model::Fault;
use object::Endianness;
use object::elf::{
    EM_386, EM_AARCH64, EM_PPC64, EM_RISCV, EM_S390, EM_X86_64, FileHeader64, PT_INTERP,
};
use object::read::elf::{FileHeader, ProgramHeader};

/// An ELF file that needs no other.
#[derive(Debug)]
pub(super) struct Program {
    /// The file.
    pub(super) bytes: Vec<u8>,
    /// Its machine, in the words of images.
    pub(super) architecture: &'static str,
}

impl Program {
    /// Looks at the headers of `bytes`.
    pub(super) fn parse(bytes: Vec<u8>) -> Result<Self, Fault> {
        let unreadable = |e: object::Error| {
            Fault::environment(format!("the program is no 64-bit ELF file: {e}"))
        };
        let data = bytes.as_slice();
        let header = FileHeader64::<Endianness>::parse(data).map_err(unreadable)?;
        let endian = header.endian().map_err(unreadable)?;
        let segments = header.program_headers(endian, data).map_err(unreadable)?;
        if segments.iter().any(|segment| segment.p_type(endian) == PT_INTERP) {
            return Err(Fault::environment(
                "the program is dynamically linked, and the image has no libraries: build it as \
                 one static file, like `make build` in its sources does",
            ));
        }
        let architecture = match header.e_machine(endian) {
            EM_X86_64 => "amd64",
            EM_AARCH64 => "arm64",
            EM_RISCV => "riscv64",
            EM_S390 => "s390x",
            EM_PPC64 if header.is_little_endian() => "ppc64le",
            EM_386 => "386",
            other => {
                return Err(Fault::environment(format!(
                    "the program is for a machine ({other:?}) that images have no word for"
                )));
            }
        };
        Ok(Self { bytes, architecture })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test's own program is static like the product; the shell of the machine is not.
    #[test]
    fn a_static_program_is_taken_and_a_dynamic_one_refused() {
        let own = Program::parse(std::fs::read("/proc/self/exe").unwrap()).unwrap();
        let expected = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
        assert_eq!(own.architecture, expected);
        let shell = Program::parse(std::fs::read("/bin/sh").unwrap()).unwrap_err();
        assert!(shell.text.contains("dynamically linked"), "{shell}");
    }

    #[test]
    fn what_is_no_program_is_refused() {
        for bytes in [Vec::new(), b"#!/bin/sh\n".to_vec(), b"\x7fELF".to_vec(), vec![0x7f; 4096]] {
            assert!(Program::parse(bytes).unwrap_err().text.contains("no 64-bit ELF"));
        }
    }
}
