//! Rows of CSV and TSV: fields between separators.
//!
//! Without quotes a row is a line, and every byte of a field stands for itself: so TSV is registered
//! (`text/tab-separated-values`) and written by most programs; quotes in it are text. With quotes it is RFC 4180, read as
//! leniently as others do by `csv-core`. Of the `csv` family only the core is used: it lets a row be bounded and the end
//! of the file be told from the end of a quoted field.

use std::io::{self, BufRead as _};
use std::ops::Range;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::format::{Dialect, Quoting};
use super::input::Input;
use super::lines::{LINE_BYTES_MAX, Line, LineReader};

/// A row with more fields is refused.
pub(super) const FIELD_COUNT_MAX: usize = 10_000;
/// The buffers of a row begin with room for so much; they grow by doubling.
const ROW_BYTES: usize = 4 * 1024;
const ROW_FIELDS: usize = 64;

/// The fields of one row.
#[derive(Debug, Default)]
pub(super) struct Row {
    bytes: Vec<u8>,
    /// Where the fields are in `bytes`.
    fields: Vec<Range<usize>>,
}

/// What was read where a row is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowRead {
    /// The row is filled.
    Whole,
    /// The line is too long or has too many fields; the next one is read next.
    TooLarge,
    /// No end of the row was found, as behind a quote that is not closed; nothing can be read after it.
    Endless,
    /// There is no further one.
    End,
}

/// Reads a file row by row.
pub(super) enum RowReader {
    /// Quotes are text.
    Lines(LineRows),
    /// Fields may stand in quotes.
    Quoted(Box<QuotedRows>),
}

/// Rows that are lines.
pub(super) struct LineRows {
    lines: LineReader,
    delimiter: u8,
    /// Whether lines end in `\r\n`, as the first one does. In a file whose lines do not, a `\r` is text.
    carriage_returns: Option<bool>,
}

/// Rows whose fields may hold line ends.
pub(super) struct QuotedRows {
    input: Input,
    reader: Reader,
    bytes_max: usize,
    /// Line ends that were read.
    lines_read: u64,
    row_line: u64,
    ends: Vec<usize>,
    lost: bool,
}

// === impl Row ===

impl Row {
    pub(super) fn field_count(&self) -> usize {
        self.fields.len()
    }

    pub(super) fn field(&self, at: usize) -> Option<&[u8]> {
        self.bytes.get(self.fields.get(at)?.clone())
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = &[u8]> {
        self.fields.iter().map(|field| self.bytes.get(field.clone()).unwrap_or_default())
    }

    /// The size of its fields.
    pub(super) fn len(&self) -> usize {
        self.fields.last().map_or(0, |field| field.end)
    }

    fn split(&mut self, line: &[u8], delimiter: u8) -> RowRead {
        self.bytes.clear();
        self.bytes.extend_from_slice(line);
        self.fields.clear();
        let mut start = 0;
        for end in memchr::memchr_iter(delimiter, line).chain([line.len()]) {
            if self.fields.len() == FIELD_COUNT_MAX {
                return RowRead::TooLarge;
            }
            self.fields.push(start..end);
            start = end + 1;
        }
        RowRead::Whole
    }
}

// === impl RowReader ===

impl RowReader {
    pub(super) fn new(input: Input, dialect: Dialect) -> Self {
        Self::bounded(input, dialect, LINE_BYTES_MAX)
    }

    fn bounded(input: Input, Dialect { delimiter, quoting }: Dialect, bytes_max: usize) -> Self {
        match quoting {
            Quoting::None => Self::Lines(LineRows {
                lines: LineReader::new(input, bytes_max),
                delimiter,
                carriage_returns: None,
            }),
            Quoting::Double => Self::Quoted(Box::new(QuotedRows {
                input,
                reader: ReaderBuilder::new().delimiter(delimiter).build(),
                bytes_max,
                lines_read: 0,
                row_line: 0,
                ends: Vec::new(),
                lost: false,
            })),
        }
    }

