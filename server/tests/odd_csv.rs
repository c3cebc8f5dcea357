//! CSV of any bytes beside a strict reader: what is not refused with its line goes in, byte for byte, and no line is lost.
//!
//! `PRESSMARK_ODD_CSV_FILES` is the number of files; releases are checked with 100,000.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use parking_lot::Mutex;
use pressmark::loading::Batch;
use pressmark::loading::destination::{Destination, Fault, Tally};
use pressmark::loading::format::{Quoting, RecordFormat};
use pressmark::loading::pipeline::{LoadPlan, LoadSpace, load};
use pressmark::loading::progress::Progress;
use pressmark::loading::refusals::{Form, Refusals};
use pressmark_index::mutation::Mutation;
use pressmark_index::resource::{Address, Body, Resource, Value};
use pressmark_index::uri_template::UriTemplate;

/// Files that are checked where nothing else is said.
const FILE_COUNT: usize = 3_000;
const FILES_PER_LOAD: usize = 500;
const SEED: u64 = 0x5eed_0f0d_dc57;

type Record = [String; 3];

/// What became of one file: records and reasons by their lines.
#[derive(Default)]
struct Outcome {
    records: BTreeMap<u64, Record>,
    refused: BTreeMap<u64, String>,
    failed: Option<String>,
}

/// Keeps what is loaded, with the file and line of each record.
#[derive(Default)]
struct Kept(Mutex<Vec<(usize, u64, Record)>>);

impl Destination for Kept {
    fn commit_all(
        &self,
        batches: &mut dyn Iterator<Item = Batch>,
        _tell: &(dyn Fn(Tally) + Sync),
    ) -> Result<(), Fault> {
        for batch in batches {
            for (line, mutation) in batch.lines.into_iter().zip(batch.mutations) {
                let Mutation::Put(resource) = mutation else { panic!("a load only puts") };
                self.0.lock().push((batch.file, line, record(*resource)));
            }
        }
        Ok(())
    }
}

fn record(resource: Resource) -> Record {
    let Address::Variables(bindings) = resource.address else { panic!("variables") };
    let name = match &bindings[0].value {
        Value::String(name) => name.clone(),
        other => panic!("{other:?}"),
    };
    let Body::Text(text) = &resource.contents[0].body else { panic!("a text") };
    [name, text.clone(), resource.title.unwrap_or_default()]
}

/// A xorshift generator: the same files on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(bound).unwrap()).unwrap()
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const PIECES: [&str; 18] = [
    "a", "b c", "é", "日", "\"", "\"\"", ",", "\n", "\r\n", "\r", " ", "\t", "\0", "5\"", "x,y",
    ";", "\u{feff}", "\"z\"",
];

/// A file: well-formed rows with some damage, or pieces in any order.
fn odd_file(dice: &mut Dice) -> Vec<u8> {
    let line_end = dice.of(&["\n", "\r\n", "\n"]);
    let mut text = dice.of(&["", "", "", "\u{feff}"]).to_owned();
    text.push_str("variables.name,text,title");
    text.push_str(line_end);
    let wild = dice.below(4) == 0;
    for number in 0..dice.below(12) {
        if wild {
            for _ in 0..dice.below(8) {
                text.push_str(dice.of(&PIECES));
            }
        } else {
            let fields = [format!("n{number}"), field(dice), field(dice)];
            text.push_str(&fields.join(","));
        }
        text.push_str(line_end);
    }
    let header_bytes = text.find('\n').unwrap() + 1;
    let mut bytes = text.into_bytes();
    for _ in 0..dice.below(3) {
        let at = header_bytes + dice.below(bytes.len() - header_bytes + 1);
        match dice.below(4) {
            0 => bytes.truncate(at),
            1 => drop(bytes.splice(at..at, dice.of(&PIECES).bytes())),
            2 if at < bytes.len() => drop(bytes.remove(at)),
            _ => bytes.insert(at.min(bytes.len()), b'"'),
        }
    }
    bytes
}

