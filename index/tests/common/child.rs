//! A test that must be able to die runs in a process of its own: the test binary once more, told by an environment
//! variable to play the child. The child's test function does nothing when it is run as an ordinary test.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::Metadata;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The folder that the child works in; that it is set makes a process the child.
const FOLDER: &str = "PRESSMARK_TEST_FOLDER";

/// The child's folder, in the child.
pub fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// The arguments with which this test binary runs one test only.
fn only(test: &str) -> [OsString; 4] {
    ["--exact", test, "--nocapture", "--test-threads=1"].map(OsString::from)
}

/// The test `test` of this binary as a child that works in `folder`.
pub fn child(test: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(only(test)).env(FOLDER, folder);
    command
}

/// The same, started by the shell script `before`, in which `"$@"` stands for the child.
pub fn child_after(before: &str, test: &str, folder: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", before, "sh"]).arg(std::env::current_exe().unwrap());
    command.args(only(test)).env(FOLDER, folder);
    command
}

/// The same with a small file system in memory as its folder, in a mount namespace that ends with the child.
pub fn child_on_tmpfs(mebibytes: u32, test: &str, folder: &Path) -> Command {
    let may_mount =
        Command::new("unshare").args(["--mount", "true"]).stderr(Stdio::null()).status();
    let as_root: &[&str] = match may_mount {
        Ok(status) if status.success() => &["--mount"],
        _ => &["--user", "--map-root-user", "--mount"],
    };
    let script =
        format!("mount -t tmpfs -o size={mebibytes}m pressmark-test \"${FOLDER}\" && exec \"$@\"");
    let mut command = Command::new("unshare");
    command.args(as_root).args(["sh", "-c", &script, "sh"]);
    command.arg(std::env::current_exe().unwrap()).args(only(test)).env(FOLDER, folder);
    command
}

/// The library of `tests/shim/disk.c`, and the folder through which it is told what to do.
pub struct Disk {
    shim_library: PathBuf,
    control: tempfile::TempDir,
}

impl Disk {
    /// Builds the library with the C compiler that built RocksDB.
    pub fn new() -> Disk {
        let control = tempfile::tempdir().unwrap();
        let library = control.path().join("disk.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/shim/disk.c");
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let built = Command::new(compiler)
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
            .args([&library, &source])
            .status();
        assert!(built.unwrap().success());
        Disk { shim_library: library, control }
    }

    /// Puts the disk under `folder` into the library's hands, for this child.
    pub fn attach<'c>(&self, command: &'c mut Command, folder: &Path) -> &'c mut Command {
        command
            .env("LD_PRELOAD", &self.shim_library)
            .env("DISK_CONTROL", self.control.path())
            .env("DISK_UNDER", folder)
    }

    /// Takes away what was not synced from the files in `folder`, as a power cut does; the number of bytes lost.
    pub fn cut_power(&self, folder: &Path) -> u64 {
        let journal = std::fs::read_to_string(self.control.path().join("synced")).unwrap();
        let mut synced = HashMap::new();
        for line in journal.lines() {
            let (inode, size) = line.split_once(' ').unwrap();
            let (inode, size): (u64, u64) = (inode.parse().unwrap(), size.parse().unwrap());
            // Two threads may note their syncs of one file in either order; only a new file begins again.
            let kept = synced.entry(inode).or_insert(0);
            *kept = if size == 0 { 0 } else { size.max(*kept) };
        }
        let mut lost = 0;
        for (path, found) in files(folder) {
            let kept = synced.get(&found.ino()).copied().unwrap_or(0).min(found.len());
            lost += found.len() - kept;
            std::fs::File::options().write(true).open(path).unwrap().set_len(kept).unwrap();
        }
        lost
    }

    /// What is in the folder now, the next power cut leaves: after the parent has worked in it.
    pub fn all_is_synced(&self, folder: &Path) {
        let journal: String = files(folder)
            .into_iter()
            .map(|(_, found)| format!("{} {}\n", found.ino(), found.len()))
            .collect();
        std::fs::write(self.control.path().join("synced"), journal).unwrap();
    }
}

/// All files under a folder.
fn files(folder: &Path) -> Vec<(PathBuf, Metadata)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let found = entry.metadata().unwrap();
        if found.is_dir() {
            all.extend(files(&entry.path()));
        } else {
            all.push((entry.path(), found));
        }
    }
    all
}

/// In the child: makes each call of that kind fail from now on, or no longer.
pub fn fail(kind: &str, error: Option<i32>) {
    let file = Path::new(&std::env::var_os("DISK_CONTROL").unwrap()).join(kind);
    match error {
        Some(error) => std::fs::write(file, error.to_string()).unwrap(),
        None => std::fs::remove_file(file).unwrap(),
    }
}

/// A line for the parent. Not `println!`, whose pieces other threads could come between.
pub fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

#[track_caller]
pub fn check_success(output: &Output) {
    assert!(
        output.status.success(),
        "{}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
