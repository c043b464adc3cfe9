//! A folder for one run: removed after a success, kept and named after a failure.

use std::path::{Path, PathBuf};

/// The folder.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A new one, among the system's temporary files.
    pub(crate) fn new() -> Self {
        let path = std::env::temp_dir().join(format!("windlass-real-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("  logs and data are kept in {}", self.0.display());
        } else {
            // What can't be removed now is for the system to clean up.
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}
