//! A store with documents that ended the process of an older version, each time that it read them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::json;

/// A drawing that draws itself: the library that reads it follows it until its stack ends.
const ENDLESS_PDF: &str = "%PDF-1.4\n\
    1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n\
    2 0 obj\n<< /Type /Pages /Count 1 /Kids [3 0 R] >>\nendobj\n\
    3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 5 0 R /Resources << /XObject << /F 4 0 R >> >> >>\nendobj\n\
    4 0 obj\n<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 5 /Resources << /XObject << /F 4 0 R >> >> >>\nstream\n/F Do\nendstream\nendobj\n\
    5 0 obj\n<< /Length 5 >>\nstream\n/F Do\nendstream\nendobj\n";

/// The file with the table of its objects.
fn endless_pdf() -> String {
    let mut file = ENDLESS_PDF.to_owned();
    let places: Vec<usize> =
        (1..=5).map(|number| file.find(&format!("\n{number} 0 obj")).unwrap() + 1).collect();
    let table = file.len();
    file.push_str("xref\n0 6\n0000000000 65535 f \n");
    places.iter().for_each(|place| file.push_str(&format!("{place:010} 00000 n \n")));
    file.push_str(&format!("trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"));
    file
}

fn pressmark(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pressmark"))
        .args(arguments)
        .args(["--config", "pressmark.toml", "--data", "store"])
        .current_dir(folder)
        .env("HOME", folder)
        .env("PRESSMARK_LOG", "warn")
        .output()
        .unwrap()
}

fn configure(folder: &Path, full_text: &str) {
    let config = format!(
        "[full_text]\n{full_text}\n[[space]]\nname = \"docs\"\nuri_template = \"docs://library/{{name}}\"\n\
         [[extract]]\nmime_type = \"x/missing\"\ncommand = [\"no-such-program\"]\n"
    );
    std::fs::write(folder.join("pressmark.toml"), config).unwrap();
}

#[test]
fn a_poisoned_store_serves_everything_else_and_says_what_it_passes_over() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let wide = format!("<p>zebra <a {}>within</a>", "b=\"c\" ".repeat(27_558));
    let pdf = base64_simd::STANDARD.encode_to_string(endless_pdf());
    let records = [
        json!({"variables": {"name": "first"}, "mimeType": "text/html", "text": "<p>zebra one"}),
        json!({"variables": {"name": "wide"}, "mimeType": "text/html", "text": wide}),
        json!({"variables": {"name": "endless"}, "mimeType": "application/pdf", "blob": pdf}),
        json!({"variables": {"name": "command-1"}, "mimeType": "x/missing", "text": "a"}),
        json!({"variables": {"name": "command-2"}, "mimeType": "x/missing", "text": "b"}),
        json!({"variables": {"name": "last"}, "mimeType": "text/plain", "text": "zebra two"}),
    ];
    let lines: Vec<String> = records.iter().map(ToString::to_string).collect();
    std::fs::write(folder.join("records.ndjson"), lines.join("\n")).unwrap();
    // The documents are in the store, and nobody has read them yet.
    configure(folder, "enabled = false");
    let loaded = pressmark(folder, &["load", "docs", "records.ndjson"]);
    assert!(loaded.status.success(), "{loaded:?}");
    configure(folder, "enabled = true");
    let found = pressmark(folder, &["search", "zebra"]);
    let (shown, said) =
        (String::from_utf8(found.stdout).unwrap(), String::from_utf8(found.stderr).unwrap());
    assert!(found.status.success(), "{shown} {said}");
    for name in ["first", "wide", "last"] {
        assert!(shown.contains(&format!("docs://library/{name}")), "{name}: {shown} {said}");
    }
    let lines = |what: &str| said.lines().filter(|line| line.contains(what)).count();
    assert_eq!(lines("docs://library/endless"), 1, "{said}");
    assert_eq!(lines("no-such-program"), 1, "{said}");
    // The next start does not read it again, and finds it by its name.
    let found = pressmark(folder, &["search", "endless"]);
    assert!(String::from_utf8(found.stdout).unwrap().contains("docs://library/endless"));
    assert!(!String::from_utf8(found.stderr).unwrap().contains("passed over"));
    let checked = pressmark(folder, &["verify"]);
    assert!(checked.status.success(), "{checked:?}");
    let read = pressmark(folder, &["read", "docs://library/endless"]);
    assert!(read.status.success() && read.stdout.starts_with(b"%PDF-1.4"));
}
