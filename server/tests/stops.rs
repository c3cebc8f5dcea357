//! A server that is stopped or killed at any moment while it reads documents: afterwards the full-text index is what the
//! store is. `PRESSMARK_TEST_STOPS` says how often it is stopped and killed (`10,5`); how long the stops took is printed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

const STOPS: usize = 10;
const KILLS: usize = 5;
/// A server is stopped within this time from when it serves on.
const MOMENT_MAX_MS: u64 = 1_500;
/// A stop that takes longer hangs. What a stop may take is measured, on a machine that does nothing else.
const HANG: Duration = Duration::from_secs(60);
/// Names of files of a kind; each round writes, changes and deletes some of them.
const NAMES: u64 = 60;

const CONFIGURATION: &str = r#"
[[extract]]
mime_type = "application/msword"
command = ["sh", "-c", "sleep 0.02; cat"]
"#;

/// A congruential generator (Knuth, MMIX): the same numbers for the same seed, everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A PDF file with one page of one line.
fn pdf(line: &str) -> Vec<u8> {
    let drawn = format!("BT /F1 12 Tf 72 720 Td ({line}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{drawn}\nendstream", drawn.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut file = String::from("%PDF-1.4\n");
    let mut offsets = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        writeln!(file, "{} 0 obj\n{object}\nendobj", at + 1).unwrap();
    }
    let (xref, size) = (file.len(), objects.len() + 1);
    write!(file, "xref\n0 {size}\n0000000000 65535 f \n").unwrap();
    offsets.iter().for_each(|offset| writeln!(file, "{offset:010} 00000 n ").unwrap());
    write!(file, "trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n").unwrap();
    file.into_bytes()
}

/// Changes what the folder holds: plain texts, documents that a command reads, and PDF files.
fn change(folder: &Path, round: usize, random: &mut Random) {
    for (kind, count) in [("txt", 40), ("doc", 15), ("pdf", 4)] {
        for _ in 0..count {
            let path = folder.join(format!("n{}.{kind}", random.below(NAMES)));
            if random.below(5) == 0 {
                let _ = fs::remove_file(path);
                continue;
            }
            let text = format!("word of round {round}, {}", random.below(1_000));
            let bytes = if kind == "pdf" { pdf(&text) } else { text.into_bytes() };
            fs::write(path, bytes).unwrap();
        }
    }
}

fn pressmark(at: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pressmark"));
    command.args(arguments).args(["--data", "data", "--config", "pressmark.toml"]);
    command.current_dir(at).env("HOME", at).stdin(Stdio::null());
    command
}

fn serve(at: &Path, round: usize) -> Child {
    let log = fs::File::create(at.join(format!("log{round}"))).unwrap();
    let listen = ["--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"];
    let mut command = pressmark(at, &[&["serve", "folder"][..], &listen].concat());
    command.stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

/// Waits for the end of the server, for that long at most.
fn has_ended(server: &Child, at_most: Duration) -> bool {
    let ended = pidfd_open(Pid::from_child(server), PidfdFlags::empty()).unwrap();
    let at_most = Timespec::try_from(at_most).unwrap();
    poll(&mut [PollFd::new(&ended, PollFlags::IN)], Some(&at_most)).unwrap() > 0
}

/// Ends the server with a signal; returns how long that took.
fn end(mut server: Child, signal: Signal, log: &Path) -> Duration {
    let begun = Instant::now();
    kill_process(Pid::from_child(&server), signal).unwrap();
    if !has_ended(&server, HANG) {
        server.kill().unwrap();
        panic!("{signal:?}: it goes on\n{}", fs::read_to_string(log).unwrap());
    }
    let took = begun.elapsed();
    let status = server.wait().unwrap();
    // One that had no time to begin listening to signals ends by them.
    let is_early = std::os::unix::process::ExitStatusExt::signal(&status) == Some(signal.as_raw());
    let said = || fs::read_to_string(log).unwrap();
    assert!(status.success() || is_early, "{signal:?}: {status}\n{}", said());
    took
}

#[track_caller]
fn check_index(at: &Path, round: usize) {
    let output = pressmark(at, &["verify", "--json"]).output().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "round {round}: {report}\n{said}");
}

#[test]
fn the_index_is_what_the_store_is_after_a_stop_and_after_a_kill() {
    let asked = std::env::var("PRESSMARK_TEST_STOPS").ok();
    let asked = asked.as_deref().and_then(|asked| asked.split_once(','));
    let (stops, kills) = asked
        .map_or((STOPS, KILLS), |(stops, kills)| (stops.parse().unwrap(), kills.parse().unwrap()));
    let temporary = tempfile::tempdir().unwrap();
    let at = temporary.path();
    fs::create_dir(at.join("folder")).unwrap();
    fs::write(at.join("pressmark.toml"), CONFIGURATION).unwrap();
    let mut random = Random(76);
    let mut times = Vec::new();
    for round in 0..stops + kills {
        change(&at.join("folder"), round, &mut random);
        if at.join("data/full_text").exists() && random.below(3) == 0 {
            // All resources are looked at.
            fs::remove_dir_all(at.join("data/full_text")).unwrap();
        }
        let server = serve(at, round);
        let log = at.join(format!("log{round}"));
        // Before it listens to signals, one that its parent ignores would be lost.
        while !fs::read_to_string(&log).unwrap().contains("serving MCP") {
            assert!(!has_ended(&server, Duration::from_millis(5)), "round {round}");
        }
        let moment = Duration::from_millis(random.below(MOMENT_MAX_MS));
        assert!(!has_ended(&server, moment), "{}", fs::read_to_string(log).unwrap());
        // Kills are spread among stops.
        let is_kill = round * kills / (stops + kills) != (round + 1) * kills / (stops + kills);
        let signal = match (is_kill, random.below(2)) {
            (true, _) => Signal::KILL,
            (false, 0) => Signal::INT,
            (false, _) => Signal::TERM,
        };
        let took = end(server, signal, &at.join(format!("log{round}")));
        if !is_kill {
            times.push(took);
        }
        if at.join("data/store").is_dir() {
            check_index(at, round);
        }
    }
    times.sort_unstable();
    let (median, longest) = (times.get(times.len() / 2), times.last());
    println!("{stops} stops, {kills} kills; median of a stop {median:?}, longest {longest:?}");
}