/// A field as a careful writer writes it, or a careless one.
fn field(dice: &mut Dice) -> String {
    let text: String = (0..dice.below(4)).map(|_| dice.of(&PIECES)).collect();
    match dice.below(8) {
        0 => text.replace([',', '\n', '\r'], ""),
        1 => format!("\"{text}"),
        _ => format!("\"{}\"", text.replace('"', "\"\"")),
    }
}

/// RFC 4180 to the letter, but for line ends that may be LF alone: the fields of the row that begins at `at`, and where it ends.
fn strict_row(text: &[u8], mut at: usize) -> Option<(Vec<Vec<u8>>, usize)> {
    let mut fields = Vec::new();
    loop {
        let mut field = Vec::new();
        if text.get(at) == Some(&b'"') {
            at += 1;
            loop {
                match (text.get(at)?, text.get(at + 1)) {
                    (b'"', Some(b'"')) => {
                        field.push(b'"');
                        at += 2;
                    }
                    (b'"', _) => {
                        at += 1;
                        break;
                    }
                    (byte, _) => {
                        field.push(*byte);
                        at += 1;
                    }
                }
            }
        } else {
            while let Some(byte) = text.get(at)
                && !b",\n\r".contains(byte)
            {
                if *byte == b'"' {
                    return None;
                }
                field.push(*byte);
                at += 1;
            }
        }
        fields.push(field);
        if text.get(at) == Some(&b',') {
            at += 1;
        } else {
            return Some((fields, line_end(text, at)?));
        }
    }
}

/// Where the line end at `at` ends; at the end of the file a CR may lack its LF.
fn line_end(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at..).unwrap_or_default() {
        [] => Some(at),
        [b'\n', ..] | [b'\r'] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    }
}

/// The one thing that is taken beyond RFC 4180: in a row of one line, quotes inside fields that are not quoted.
fn lenient_line(text: &[u8], at: usize) -> Option<(Vec<Vec<u8>>, usize)> {
    let content_end =
        text[at..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |n| at + n);
    let line = &text[at..content_end];
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // A stand-in for each quote that does not begin a field makes the line one that is strict, if it can be.
    let mut marked = Vec::new();
    let (mut begins, mut quoted) = (true, false);
    let mut bytes = line.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if begins => quoted = true,
            b'"' if quoted && bytes.peek() == Some(&b'"') => {
                marked.push(b'"');
                bytes.next();
            }
            b'"' if quoted => quoted = false,
            b'"' => {
                let field = marked.rsplit(|byte| *byte == b',').next().unwrap();
                if field.iter().all(|byte| b" \t".contains(byte)) {
                    return None;
                }
                marked.push(1);
                begins = false;
                continue;
            }
            _ => {}
        }
        begins = byte == b',' && !quoted;
        marked.push(byte);
    }
    let (fields, end) = strict_row(&marked, 0)?;
    (end == marked.len() && !marked.ends_with(b"\r")).then_some(())?;
    let unmark =
        |field: Vec<u8>| field.into_iter().map(|b| if b == 1 { b'"' } else { b }).collect();
    let next = line_end(text, at + line.len())?;
    Some((fields.into_iter().map(unmark).collect(), next))
}

