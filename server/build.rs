//! Tells the program from which commit it is built. The same sources of the same commit give the same text.

use std::process::Command;

/// Digits of a commit's name.
const COMMIT_DIGITS: &str = "--short=12";
/// What the program is made of, from this crate's folder.
const SOURCES: [&str; 6] =
    ["src", "build.rs", "Cargo.toml", "../Cargo.lock", "../index/src", "../proto"];
/// The commit, in an archive that `git archive` made.
const ARCHIVED: &str = "commit.txt";

fn main() {
    // Asked again whenever the program changes, so that no commit alone has everything compiled once more.
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    println!("cargo::rerun-if-changed={ARCHIVED}");
    println!("cargo::rerun-if-env-changed=PRESSMARK_COMMIT");
    let commit = given().or_else(of_archive).or_else(of_git);
    println!("cargo::rustc-env=PRESSMARK_COMMIT_BUILT={}", commit.unwrap_or_default());
}

/// What whoever packages it says.
fn given() -> Option<String> {
    std::env::var("PRESSMARK_COMMIT").ok().filter(|commit| is_plain(commit))
}

fn of_archive() -> Option<String> {
    let commit = std::fs::read_to_string(ARCHIVED).ok()?;
    Some(commit.trim().to_owned()).filter(|commit| is_plain(commit))
}

fn of_git() -> Option<String> {
    let commit = git(&["rev-parse", COMMIT_DIGITS, "HEAD"]).filter(|commit| is_plain(commit))?;
    let changes = git(&[&["status", "--porcelain", "--"], &SOURCES[..]].concat());
    // Of a tree that has changed, the commit alone would be a wrong answer.
    let is_changed = changes.is_none_or(|changes| !changes.is_empty());
    Some(if is_changed { format!("{commit}-modified") } else { commit })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok().filter(|_| output.status.success())?;
    Some(text.trim().to_owned())
}

fn is_plain(commit: &str) -> bool {
    !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
