//! Names of the addresses in samples, looked up all at once.

use std::collections::{BTreeMap, HashMap};
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
    user: User,
}

/// Names in processes.
#[derive(Debug, Default)]
struct User {
    /// By process and address, as [`lookup`] has it.
    names: HashMap<(u32, u64), String>,
    /// The files of functions by the functions' names; empty where a name is in several, and where
    /// the file is a process' own program.
    libraries: BTreeMap<String, String>,
}

/// A file with the places whose names are wanted: process, address, bytes from the file's start.
struct Wanted {
    open: String,
    /// Its name, if it is a library; empty for a process' own program.
    library: String,
    places: Vec<(u32, u64, u64)>,
}

impl Symbols {
    /// The names of all frames in these samples. The processes should still be there. `programs`
    /// has what their own programs are called, where that is not the name of the file.
    pub(super) fn of<'a>(
        samples: impl Iterator<Item = &'a Taken>,
        programs: &HashMap<u32, &str>,
    ) -> Self {
        let mut addresses: HashMap<u32, Vec<u64>> = HashMap::new();
        let mut has_kernel = false;
        for sample in samples {
            has_kernel |= sample.frames.iter().any(|frame| frame.is_kernel);
            let of_process = addresses.entry(sample.pid).or_default();
            let numbered = sample.numbered().filter(|(frame, _)| !frame.is_kernel);
            of_process.extend(numbered.map(|(frame, is_first)| lookup(frame, is_first)));
        }
        let kernel = if has_kernel { kernel_symbols() } else { None };
        Self { kernel, user: user(addresses, programs) }
    }

    /// The name of a frame; `is_first`: it is the innermost of its part of the stack.
    pub(super) fn name(&self, pid: u32, frame: Frame, is_first: bool) -> &str {
        let address = lookup(frame, is_first);
        if frame.is_kernel {
            let name = self.kernel.as_ref().and_then(|kernel| kernel.name(address));
            return name.unwrap_or(KERNEL);
        }
        self.user.names.get(&(pid, address)).map_or(UNKNOWN, String::as_str)
    }

    /// The files of functions by the functions' names, of those that are in one library only.
    pub(super) fn into_libraries(self) -> BTreeMap<String, String> {
        let mut libraries = self.user.libraries;
        libraries.retain(|_, library| !library.is_empty());
        libraries
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
fn user(addresses: HashMap<u32, Vec<u64>>, programs: &HashMap<u32, &str>) -> User {
    let User { mut names, mut libraries } = User::default();
    let mut files: HashMap<(u64, u64), Wanted> = HashMap::new();
    for (pid, mut addresses) in addresses {
        addresses.sort_unstable();
        addresses.dedup();
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let maps = Mapping::all(&maps);
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok();
        for address in addresses {
            let Some((mapping, place)) = Mapping::find(&maps, address) else { continue };
            let is_program =
                program.as_ref().is_some_and(|path| path.as_os_str() == &*mapping.path);
            // Where no symbol says more, this stays.
            let own_name = programs.get(&pid).copied().filter(|_| is_program);
            names.insert((pid, address), mapping.module(own_name));
            let open = match is_program {
                true => format!("/proc/{pid}/exe"),
                false => format!("/proc/{pid}/root{}", mapping.path),
            };
            if !mapping.path.starts_with('/') {
                continue;
            }
            let Ok(about) = fs::metadata(&open) else { continue };
            let library = if is_program { "" } else { mapping.file() };
            let wanted = files.entry((about.dev(), about.ino())).or_insert_with(|| Wanted {
                open,
                library: library.to_owned(),
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
            if let Some(name) = name {
                let known = libraries.entry(name.clone()).or_insert_with(|| wanted.library.clone());
                if *known != wanted.library {
                    known.clear();
                }
                names.insert((*pid, *address), name);
            }
        }
    }
    User { names, libraries }
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

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    /// The start of a program's code belongs to no function.
    #[test]
    fn a_program_is_called_as_its_role_says_and_a_library_after_its_file() {
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program cat");
        let pid = child.id();
        // Its code is there once it answers, and not yet when it was started.
        child.stdin.as_mut().expect("its input").write_all(b"x").expect("a byte in");
        child.stdout.as_mut().expect("its output").read_exact(&mut [0]).expect("a byte out");
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).expect("its maps");
        let program = fs::read_link(format!("/proc/{pid}/exe")).expect("its program");
        let maps = Mapping::all(&maps);
        let is_own = |one: &&Mapping| program.as_os_str() == &*one.path;
        let own = maps.iter().find(is_own).expect("its code").start;
        let other = maps.iter().find(|one| !is_own(one)).expect("other code");
        let names = |programs: &[(u32, &'static str)]| {
            let addresses = HashMap::from([(pid, vec![own, other.start])]);
            let names = user(addresses, &programs.iter().copied().collect()).names;
            [own, other.start].map(|address| names[&(pid, address)].clone())
        };
        let file = program.file_name().and_then(|name| name.to_str()).expect("a name");
        let [unnamed, before] = names(&[]);
        let [named, after] = names(&[(pid, "envoy"), (1, "nginx")]);
        let _ = child.kill();
        let _ = child.wait();
        assert_eq!((unnamed, named), (format!("[{file}]"), "[envoy]".to_owned()));
        assert_eq!(before, after, "code of others");
    }

    #[test]
    fn a_function_of_a_library_has_its_file_and_one_of_the_program_has_none() {
        let pid = std::process::id();
        let own = has_kernel_names as *const () as u64;
        let maps = Mapping::all(&fs::read_to_string("/proc/self/maps").unwrap());
        // Some place in libc is in a function that it exports; a static program has no libc.
        let Some(libc) = maps.iter().find(|one| one.file().starts_with("libc.so")) else { return };
        let places = (0..4096).map(|step| libc.start + step * 64);
        let addresses = HashMap::from([(pid, places.chain([own]).collect())]);
        let found = Symbols { kernel: None, user: user(addresses, &HashMap::new()) };
        let name = found.user.names[&(pid, own)].clone();
        assert!(name.ends_with("has_kernel_names"), "{name}");
        let libraries = found.into_libraries();
        assert!(!libraries.contains_key(&name), "{libraries:?}");
        assert!(libraries.values().any(|library| library.starts_with("libc.so")), "{libraries:?}");
    }
}
