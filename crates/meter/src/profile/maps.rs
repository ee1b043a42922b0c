//! The code in a process's memory, as `/proc/PID/maps` lists it.

/// A part of a file that a process may execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mapping {
    /// The first address.
    pub(super) start: u64,
    /// The address behind the last.
    end: u64,
    /// Where in the file it begins, bytes.
    offset: u64,
    /// The file; empty for memory without one, and `[vdso]` for what the kernel brings.
    pub(super) path: String,
}

impl Mapping {
    /// The executable parts in a text like that of `/proc/PID/maps`, sorted.
    pub(super) fn all(text: &str) -> Vec<Self> {
        let mut all: Vec<Self> = text.lines().filter_map(Self::of).collect();
        all.sort_by_key(|mapping| mapping.start);
        all
    }

    /// `559d0-559d5 r-xp 00002000 fd:01 42   /usr/sbin/nginx`.
    fn of(line: &str) -> Option<Self> {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let (rights, rest) = rest.split_once(' ')?;
        if rights.as_bytes().get(2) != Some(&b'x') {
            return None;
        }
        let (offset, rest) = rest.split_once(' ')?;
        // Device and inode, then blanks before the path, which may have blanks itself.
        let path = rest.splitn(3, ' ').nth(2).unwrap_or_default().trim_start();
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        Some(Self {
            start: number(start)?,
            end: number(end)?,
            offset: number(offset)?,
            path: path.to_owned(),
        })
    }

    /// The mapping of `all` that an address is in, and where in its file the address is.
    pub(super) fn find(all: &[Self], address: u64) -> Option<(&Self, u64)> {
        let behind = all.partition_point(|mapping| mapping.start <= address);
        let mapping = all.get(behind.checked_sub(1)?).filter(|found| address < found.end)?;
        Some((mapping, (address - mapping.start).wrapping_add(mapping.offset)))
    }

    /// What the frames of its code are called if their functions are not known: `[libc.so.6]`.
    /// `program` is the name of the process' own program, if this is its code: the file may have
    /// another name on each path, and is the same part of each.
    pub(super) fn module(&self, program: Option<&str>) -> String {
        match program.unwrap_or_else(|| self.file()) {
            "" => "[anonymous]".to_owned(),
            name if name.starts_with('[') => name.to_owned(),
            name => format!("[{name}]"),
        }
    }

    /// The name of its file, without folders; empty for memory without one.
    pub(super) fn file(&self) -> &str {
        let path = self.path.strip_suffix(" (deleted)").unwrap_or(&self.path);
        path.rsplit('/').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
7f00-7f80 r-xp 00001000 fd:01 42                         /usr/lib/libc.so.6
5500-5600 r--p 00000000 fd:01 7                          /opt/my program
5600-5700 r-xp 00002000 fd:01 7                          /opt/my program
9000-9100 rwxp 00000000 00:00 0
a000-a100 r-xp 00000000 00:00 0                          [vdso]
nonsense
";

    #[test]
    fn an_address_leads_to_its_file() {
        let all = Mapping::all(TEXT);
        assert_eq!(all.len(), 4, "{all:?}");
        let found = |address| {
            Mapping::find(&all, address).map(|(mapping, offset)| (mapping.path.as_str(), offset))
        };
        assert_eq!(found(0x5610), Some(("/opt/my program", 0x2010)));
        assert_eq!(found(0x7f7f), Some(("/usr/lib/libc.so.6", 0x107f)));
        assert_eq!(found(0x7f80), None);
        assert_eq!(found(0x5510), None, "not executable");
        assert_eq!(found(0), None);
        let modules: Vec<String> = all.iter().map(|one| one.module(None)).collect();
        assert_eq!(modules, ["[my program]", "[libc.so.6]", "[anonymous]", "[vdso]"]);
        assert_eq!(all[0].module(Some("envoy")), "[envoy]", "whatever its file is called");
    }

    #[test]
    fn own_code_is_found() {
        let all = Mapping::all(&std::fs::read_to_string("/proc/self/maps").unwrap());
        let address = own_code_is_found as *const () as u64;
        assert!(Mapping::find(&all, address).is_some(), "{address:x} in {all:?}");
    }
}