    /// The line on which the row begins that was read last.
    pub(super) fn line(&self) -> u64 {
        match self {
            Self::Lines(rows) => rows.lines.number(),
            Self::Quoted(rows) => rows.row_line,
        }
    }

    /// The next row; empty lines are none.
    pub(super) fn next(&mut self, row: &mut Row) -> io::Result<RowRead> {
        match self {
            Self::Lines(rows) => rows.next(row),
            Self::Quoted(rows) => rows.next(row),
        }
    }
}

// === impl LineRows ===

impl LineRows {
    fn next(&mut self, row: &mut Row) -> io::Result<RowRead> {
        loop {
            let line = match self.lines.next()? {
                None => return Ok(RowRead::End),
                Some(Line::TooLong) => return Ok(RowRead::TooLarge),
                Some(Line::Whole(line)) => line,
            };
            let line = match line.strip_suffix(b"\r") {
                Some(text) if *self.carriage_returns.get_or_insert(true) => text,
                _ => line,
            };
            self.carriage_returns.get_or_insert(false);
            if !line.is_empty() {
                return Ok(row.split(line, self.delimiter));
            }
        }
    }
}

// === impl QuotedRows ===

impl QuotedRows {
    fn next(&mut self, row: &mut Row) -> io::Result<RowRead> {
        if self.lost || !self.skip_line_ends()? {
            return Ok(RowRead::End);
        }
        self.row_line = self.lines_read + 1;
        row.fields.clear();
        let (mut filled, mut field_count) = (0, 0);
        loop {
            if filled >= self.bytes_max || field_count >= FIELD_COUNT_MAX {
                return Ok(self.lose(row));
            }
            // Where there is room for both, what the parser says is about the row and not about the room.
            grow(&mut row.bytes, filled, ROW_BYTES);
            grow(&mut self.ends, field_count, ROW_FIELDS);
            let input = self.input.fill_buf()?;
            let at_end = input.is_empty();
            // A line end ends the last row, unless it stands within quotes.
            let input = if at_end { b"\n" } else { input };
            let (result, read, written, ended) = self.reader.read_record(
                input,
                row.bytes.get_mut(filled..).unwrap_or_default(),
                self.ends.get_mut(field_count..).unwrap_or_default(),
            );
            filled += written;
            field_count += ended;
            if !at_end {
                self.lines_read += line_ends(input.get(..read).unwrap_or_default());
                self.input.consume(read);
            }
            match result {
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return Ok(RowRead::End),
                ReadRecordResult::InputEmpty
                | ReadRecordResult::OutputFull
                | ReadRecordResult::OutputEndsFull => {
                    if at_end && read > 0 {
                        return Ok(self.lose(row));
                    }
                }
            }
        }
        let mut start = 0;
        for end in self.ends.iter().take(field_count) {
            row.fields.push(start..*end);
            start = *end;
        }
        Ok(RowRead::Whole)
    }

    /// Passes empty lines by, so that a row's line is the one on which it begins; false at the end.
    fn skip_line_ends(&mut self) -> io::Result<bool> {
        loop {
            let input = self.input.fill_buf()?;
            let skipped = input.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let found = skipped < input.len();
            self.lines_read += line_ends(input.get(..skipped).unwrap_or_default());
            self.input.consume(skipped);
            if found || skipped == 0 {
                return Ok(found);
            }
        }
    }

