//! The folder of the state files.

use std::env;
use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use hopbench_model::Fault;
use hopbench_sys::file::fresh;
use nix::unistd::Uid;

use super::standing::StandingLab;

/// The end of the name of a state file, and of one that is not written to its end.
const STATE: &str = "json";
const NEW: &str = "new";
/// Others may take the folder away as often while it is waited for.
const MOST_TRIES: usize = 100;

/// The folder, held with its lock.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

/// The state file of a name.
#[derive(Debug)]
pub(super) enum Found {
    /// No file, or one of a lab that does not stand any more.
    Nothing,
    Lab(StandingLab),
    /// A file that cannot be read; the reason.
    Unreadable(String),
}

impl Folder {
    /// Waits for the folder; it is made if need be, and goes with the last state file.
    pub(super) fn lock() -> Result<Self, Fault> {
        for _ in 0..MOST_TRIES {
            let Some(path) = ours()? else { continue };
            let refused =
                |e: std::io::Error| Fault::environment(format!("{}: {e}", path.display()));
            let file = match File::open(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                opened => opened.map_err(refused)?,
            };
            file.lock().map_err(refused)?;
            // Who had it may have taken it away, and the lock with it.
            let locked = file.metadata().map_err(refused)?;
            if fs::symlink_metadata(&path)
                .is_ok_and(|there| (there.dev(), there.ino()) == (locked.dev(), locked.ino()))
            {
                return Ok(Self { path, _file: file });
            }
        }
        Err(Fault::environment("the folder of the labs' state files comes and goes; try again"))
    }

    /// Labs that stand, and what is wrong with files that cannot be read. The files of labs that do
    /// not stand any more are removed.
    pub(super) fn look(&self) -> Result<(Vec<StandingLab>, Vec<Fault>), Fault> {
        let refused =
            |e: std::io::Error| Fault::environment(format!("{}: {e}", self.path.display()));
        let (mut standing, mut unreadable) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(&self.path).map_err(refused)? {
            let path = entry.map_err(refused)?.path();
            let ends = |end: &str| path.extension() == Some(end.as_ref());
            if ends(STATE) {
                match held(&path) {
                    Found::Lab(lab) => standing.push(lab),
                    Found::Unreadable(why) => unreadable.push(Fault::environment(why)),
                    Found::Nothing => drop(fs::remove_file(&path)),
                }
            } else if ends(NEW) {
                // Whoever was writing it had the lock.
                let _ = fs::remove_file(&path);
            }
        }
        Ok((standing, unreadable))
    }

    /// Whether there is a file of this name, whatever is in it.
    pub(super) fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.file(name, STATE)).is_ok()
    }

    /// The state file of a name.
    pub(super) fn read(&self, name: &str) -> Found {
        held(&self.file(name, STATE))
    }

    /// Writes the file of a lab, whole or not at all; `false`: its name is taken.
    pub(super) fn keep(&self, lab: &StandingLab) -> Result<bool, Fault> {
        let (new, file) = (self.file(&lab.name, NEW), self.file(&lab.name, STATE));
        let refused =
            |e: std::io::Error| Fault::environment(format!("cannot write {}: {e}", file.display()));
        let text = serde_json::to_vec_pretty(lab).map_err(|e| refused(e.into()))?;
        fresh(&new).and_then(|mut file| file.write_all(&text)).map_err(refused)?;
        let linked = fs::hard_link(&new, &file);
        let _ = fs::remove_file(&new);
        match linked {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            linked => linked.map(|()| true).map_err(refused),
        }
    }

    fn file(&self, name: &str, end: &str) -> PathBuf {
        self.path.join(format!("{name}.{end}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Where there is nothing to keep, nothing stays; one that is not empty cannot be removed
        // so.
        let _ = fs::remove_dir(&self.path);
    }
}

fn held(path: &Path) -> Found {
    let unreadable = |why: String| {
        Found::Unreadable(format!(
            "{}: {why}; another version of hopbench may have written it, and can take that lab \
             down; remove the file if no lab is behind it",
            path.display()
        ))
    };
    match fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Found::Nothing,
        Err(error) => unreadable(error.to_string()),
        Ok(text) => match serde_json::from_slice::<StandingLab>(&text) {
            Ok(lab) if lab.is_alive() => Found::Lab(lab),
            Ok(_) => Found::Nothing,
            Err(error) => unreadable(format!("not the state of a lab: {error}")),
        },
    }
}

/// The folder, made if need be: `$XDG_RUNTIME_DIR/hopbench`, or `hopbench-UID` in the folder for
/// temporary files. A folder that is not of this user alone is refused: its state files could not
/// be trusted.
fn ours() -> Result<Option<PathBuf>, Fault> {
    let user = Uid::effective();
    let folder = match env::var_os("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty()) {
        Some(runtime) => PathBuf::from(runtime).join("hopbench"),
        None => env::temp_dir().join(format!("hopbench-{user}")),
    };
    let refused = |what: String| Fault::environment(format!("{}: {what}", folder.display()));
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(refused(error.to_string()));
        }
        _ => {}
    }
    // Of the link itself, if it is one.
    let found = match fs::symlink_metadata(&folder) {
        // Whoever had it has just taken it away.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found.map_err(|e| refused(e.to_string()))?,
    };
    if !found.is_dir() || found.uid() != user.as_raw() || found.mode() & 0o077 != 0 {
        return Err(refused(
            "must be a folder that only you can use (mode 0700); remove it, or set XDG_RUNTIME_DIR"
                .to_owned(),
        ));
    }
    Ok(Some(folder))
}
