//! A program that runs beside the test and ends with it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

/// A running program; ends when dropped. After a failure the end of its log is shown.
pub(crate) struct Process {
    name: String,
    child: Mutex<Child>,
    log: PathBuf,
}

/// Lines of a log that are shown.
const SHOWN: usize = 25;

impl Process {
    /// Starts a program that logs to `<folder>/<name>.log`.
    pub(crate) fn start(name: &str, command: Command, folder: &Path) -> Self {
        let log = folder.join(format!("{name}.log"));
        let file = File::create(&log).unwrap();
        let child = tied(&command)
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap_or_else(|error| panic!("{name}: {}: {error}", command.get_program().display()));
        Self { name: name.to_owned(), child: Mutex::new(child), log }
    }

    /// Whether it still runs.
    pub(crate) fn runs(&self) -> bool {
        self.child.lock().unwrap().try_wait().unwrap().is_none()
    }

    /// Waits until it ends by itself.
    pub(crate) fn wait(&self) {
        self.child.lock().unwrap().wait().unwrap();
    }

    /// The end of its log.
    pub(crate) fn tail(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(SHOWN)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("--- {}\n{}", self.name, self.tail());
        }
        if let Ok(child) = self.child.get_mut() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The same command, started so that it ends should the thread that starts it end without a word.
fn tied(command: &Command) -> Command {
    let helper = Path::new("/usr/bin/setpriv");
    let mut tied = if helper.is_file() {
        let mut tied = Command::new(helper);
        tied.args(["--pdeathsig", "KILL"]).arg(command.get_program());
        tied
    } else {
        Command::new(command.get_program())
    };
    tied.args(command.get_args());
    tied
}
