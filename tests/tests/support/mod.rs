//! Runs what the tests drive: the binary `windlass`, and stock kubectl. Everything started is stopped again, also when
//! a test fails; every folder is removed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]
#![allow(dead_code, reason = "each test program uses a part")]

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long a start, or the sample, may take on a machine that is busy with other things.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Where this checkout is.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn cache() -> PathBuf {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")));
    base.unwrap_or_else(std::env::temp_dir).join("windlass")
}

/// The binary under test: `WINDLASS_BIN`, else a debug build.
pub(crate) fn binary() -> PathBuf {
    let built = || {
        let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        target.unwrap_or_else(|| cache().join("target")).join("debug/windlass")
    };
    let path = std::env::var_os("WINDLASS_BIN").map(PathBuf::from).unwrap_or_else(built);
    assert!(path.is_file(), "{}: there is no such program; run `cargo xtask test`", path.display());
    path
}

/// Stock kubectl: `KUBECTL`, else one in the cache.
pub(crate) fn kubectl_path() -> PathBuf {
    if let Some(path) = std::env::var_os("KUBECTL").map(PathBuf::from) {
        return path;
    }
    let caches = std::fs::read_dir(cache()).into_iter().flatten().flatten().map(|entry| entry.path());
    caches
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("kubectl")))
        .find_map(|folder| find_program(&folder))
        .unwrap_or_else(|| panic!("no kubectl in {}; run `cargo xtask test`", cache().display()))
}

// The wheel that it comes in has a script of the same name.
fn find_program(folder: &Path) -> Option<PathBuf> {
    let entries: Vec<_> = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    let elf = |path: &PathBuf| {
        let mut magic = [0; 4];
        std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
            && magic == *b"\x7fELF"
    };
    entries
        .iter()
        .find(|path| path.is_file() && path.ends_with("kubectl") && elf(path))
        .cloned()
        .or_else(|| entries.iter().filter(|path| path.is_dir()).find_map(|path| find_program(path)))
}

/// A folder that is gone with its test.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("windlass-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running control plane.
#[derive(Debug)]
pub(crate) struct Plane {
    child: Child,
    states: Receiver<Value>,
    stderr: PathBuf,
    kubectl: Kubectl,
    started: Value,
    // Last, so that it goes after the process.
    folder: Folder,
}

impl Plane {
    /// Starts `windlass up` with these arguments, and waits until its API answers.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let folder = Folder::new();
        let kubeconfig = folder.join("kubeconfig");
        let stderr = folder.join("stderr");
        let mut child = Command::new(binary())
            .args(["up", "--output", "json", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
            .arg("--kubeconfig")
            .arg(&kubeconfig)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(&stderr).unwrap())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, states) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let state = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if sender.send(state).is_err() {
                    break;
                }
            }
        });
        let kubectl = Kubectl { kubeconfig, cache: folder.join("cache") };
        let mut plane = Self { child, states, stderr, kubectl, started: Value::Null, folder };
        plane.started = plane.wait_for("started");
        plane
    }

    /// What it said when it was up: `address`, `admin`, `contexts`.
    pub(crate) fn started(&self) -> &Value {
        &self.started
    }

    /// Waits for an event of its output, and gives it.
    pub(crate) fn wait_for(&self, event: &str) -> Value {
        let until = Instant::now() + PATIENCE;
        let mut last = Value::Null;
        loop {
            match self.states.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(state) if state["event"] == event => return state,
                Ok(state) => last = state,
                Err(why) => {
                    let what = match why {
                        RecvTimeoutError::Timeout => "did not come in time",
                        RecvTimeoutError::Disconnected => "never came: windlass ended",
                    };
                    let seen = self.seen();
                    panic!(
                        "event {event:?} {what}; the last state was {last}; its log:\n{}\n{seen}",
                        self.log()
                    );
                }
            }
        }
    }

    /// What there is in the control plane and its members, for the message of a test that failed.
    fn seen(&self) -> String {
        let mut text = String::new();
        for (context, what) in
            [("windlass", "deploy,rb,work"), ("member1", "deploy,rs,pods"), ("member2", "deploy,rs,pods")]
        {
            let line = ["--context", context, "get", what, "-A", "-o", "wide"].map(str::to_owned);
            let done = self.kubectl.run(&line, None, Duration::from_secs(10));
            text.push_str(&format!("--- {context}\n{}{}", done.stdout, done.stderr));
        }
        text
    }

    /// The last lines of its log.
    pub(crate) fn log(&self) -> String {
        let text = std::fs::read_to_string(&self.stderr).unwrap_or_default();
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len().saturating_sub(30)..].join("\n")
    }

    /// kubectl with this control plane's kubeconfig.
    pub(crate) fn kubectl(&self) -> &Kubectl {
        &self.kubectl
    }

    /// Ends it at once, as a crash would.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Plane {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            report(&format!("--- log of windlass\n{}", self.log()));
        }
    }
}

