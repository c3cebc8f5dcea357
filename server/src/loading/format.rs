//! How records are written in a file, and how a file's name says so.

use std::path::Path;

use clap::ValueEnum;

/// Extensions that say how a file is compressed; its content decides, see [`super::input`].
const COMPRESSED: [&str; 4] = ["gz", "gzip", "zst", "zstd"];

/// How records are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecordFormat {
    /// One JSON object a line
    Ndjson,
    /// Columns between commas, with a header; fields may stand in quotes (RFC 4180)
    Csv,
    /// Columns between tabs, with a header; every character but tab and line end stands for itself
    Tsv,
}

/// Whether fields of CSV and TSV may stand in quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Quoting {
    /// As `double`, but a field over several lines that look like rows is refused: its quote may not be closed
    Cautious,
    /// A field may stand in `"`, with `""` for a quote; it may hold separators and line ends
    Double,
    /// A quote is a character like any other
    None,
}

/// How rows are cut into fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    /// The byte between two fields.
    pub delimiter: u8,
    /// Whether fields may stand in quotes.
    pub quoting: Quoting,
}

// === impl RecordFormat ===

impl RecordFormat {
    /// By the extension of the name, with or without one of a compression: `packages.tsv.zst`.
    pub fn of_name(path: &Path) -> Option<Self> {
        let extension = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
        let mut last = extension(path)?;
        if COMPRESSED.contains(&last.as_str()) {
            last = extension(Path::new(path.file_stem()?))?;
        }
        match last.as_str() {
            "ndjson" | "jsonl" | "ldjson" => Some(Self::Ndjson),
            "csv" => Some(Self::Csv),
            "tsv" | "tab" => Some(Self::Tsv),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_the_format() {
        for (name, wanted) in [
            ("a/b.ndjson", Some(RecordFormat::Ndjson)),
            ("b.JSONL.GZ", Some(RecordFormat::Ndjson)),
            ("b.csv", Some(RecordFormat::Csv)),
            ("b.2026.tsv.zst", Some(RecordFormat::Tsv)),
            ("b.tab", Some(RecordFormat::Tsv)),
            ("b.json", None),
            ("b.gz", None),
            ("csv", None),
            (".csv", None),
            ("-", None),
        ] {
            assert_eq!(RecordFormat::of_name(Path::new(name)), wanted, "{name}");
        }
    }
}