/// Walks through the file as the documentation says it is read, and accounts for each line.
fn check(file: &[u8], quoting: Quoting, mut outcome: Outcome) -> (usize, usize) {
    let shown = String::from_utf8_lossy(file).into_owned();
    assert_eq!(outcome.failed, None, "{shown:?}");
    let counts = (outcome.records.len(), outcome.refused.len());
    let text = file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file);
    let line_of = |at: usize| 1 + text[..at].iter().filter(|byte| **byte == b'\n').count() as u64;
    let next_line =
        |at: usize| text[at..].iter().position(|b| *b == b'\n').map_or(text.len(), |n| at + n + 1);
    let mut at = next_line(0);
    while at < text.len() {
        if let Some(next) = line_end(text, at) {
            at = next;
            continue;
        }
        let line = line_of(at);
        let strict = strict_row(text, at);
        let place = || format!("line {line} of {shown:?}");
        if let Some(reason) = outcome.refused.remove(&line) {
            let (fields, next) = strict.or_else(|| lenient_line(text, at)).unwrap_or_default();
            let is_utf8 = fields.iter().all(|field| std::str::from_utf8(field).is_ok());
            if fields.len() == 3 && is_utf8 && !fields[0].is_empty() {
                let guards = quoting == Quoting::Cautious && reason.contains("look like rows");
                assert!(guards, "{} is refused: {reason}", place());
            }
            // Only a row that is no row, or one over several lines that hides others, is left at its first line.
            let several_lines = fields.iter().any(|field| field.contains(&b'\n'));
            let hides = several_lines && (fields.len() != 3 || reason.contains("look like rows"));
            at = if next > 0 && !hides { next } else { next_line(at) };
            continue;
        }
        let Some(record) = outcome.records.remove(&line) else { panic!("lost: {}", place()) };
        let (fields, next) =
            strict.or_else(|| lenient_line(text, at)).unwrap_or_else(|| panic!("{}", place()));
        let loaded: Vec<&[u8]> = record.iter().map(String::as_bytes).collect();
        assert_eq!(fields, loaded, "{}", place());
        at = next;
    }
    assert!(outcome.records.is_empty() && outcome.refused.is_empty(), "invented: {shown:?}");
    counts
}

fn load_all(files: &[Vec<u8>], quoting: Quoting) -> Vec<Outcome> {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> =
        (0..files.len()).map(|number| folder.path().join(format!("{number}.csv"))).collect();
    for (path, bytes) in paths.iter().zip(files) {
        std::fs::write(path, bytes).unwrap();
    }
    let plan = LoadPlan {
        files: paths,
        format: Some(RecordFormat::Csv),
        quoting: Some(quoting),
        delimiter: None,
        columns: Vec::new(),
    };
    let matcher = UriTemplate::parse("odd://csv/{name}").unwrap().matcher().unwrap();
    let space = LoadSpace { name: "odd".to_owned(), matcher };
    let progress = Progress::quiet(&plan.files);
    let errors = folder.path().join("refused.ndjson");
    let refusals = Refusals::new(&progress, Form::Json, 0, Some(File::create(&errors).unwrap()));
    let kept = Kept::default();
    load(&kept, &space, &plan, &progress, &refusals).1.unwrap();
    refusals.finish().unwrap();

    let mut outcomes: Vec<Outcome> = files.iter().map(|_| Outcome::default()).collect();
    for (file, line, record) in kept.0.into_inner() {
        assert_eq!(outcomes[file].records.insert(line, record), None);
    }
    for entry in std::fs::read_to_string(&errors).unwrap().lines() {
        let entry: serde_json::Value = serde_json::from_str(entry).unwrap();
        let path = PathBuf::from(entry["file"].as_str().unwrap());
        let file: usize = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        let reason = entry["reason"].as_str().unwrap().to_owned();
        match entry["line"].as_u64() {
            Some(line) => assert_eq!(outcomes[file].refused.insert(line, reason), None),
            None => outcomes[file].failed = Some(reason),
        }
    }
    outcomes
}

#[test]
fn what_is_not_refused_with_its_line_is_in_byte_for_byte() {
    let count = std::env::var("PRESSMARK_ODD_CSV_FILES").map_or(FILE_COUNT, |n| n.parse().unwrap());
    let mut dice = Dice(SEED);
    let (mut records, mut refused) = (0, 0);
    for _ in (0..count).step_by(FILES_PER_LOAD) {
        let files: Vec<Vec<u8>> = (0..FILES_PER_LOAD).map(|_| odd_file(&mut dice)).collect();
        for quoting in [Quoting::Cautious, Quoting::Double] {
            for (file, outcome) in files.iter().zip(load_all(&files, quoting)) {
                let counts = check(file, quoting, outcome);
                records += counts.0;
                refused += counts.1;
            }
        }
    }
    // Both kinds are there in numbers, or the files test nothing.
    assert!(records > count * 2 && refused > count / 2, "{records} records, {refused} refused");
    println!("{count} files: {records} records, {refused} refused");
}