    /// What was taken for a row may be the rest of the file: its memory is given back.
    fn lose(&mut self, row: &mut Row) -> RowRead {
        self.lost = true;
        *row = Row::default();
        RowRead::Endless
    }
}

fn grow<T: Clone + Default>(buffer: &mut Vec<T>, filled: usize, least: usize) {
    if filled >= buffer.len() {
        buffer.resize((filled * 2).max(least), T::default());
    }
}

fn line_ends(bytes: &[u8]) -> u64 {
    u64::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const CSV: Dialect = Dialect { delimiter: b',', quoting: Quoting::Double };
    const TSV: Dialect = Dialect { delimiter: b'\t', quoting: Quoting::None };

    fn rows(dialect: Dialect, text: &[u8], buffer_bytes: usize) -> String {
        let input = io::BufReader::with_capacity(buffer_bytes, io::Cursor::new(text.to_vec()));
        let mut reader = RowReader::bounded(Box::new(input), dialect, 40);
        let mut row = Row::default();
        let mut rows = String::new();
        loop {
            let read = reader.next(&mut row).unwrap();
            match read {
                RowRead::End => return rows,
                RowRead::TooLarge | RowRead::Endless => {
                    rows.push_str(&format!("{} {read:?}\n", reader.line()));
                }
                RowRead::Whole => {
                    let fields: Vec<_> = row.fields().map(String::from_utf8_lossy).collect();
                    rows.push_str(&format!("{} {fields:?}\n", reader.line()));
                }
            }
        }
    }

    #[track_caller]
    fn check(dialect: Dialect, text: &str, wanted: &Expect) {
        let whole = rows(dialect, text.as_bytes(), 1024);
        wanted.assert_eq(&whole);
        // Where the buffer happens to end must not matter.
        for buffer_bytes in 1..8 {
            assert_eq!(rows(dialect, text.as_bytes(), buffer_bytes), whole);
        }
    }

    #[test]
    fn without_quotes_every_character_is_text() {
        check(
            TSV,
            "a\tb\n\"x\ty\"\n\n\\N\t\\t\t\n\u{2028}\tr\r\n",
            &expect![[r#"
            1 ["a", "b"]
            2 ["\"x", "y\""]
            4 ["\\N", "\\t", ""]
            5 ["\u{2028}", "r\r"]
        "#]],
        );
        check(
            TSV,
            "a\tb\r\nx\ty\r\n\r\nz\t",
            &expect![[r#"
            1 ["a", "b"]
            2 ["x", "y"]
            4 ["z", ""]
        "#]],
        );
        check(
            TSV,
            "a\tb\n12345678901234567890123456789012345678901\nx\ty\n",
            &expect![[r#"
            1 ["a", "b"]
            2 TooLarge
            3 ["x", "y"]
        "#]],
        );
    }

    #[test]
    fn quoted_fields_hold_separators_and_line_ends() {
        check(
            CSV,
            "a,b\r\n\"1,\"\"2\"\"\",\"x\r\ny\n\"\r\n\r\n\n5\" disk,\n,z",
            &expect![[r#"
            1 ["a", "b"]
            2 ["1,\"2\"", "x\r\ny\n"]
            7 ["5\" disk", ""]
            8 ["", "z"]
        "#]],
        );
        check(
            Dialect { delimiter: b';', quoting: Quoting::None },
            "a;b\n\"x;y\"\n",
            &expect![[r#"
                1 ["a", "b"]
                2 ["\"x", "y\""]
            "#]],
        );
        check(CSV, "", &expect![[r#""#]]);
        check(CSV, "\n\r\n", &expect![[r#""#]]);
        check(
            CSV,
            "a",
            &expect![[r#"
            1 ["a"]
        "#]],
        );
        check(
            CSV,
            "\"\"",
            &expect![[r#"
            1 [""]
        "#]],
        );
        check(
            CSV,
            "a,\"\"",
            &expect![[r#"
            1 ["a", ""]
        "#]],
        );
    }

    #[test]
    fn a_quote_that_is_not_closed_does_not_swallow_rows() {
        check(
            CSV,
            "a,b\nx,\"y\nz,1\n",
            &expect![[r#"
            1 ["a", "b"]
            2 Endless
        "#]],
        );
        check(
            CSV,
            "a,b\nx,\"",
            &expect![[r#"
            1 ["a", "b"]
            2 Endless
        "#]],
        );
        let long = "z,1\n".repeat(2_000);
        check(
            CSV,
            &format!("a,b\n\nx,\"y\n{long}\",w\n"),
            &expect![[r#"
            1 ["a", "b"]
            3 Endless
        "#]],
        );
    }
}
