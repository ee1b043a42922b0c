//! Names of functions from the symbols of ELF files.

use object::Endianness;
use object::elf::{FileHeader64, PT_LOAD, SHT_DYNSYM, SHT_SYMTAB, STT_FUNC};
use object::read::elf::{FileHeader, ProgramHeader, Sym};

use super::mangled;

/// The functions at these places of a file, bytes from its start, in the order of `places`. `None`
/// where the file has no symbol for a place: it may have none at all.
///
/// # Errors
/// What is wrong with the file.
pub(super) fn names(file: &[u8], places: &[u64]) -> Result<Vec<Option<String>>, object::Error> {
    let header = FileHeader64::<Endianness>::parse(file)?;
    let endian = header.endian()?;
    let segments = header.program_headers(endian, file)?;
    // Symbols have addresses, as the file asks to be loaded.
    let address_of = |place: u64| {
        segments.iter().filter(|segment| segment.p_type(endian) == PT_LOAD).find_map(|segment| {
            let within = place.checked_sub(segment.p_offset(endian))?;
            let is_in = within < segment.p_filesz(endian);
            is_in.then(|| segment.p_vaddr(endian).wrapping_add(within))
        })
    };
    let addressed =
        places.iter().enumerate().filter_map(|(at, place)| Some((address_of(*place)?, at)));
    let mut wanted: Vec<(u64, usize)> = addressed.collect();
    wanted.sort_unstable();
    let mut names = vec![None; places.len()];
    let sections = header.sections(endian, file)?;
    for kind in [SHT_SYMTAB, SHT_DYNSYM] {
        let symbols = sections.symbols(endian, file, kind)?;
        for symbol in symbols.iter().filter(|symbol| symbol.st_type() == STT_FUNC) {
            let start: u64 = symbol.st_value(endian);
            let end = start.saturating_add(symbol.st_size(endian));
            let first = wanted.partition_point(|(address, _)| *address < start);
            let within = wanted[first..].iter().take_while(|(address, _)| *address < end);
            for (_, at) in within {
                if names[*at].is_none() {
                    let name = symbol.name(endian, symbols.strings()).unwrap_or_default();
                    names[*at] = Some(mangled::plain(&String::from_utf8_lossy(name)))
                        .filter(|name| !name.is_empty());
                }
            }
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::super::maps::Mapping;
    use super::*;

    #[inline(never)]
    fn a_function_with_a_name(n: u64) -> u64 {
        std::hint::black_box(n.rotate_left(7) ^ 0x5555)
    }

    fn own_file() -> Vec<u8> {
        std::fs::read("/proc/self/exe").unwrap()
    }

    #[test]
    fn a_function_of_this_program_is_found_by_its_address() {
        assert_ne!(a_function_with_a_name(3), 3);
        let all = Mapping::all(&std::fs::read_to_string("/proc/self/maps").unwrap());
        let address = a_function_with_a_name as *const () as u64;
        let (_, place) = Mapping::find(&all, address).unwrap();
        let found = names(&own_file(), &[u64::MAX, place, place + 1, 0]).unwrap();
        let name = found[1].as_deref().unwrap_or_default();
        assert!(name.ends_with("a_function_with_a_name"), "{found:?}");
        assert_eq!(found[1], found[2]);
        assert_eq!((&found[0], &found[3]), (&None, &None));
    }

    #[test]
    fn damaged_files_are_refused_or_read_and_never_more() {
        assert!(names(b"#!/bin/sh\n", &[0]).is_err());
        assert!(names(b"", &[0]).is_err());
        let whole = own_file();
        for end in [1, 16, 63, 64, 65, 1000, whole.len() / 2, whole.len() - 1] {
            let _ = names(&whole[..end], &[4096]);
        }
        let mut changed = whole;
        // The header, and what it leads to.
        for at in 0..64 {
            for value in [0, 1, 0x7f, 0xff] {
                let before = std::mem::replace(&mut changed[at], value);
                let _ = names(&changed, &[4096]);
                changed[at] = before;
            }
        }
    }
}
