//! Names of the addresses in samples, looked up all at once.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;

use hopbench_sys::perf::Frame;

use super::elf;
use super::fold::Taken;
use super::kallsyms::KernelSymbols;
use super::maps::Mapping;

/// The kernel's functions.
const KALLSYMS: &str = "/proc/kallsyms";
/// Larger programs are not read, bytes: their functions have no names.
const MOST_FILE_BYTES: u64 = 512 << 20;
/// A frame in memory that no process maps any more.
const UNKNOWN: &str = "[unknown]";
/// A frame of a kernel that shows no addresses.
const KERNEL: &str = "[kernel]";

/// Names of addresses.
#[derive(Debug)]
pub(super) struct Symbols {
    kernel: Option<KernelSymbols>,
    /// By process and address, as [`lookup`] has it.
    user: HashMap<(u32, u64), String>,
}

/// A file with the places whose names are wanted: process, address, bytes from the file's start.
struct Wanted {
    open: String,
    module: String,
    places: Vec<(u32, u64, u64)>,
}

impl Symbols {
    /// The names of all frames in these samples. The processes should still be there.
    pub(super) fn of<'a>(samples: impl Iterator<Item = &'a Taken>) -> Self {
        let mut addresses: HashMap<u32, Vec<u64>> = HashMap::new();
        let mut has_kernel = false;
        for sample in samples {
            has_kernel |= sample.frames.iter().any(|frame| frame.is_kernel);
            let of_process = addresses.entry(sample.pid).or_default();
            let numbered = sample.numbered().filter(|(frame, _)| !frame.is_kernel);
            of_process.extend(numbered.map(|(frame, is_first)| lookup(frame, is_first)));
        }
        let kernel = if has_kernel { kernel_symbols() } else { None };
        Self { kernel, user: user(addresses) }
    }

    /// The name of a frame; `is_first`: it is the innermost of its part of the stack.
    pub(super) fn name(&self, pid: u32, frame: Frame, is_first: bool) -> &str {
        let address = lookup(frame, is_first);
        if frame.is_kernel {
            let name = self.kernel.as_ref().and_then(|kernel| kernel.name(address));
            return name.unwrap_or(KERNEL);
        }
        self.user.get(&(pid, address)).map_or(UNKNOWN, String::as_str)
    }

    /// Whether the kernel shows the addresses of its functions.
    pub(super) fn has_kernel(&self) -> bool {
        self.kernel.is_some()
    }
}

/// Whether the kernel shows this process the names of its functions.
pub fn has_kernel_names() -> bool {
    kernel_symbols().is_some()
}

/// The kernel's functions; `None` where it does not show them.
fn kernel_symbols() -> Option<KernelSymbols> {
    fs::read_to_string(KALLSYMS).ok().and_then(KernelSymbols::of)
}

/// The address to look a frame up by. Behind a call that never returns another function may begin.
fn lookup(frame: Frame, is_first: bool) -> u64 {
    if is_first { frame.address } else { frame.address.saturating_sub(1) }
}

/// The names of addresses in processes.
fn user(addresses: HashMap<u32, Vec<u64>>) -> HashMap<(u32, u64), String> {
    let mut names = HashMap::new();
    let mut files: HashMap<(u64, u64), Wanted> = HashMap::new();
    for (pid, mut addresses) in addresses {
        addresses.sort_unstable();
        addresses.dedup();
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let maps = Mapping::all(&maps);
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok();
        for address in addresses {
            let Some((mapping, place)) = Mapping::find(&maps, address) else { continue };
            names.insert((pid, address), mapping.module());
            let is_program =
                program.as_ref().is_some_and(|path| path.as_os_str() == &*mapping.path);
            let open = match is_program {
                true => format!("/proc/{pid}/exe"),
                false => format!("/proc/{pid}/root{}", mapping.path),
            };
            if !mapping.path.starts_with('/') {
                continue;
            }
            let Ok(about) = fs::metadata(&open) else { continue };
            let wanted = files.entry((about.dev(), about.ino())).or_insert_with(|| Wanted {
                open,
                module: mapping.module(),
                places: Vec::new(),
            });
            wanted.places.push((pid, address, place));
        }
    }
    for wanted in files.into_values() {
        let places: Vec<u64> = wanted.places.iter().map(|(.., place)| *place).collect();
        let found = read(&wanted.open).and_then(|file| elf::names(&file, &places).ok());
        let found = found.unwrap_or_default().into_iter().zip(&wanted.places);
        for (name, (pid, address, _)) in found {
            // A file without symbols for it has its module's name.
            let name = name.unwrap_or_else(|| wanted.module.clone());
            names.insert((*pid, *address), name);
        }
    }
    names
}

/// A program or library; `None` where it cannot be read, or is too large.
fn read(path: &str) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    let about = file.metadata().ok()?;
    if !about.is_file() || about.len() > MOST_FILE_BYTES {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).ok()?);
    file.take(MOST_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
