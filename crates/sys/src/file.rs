//! Files that are made here, and not where somebody else's link leads to.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use socket2::SockRef;

/// A new, empty file for writing. What had this name is removed first; a link is removed and not
/// followed.
///
/// # Errors
/// What the file system refuses; [`ErrorKind::AlreadyExists`] where somebody else took the name
/// meanwhile, or where it is a folder's.
pub fn fresh(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound && !path.is_dir() => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// A file to be appended to, made if need be.
///
/// # Errors
/// What the file system refuses; `ELOOP` where the name is a link: it is not followed. `ENXIO` or
/// [`ErrorKind::InvalidInput`] for a pipe: its reader is not waited for.
pub fn append(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    only_regular(OpenOptions::new().append(true).create(true).custom_flags(flags).open(path)?)
}

/// A regular file for reading. A link to one is followed; a pipe is not waited for.
///
/// # Errors
/// What the file system refuses; [`ErrorKind::InvalidInput`] for a pipe, a device, a folder and
/// alike: what comes from those may have no end.
pub fn regular(path: &Path) -> io::Result<File> {
    only_regular(OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?)
}

/// A file without a name in this folder, for writing and reading. It goes with its last descriptor.
///
/// # Errors
/// What the file system refuses, such as one that has no files without names.
pub fn unnamed(folder: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_TMPFILE).open(folder)
}

fn only_regular(file: File) -> io::Result<File> {
    let kind = file.metadata()?.file_type();
    if kind.is_file() { Ok(file) } else { Err(no_file(kind)) }
}

fn no_file(kind: FileType) -> io::Error {
    let found = if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_char_device() || kind.is_block_device() {
        "a device"
    } else {
        "a socket"
    };
    io::Error::new(ErrorKind::InvalidInput, format!("found {found}, expected a regular file"))
}

/// A file that takes the place of another as a whole, or not at all: whoever looks meanwhile sees
/// the old one.
///
/// A terminal or another device without blocks, and a pipe that somebody reads, are written to as
/// they are. Dropped before [`Replacement::finish`], nothing is
/// left of it.
#[derive(Debug)]
pub struct Replacement {
    file: File,
    to: PathBuf,
    /// Where it is written; absent: at its place.
    part: Option<PathBuf>,
}

impl Replacement {
    /// Begins a new file for `to`, beside it: `NAME.PID.part`.
    ///
    /// # Errors
    /// What the file system refuses; [`ErrorKind::InvalidInput`] for a pipe that nobody reads,
    /// which is not waited for, a device with blocks, a folder and a socket.
    pub fn of(to: &Path) -> io::Result<Self> {
        if to.exists() && !to.is_file() {
            return Ok(Self { file: stream(to)?, to: to.to_owned(), part: None });
        }
        let mut name = to.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.part", std::process::id()));
        let part = to.with_file_name(name);
        Ok(Self { file: fresh(&part)?, to: to.to_owned(), part: Some(part) })
    }

    /// Puts it in its place. A link that has the name is replaced, and not followed. Its bytes are
    /// on the disk before it has the name. So after a crash the name leads to all of them, or to
    /// the old file.
    ///
    /// # Errors
    /// What the file system refuses; the old file is still there.
    pub fn finish(mut self) -> io::Result<()> {
        self.file.flush()?;
        if let Some(part) = &self.part {
            self.file.sync_all()?;
            fs::rename(part, &self.to)?;
            self.part = None;
        }
        Ok(())
    }
}

