//! The stock kubectl, against one server.

use crate::real::process::Process;
use serde_json::Value;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long something may take to come about. Real controllers on a busy machine take seconds.
const DEADLINE: Duration = Duration::from_secs(60);

/// How often it is looked for.
const PAUSE: Duration = Duration::from_millis(200);

/// kubectl with a kubeconfig.
#[derive(Clone)]
pub(crate) struct Kubectl {
    /// The file that it reads.
    pub(crate) kubeconfig: PathBuf,
    program: PathBuf,
}

impl Kubectl {
    /// kubectl (`$KUBECTL`, else that on the path) with this file.
    pub(crate) fn new(kubeconfig: &Path) -> Self {
        let program = std::env::var_os("KUBECTL").map_or_else(|| "kubectl".into(), PathBuf::from);
        Self { kubeconfig: kubeconfig.to_path_buf(), program }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).arg("--kubeconfig").arg(&self.kubeconfig);
        command
    }

    /// Runs it; what it printed, or what it complained about.
    pub(crate) fn run(&self, args: &[&str]) -> Result<String, String> {
        let output = self.command(args).output().expect("kubectl is needed on the path, or as $KUBECTL");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    /// Runs what must work.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        self.run(args).unwrap_or_else(|error| panic!("kubectl {}: {error}", args.join(" ")))
    }

    /// Applies one object.
    pub(crate) fn apply(&self, object: &Value) {
        let mut child =
            self.command(&["apply", "-f", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(object.to_string().as_bytes()).unwrap();
        assert!(child.wait().unwrap().success(), "kubectl apply -f - <<< {object}");
    }

    /// What `kubectl get …` gives, as JSON.
    pub(crate) fn get(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[args, &["-o", "json"]].concat())).unwrap()
    }

    /// Asks until the answer is as it should be.
    pub(crate) fn wait(&self, args: &[&str], what: &str, is: impl Fn(&Value) -> bool) {
        let asked = [args, &["-o", "json"]].concat();
        let mut last = String::new();
        let came = eventually(|| {
            last = self.run(&asked).unwrap_or_else(|error| error);
            serde_json::from_str(&last).is_ok_and(|answer| is(&answer))
        });
        assert!(
            came,
            "{}: kubectl {}: not so within {DEADLINE:?}: {what}. Last answer:\n{last}",
            self.kubeconfig.display(),
            args.join(" ")
        );
    }

    /// Asks until there is no such object.
    pub(crate) fn wait_gone(&self, args: &[&str]) {
        let gone = eventually(|| self.run(args).is_err_and(|error| error.contains("NotFound")));
        assert!(
            gone,
            "{}: kubectl {}: still there after {DEADLINE:?}",
            self.kubeconfig.display(),
            args.join(" ")
        );
    }

    /// Asks until the server says that it is ready.
    pub(crate) fn wait_for_server(&self, process: &Process) {
        let mut last = String::new();
        let came = eventually(|| {
            assert!(process.runs(), "the server has ended:\n{}", process.tail());
            match self.run(&["get", "--raw", "/readyz"]) {
                Ok(_) => true,
                Err(error) => {
                    last = error;
                    false
                }
            }
        });
        assert!(came, "the server is not ready after {DEADLINE:?}: {last}\n{}", process.tail());
    }
}

fn eventually(is: impl FnMut() -> bool) -> bool {
    repeatedly(PAUSE, is)
}

/// Asks after each pause whether it is so, until the deadline.
#[allow(clippy::disallowed_methods, reason = "a test's own thread may wait")]
pub(crate) fn repeatedly(pause: Duration, mut is: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    loop {
        std::thread::sleep(pause);
        if is() {
            return true;
        }
        if begun.elapsed() > DEADLINE {
            return false;
        }
    }
}