/// Stock kubectl.
#[derive(Clone, Debug)]
pub(crate) struct Kubectl {
    kubeconfig: PathBuf,
    cache: PathBuf,
}

/// What a program gave.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Kubectl {
    /// A call, not started yet.
    pub(crate) fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(kubectl_path());
        command
            .args(arguments)
            .current_dir(root())
            .env("KUBECONFIG", &self.kubeconfig)
            .env("KUBECACHEDIR", &self.cache)
            .env_remove("KUBERC");
        command
    }

    /// Runs it to its end, at most `limit`.
    pub(crate) fn run(&self, arguments: &[String], stdin: Option<&str>, limit: Duration) -> Done {
        let mut command = self.command(arguments);
        bounded(&mut command, stdin, limit, |_| false)
    }

    /// Runs it and gives what it printed; panics if it fails.
    pub(crate) fn ok(&self, arguments: &[&str], stdin: Option<&str>) -> String {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let done = self.run(&arguments, stdin, PATIENCE);
        assert_eq!(done.code, Some(0), "kubectl {}: {}{}", arguments.join(" "), done.stdout, done.stderr);
        done.stdout
    }
}

/// Runs a program until it ends, its output is `enough`, or `limit` has passed; in the latter cases its code is absent.
pub(crate) fn bounded(
    command: &mut Command,
    stdin: Option<&str>,
    limit: Duration,
    enough: impl Fn(&str) -> bool,
) -> Done {
    let mut child = Guard(
        command
            .stdin(if stdin.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    if let Some(text) = stdin {
        // It may end before it has read everything; its answer tells.
        let _ = child.0.stdin.take().unwrap().write_all(text.as_bytes());
    }
    let (sender, chunks) = channel();
    for (is_error, stream) in [
        (false, Box::new(child.0.stdout.take().unwrap()) as Box<dyn Read + Send>),
        (true, Box::new(child.0.stderr.take().unwrap())),
    ] {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            let mut line = Vec::new();
            while stream.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
                let text = String::from_utf8_lossy(&std::mem::take(&mut line)).into_owned();
                if sender.send((is_error, text)).is_err() {
                    break;
                }
            }
        });
    }
    drop(sender);
    let until = Instant::now() + limit;
    let mut done = Done { code: None, stdout: String::new(), stderr: String::new() };
    loop {
        match chunks.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok((true, text)) => done.stderr.push_str(&text),
            Ok((false, text)) => {
                done.stdout.push_str(&text);
                if enough(&done.stdout) {
                    return done;
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                done.stderr.push_str("(stopped by the test: it took too long)\n");
                return done;
            }
            Err(RecvTimeoutError::Disconnected) => {
                done.code = child.0.wait().unwrap().code();
                return done;
            }
        }
    }
}

#[allow(clippy::print_stderr, reason = "libtest shows it with the test that failed")]
fn report(text: &str) {
    eprintln!("{text}");
}

/// Waits on the test's own thread.
#[allow(clippy::disallowed_methods, reason = "the rule is for the host, whose threads others need")]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// Ends its process.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