/// What can be written to as it is.
fn stream(path: &Path) -> io::Result<File> {
    let kind = path.metadata()?.file_type();
    if !kind.is_fifo() && !kind.is_char_device() {
        return Err(no_file(kind));
    }
    // A pipe may lead to whoever never reads: only the opening must not wait.
    let open =
        OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path);
    let file = open.map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => {
            let why = "found a pipe that nobody reads, expected a reader before the writer, or a \
                       regular file";
            io::Error::new(ErrorKind::InvalidInput, why)
        }
        _ => error,
    })?;
    // It need not be a socket for that.
    SockRef::from(&file).set_nonblocking(false)?;
    Ok(file)
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            let _ = fs::remove_file(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Seek;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_planted_link_is_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (victim, link) = (dir.path().join("victim"), dir.path().join("link"));
        fs::write(&victim, "precious").unwrap();
        symlink(&victim, &link).unwrap();
        fresh(&link).unwrap().write_all(b"ours").unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert!(fs::symlink_metadata(&link).unwrap().is_file());

        fs::remove_file(&link).unwrap();
        symlink(&victim, &link).unwrap();
        assert_eq!(append(&link).unwrap_err().raw_os_error(), Some(libc::ELOOP));
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }

    #[test]
    fn a_replacement_follows_no_link_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let (victim, to) = (dir.path().join("victim"), dir.path().join("out"));
        fs::write(&victim, "precious").unwrap();
        // Under the name of the file that it writes, and under that of the file that it becomes.
        symlink(&victim, dir.path().join(format!("out.{}.part", std::process::id()))).unwrap();
        symlink(&victim, &to).unwrap();
        let mut replacement = Replacement::of(&to).unwrap();
        replacement.write_all(b"ours").unwrap();
        replacement.finish().unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        assert_eq!(
            (fs::read_to_string(&to).unwrap(), fs::read_link(&to).is_ok()),
            ("ours".to_owned(), false)
        );
        drop(Replacement::of(&to).unwrap());
        let left: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "{left:?}");
        assert_eq!(fs::read_to_string(&to).unwrap(), "ours");
    }

    #[test]
    fn a_device_stays_a_device() {
        use std::os::unix::fs::FileTypeExt;
        let mut null = Replacement::of(Path::new("/dev/null")).unwrap();
        null.write_all(b"x").unwrap();
        null.finish().unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn a_pipe_gets_all_of_it_and_one_without_a_reader_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let (pipe, link) = (dir.path().join("pipe"), dir.path().join("link"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        symlink(&pipe, &link).unwrap();
        let error = Replacement::of(&link).unwrap_err();
        assert!(
            error.kind() == ErrorKind::InvalidInput && error.to_string().contains("nobody reads"),
            "{error}"
        );
        assert_eq!(Replacement::of(dir.path()).unwrap_err().kind(), ErrorKind::InvalidInput);

        let reader =
            OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&pipe).unwrap();
        let mut writer = Replacement::of(&link).unwrap();
        SockRef::from(&reader).set_nonblocking(false).unwrap();
        // More than a pipe holds: the writer waits while the reader reads.
        let reading =
            std::thread::spawn(move || io::copy(&mut { reader }, &mut io::sink()).unwrap());
        writer.write_all(&vec![b'x'; 1 << 20]).unwrap();
        writer.finish().unwrap();
        assert_eq!(reading.join().unwrap(), 1 << 20);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn only_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "x").unwrap();
        symlink(&file, &link).unwrap();
        assert_eq!(io::read_to_string(regular(&link).unwrap()).unwrap(), "x");
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for (path, found) in
            [(&*pipe, "a pipe"), (Path::new("/dev/zero"), "a device"), (dir.path(), "a folder")]
        {
            let error = regular(path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert_eq!(error.to_string(), format!("found {found}, expected a regular file"));
        }
        assert_eq!(append(&pipe).unwrap_err().raw_os_error(), Some(libc::ENXIO), "nobody reads it");
        let _reader =
            OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&pipe).unwrap();
        assert_eq!(append(&pipe).unwrap_err().kind(), ErrorKind::InvalidInput);
    }

    #[test]
    fn a_file_without_a_name_is_in_no_list() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = unnamed(dir.path()).unwrap();
        file.write_all(b"ours").unwrap();
        file.rewind().unwrap();
        assert_eq!(io::read_to_string(file).unwrap(), "ours");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_is_no_file() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(fresh(dir.path()).unwrap_err().kind(), ErrorKind::AlreadyExists);
    }
}
