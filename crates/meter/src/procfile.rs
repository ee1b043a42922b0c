//! A kernel file that is read again and again.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::Unavailable;

/// Most of these files fit; the buffer grows for those that do not, and stays grown.
const FIRST_BUFFER_BYTES: usize = 8 * 1024;

/// A file of `/proc` or `/sys`, opened once and read from its start each time.
#[derive(Debug)]
pub(crate) struct ProcFile {
    path: String,
    file: File,
    buffer: Vec<u8>,
}

impl ProcFile {
    /// Opens the file; nothing is read yet.
    pub(crate) fn open(path: impl Into<String>) -> Result<Self, Unavailable> {
        let path = path.into();
        match File::open(&path) {
            Ok(file) => Ok(Self { path, file, buffer: vec![0; FIRST_BUFFER_BYTES] }),
            Err(error) => Err(Unavailable { why: format!("cannot open {path}: {error}") }),
        }
    }

    /// The whole text as it is now. Bytes that are not UTF-8 (a process may be named anything) are
    /// replaced. After a process is gone its files answer with "no such process", even when another
    /// one has its id by then.
    pub(crate) fn text(&mut self) -> io::Result<Cow<'_, str>> {
        let mut length = 0;
        // The kernel may hand out a page at a time: only an empty read is the end.
        loop {
            if length == self.buffer.len() {
                self.buffer.resize(2 * length, 0);
            }
            match self.file.read_at(&mut self.buffer[length..], length as u64) {
                Ok(0) => break,
                Ok(n) => length += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(io::Error::new(
                        error.kind(),
                        format!("cannot read {}: {error}", self.path),
                    ));
                }
            }
        }
        Ok(String::from_utf8_lossy(&self.buffer[..length]))
    }
}

/// The error for a text that is not what the kernel documents.
pub(crate) fn unexpected(path: &str, missing: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("no {missing} in {path}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn each_read_starts_over_and_sees_what_changed() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"one\n").unwrap();
        let mut proc = ProcFile::open(file.path().to_str().unwrap()).unwrap();
        assert_eq!(proc.text().unwrap(), "one\n");
        assert_eq!(proc.text().unwrap(), "one\n");
        file.write_all(b"two\n").unwrap();
        assert_eq!(proc.text().unwrap(), "one\ntwo\n");
        file.as_file().set_len(3).unwrap();
        assert_eq!(proc.text().unwrap(), "one", "nothing is left over from a longer reading");
    }

    #[test]
    fn a_text_longer_than_the_buffer_is_whole() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let long = "0123456789abcdef".repeat(5 * FIRST_BUFFER_BYTES / 16 + 1);
        file.write_all(long.as_bytes()).unwrap();
        let mut proc = ProcFile::open(file.path().to_str().unwrap()).unwrap();
        assert_eq!(proc.text().unwrap(), long);
    }

    #[test]
    fn bytes_that_are_no_text_do_not_fail_the_reading() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"1 (\xff) S\n").unwrap();
        let mut proc = ProcFile::open(file.path().to_str().unwrap()).unwrap();
        assert_eq!(proc.text().unwrap(), "1 (\u{fffd}) S\n");
    }

    #[test]
    fn what_is_absent_is_named() {
        let why = ProcFile::open("/proc/no-such-file").unwrap_err().why;
        assert!(why.contains("/proc/no-such-file"), "{why}");
        let error = ProcFile::open("/proc").unwrap().text().unwrap_err();
        assert!(error.to_string().contains("cannot read /proc"), "{error}");
    }
}
