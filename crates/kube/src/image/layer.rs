//! The one layer of the image: a tar without the maker and the times of its files.

use std::io::{self, Write};

use tar::{Builder, EntryType, Header};

use super::layout::{ENTRYPOINT, USER};
use super::program::Program;

/// The layer: the program, an empty `/tmp`, and enough of `/etc` for what asks for names of users.
pub(super) fn layer(program: &Program) -> io::Result<Vec<u8>> {
    let mut layer = Builder::new(Vec::with_capacity(program.bytes.len() + (16 << 10)));
    let passwd = format!("root:x:0:0:root:/:\nhopbench:x:{USER}:{USER}:hopbench:/tmp:\n");
    let group = format!("root:x:0:\nhopbench:x:{USER}:\n");
    folder(&mut layer, "etc/", 0o755)?;
    file(&mut layer, "etc/group", 0o644, group.as_bytes())?;
    file(&mut layer, "etc/passwd", 0o644, passwd.as_bytes())?;
    file(&mut layer, ENTRYPOINT.trim_start_matches('/'), 0o755, &program.bytes)?;
    folder(&mut layer, "tmp/", 0o1777)?;
    layer.into_inner()
}

/// Adds a folder.
pub(super) fn folder<W: Write>(tar: &mut Builder<W>, path: &str, mode: u32) -> io::Result<()> {
    entry(tar, path, EntryType::Directory, mode, &[])
}

/// Adds a file.
pub(super) fn file<W: Write>(
    tar: &mut Builder<W>,
    path: &str,
    mode: u32,
    bytes: &[u8],
) -> io::Result<()> {
    entry(tar, path, EntryType::Regular, mode, bytes)
}

fn entry<W: Write>(
    tar: &mut Builder<W>,
    path: &str,
    kind: EntryType,
    mode: u32,
    bytes: &[u8],
) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_path(path)?;
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(bytes.len() as u64);
    header.set_cksum();
    tar.append(&header, bytes)
}
