//! A folder with a configuration and files to load.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use expect_test::Expect;

const CONFIG: &str = r#"
[storage]
path = "store"

[[space]]
name = "pypi"
uri_template = "pypi://packages/{name}"
mime_type = "text/plain"

[space.columns]
name = "variables.name"
version = "title"
summary = "text"
"#;

/// A folder with a configuration and files to load.
pub(crate) struct Shelf(tempfile::TempDir);

impl Shelf {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("pressmark.toml"), CONFIG).unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn run(&self, arguments: &[&str], stdin: &[u8]) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pressmark"))
            .args(arguments)
            .args(["--log", "warn"])
            .current_dir(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin).unwrap();
        child.wait_with_output().unwrap()
    }

    /// Loads and compares the exit code and the lines of stderr, sorted: lanes print in no certain order.
    #[track_caller]
    pub(crate) fn load(&self, arguments: &[&str], stdin: &[u8], wanted: &Expect) {
        let output = self.run(&[&["load", "pypi"], arguments].concat(), stdin);
        assert_eq!(output.stdout, b"");
        let text = String::from_utf8(output.stderr).unwrap();
        // Said when indexing takes longer than a moment, which it may on a busy machine.
        let waits = |line: &&str| !line.ends_with("is being brought up to date");
        let mut lines: Vec<&str> = text.lines().filter(waits).collect();
        lines.sort_unstable();
        wanted.assert_eq(&format!(
            "exit {}\n{}\n",
            output.status.code().unwrap(),
            lines.join("\n")
        ));
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let output = self.run(&["read", &format!("pypi://packages/{name}")], b"");
        assert_eq!(output.status.code(), Some(0), "{name}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Bytes of the store's log, which whoever opens it replays.
    pub(crate) fn log_bytes(&self) -> u64 {
        let files = std::fs::read_dir(self.path().join("store/store")).unwrap();
        let logs = files.map(|file| file.unwrap().path());
        let logs = logs.filter(|path| path.extension().is_some_and(|extension| extension == "log"));
        logs.map(|path| path.metadata().unwrap().len()).sum()
    }

    pub(crate) fn list(&self) -> String {
        String::from_utf8(self.run(&["list"], b"").stdout).unwrap()
    }
}

pub(crate) fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}
