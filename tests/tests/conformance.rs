//! All vectors of `tests/conformance` through the components that the binary carries, by its own command.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at the first surprise; clippy exempts only the test functions themselves"
)]

mod support;

use std::process::Command;
use std::time::Duration;
use support::{Done, Folder, binary, bounded, root};

/// Generous: the machine may be busy, and the binary is not optimised.
const LIMIT: Duration = Duration::from_secs(540);

/// Files with how many cases they have.
const FILES: [(&str, usize); 10] = [
    ("interpreter/native.ndjson.gz", 1860),
    ("names.ndjson", 48),
    ("overrides/cases.ndjson", 500),
    ("scheduling/bench-100.json.gz", 500),
    ("scheduling/bench-1000.json.gz", 500),
    ("scheduling/bench-5000.json.gz", 500),
    ("scheduling/cases.ndjson", 1200),
    ("scheduling/components/cases.ndjson", 400),
    ("scheduling/extended/cases.ndjson", 600),
    ("scheduling/large/cases.ndjson", 240),
];

fn conformance(folder: &std::path::Path, more: &[&str]) -> Done {
    let mut command = Command::new(binary());
    command.arg("conformance").arg(folder).args(more);
    bounded(&mut command, None, LIMIT, |_| false)
}

#[test]
fn all_vectors_pass_or_are_listed() {
    let done = conformance(&root().join("tests/conformance"), &[]);
    assert_eq!(done.code, Some(0), "{}\n{}", done.stdout, done.stderr);
    for (file, count) in FILES {
        let line = done.stdout.lines().find(|line| line.starts_with(&format!("{file} ")));
        let line = line.unwrap_or_else(|| panic!("no {file} in\n{}", done.stdout));
        let counts: Vec<usize> = line.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
        assert_eq!((counts[0] + counts[2], counts[1]), (count, 0), "{line}");
    }
}

#[test]
fn a_difference_fails_and_is_shown_in_full() {
    let folder = Folder::new();
    let case = |id: &str, expected: &str| {
        format!(
            r#"{{"id":"{id}","fleet":"one","spec":{{"resource":{{"apiVersion":"v1","kind":"ConfigMap"}},"placement":{{}}}},"expect":{expected}}}"#
        )
    };
    let clusters = r#"[{"name":"one","clusters":[{"metadata":{"name":"m1"},"status":{"apiEnablements":[{"groupVersion":"v1","resources":[{"kind":"ConfigMap"}]}]}}]}]"#;
    let cases =
        [case("right", r#"{"clusters":[{"name":"m1"}]}"#), case("wrong", r#"{"error":"NoClusterFit"}"#)];
    std::fs::write(folder.join("fleets.json"), clusters).unwrap();
    std::fs::write(folder.join("cases.ndjson"), cases.join("\n")).unwrap();
    let done = conformance(folder.path(), &["--show"]);
    assert_eq!(done.code, Some(1), "{}\n{}", done.stdout, done.stderr);
    let shown = "cases.ndjson wrong: FAILED\n     got {\"clusters\":[{\"name\":\"m1\"}]}\n  expect {\"error\":\"NoClusterFit\"}";
    assert!(done.stdout.contains(shown), "{}", done.stdout);

    std::fs::remove_file(folder.join("cases.ndjson")).unwrap();
    let empty = conformance(folder.path(), &[]);
    assert_eq!(empty.code, Some(1), "{}", empty.stdout);
    assert!(empty.stderr.contains("has no vectors"), "{}", empty.stderr);
}
