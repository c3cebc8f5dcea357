//! Rows of CSV and TSV: fields between delimiters.
//!
//! Without quotes a row is a line, and every byte of a field stands for itself: so TSV is registered
//! (`text/tab-separated-values`) and written by most programs; quotes in it are text. With quotes it is RFC 4180, see
//! [`quoted`](super::quoted).

use std::io;
use std::ops::Range;

use super::format::{Dialect, Quoting};
use super::input::Input;
use super::lines::{LINE_BYTES_MAX, Line, LineReader};
use super::quoted::{QuotedRows, RowFault};

/// A row with more fields is refused.
pub(super) const FIELD_COUNT_MAX: usize = 10_000;

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
    /// Its quotes are wrong, or hide rows; the line behind its first one is read next.
    Malformed(RowFault),
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

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.fields.clear();
    }

    /// Adds a field; where quotes are doubled, one of each two is left out.
    pub(super) fn push(&mut self, text: &[u8], doubled_quotes: bool) {
        let start = self.bytes.len();
        if doubled_quotes {
            let mut rest = text;
            while let Some(quote) = memchr::memchr(b'"', rest) {
                self.bytes.extend_from_slice(rest.get(..=quote).unwrap_or_default());
                rest = rest.get(quote + 2..).unwrap_or_default();
            }
            self.bytes.extend_from_slice(rest);
        } else {
            self.bytes.extend_from_slice(text);
        }
        self.fields.push(start..self.bytes.len());
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
            Quoting::Cautious | Quoting::Double => {
                Self::Quoted(Box::new(QuotedRows::new(input, delimiter, quoting, bytes_max)))
            }
        }
    }

    /// The line on which the row begins that was read last.
    pub(super) fn line(&self) -> u64 {
        match self {
            Self::Lines(rows) => rows.lines.number(),
            Self::Quoted(rows) => rows.row_line(),
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const CSV: Dialect = Dialect { delimiter: b',', quoting: Quoting::Cautious };
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
                RowRead::TooLarge => rows.push_str(&format!("{} {read:?}\n", reader.line())),
                RowRead::Malformed(fault) => {
                    rows.push_str(&format!("{} {fault}\n", reader.line()));
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
    fn a_quote_that_is_not_closed_hides_no_rows() {
        check(
            CSV,
            "a,b\na,1\ne,\"open\nf,say \"hi\"\ng,fine\n",
            &expect![[r#"
                1 ["a", "b"]
                2 ["a", "1"]
                3 field 2: `h` stands behind its closing quote on line 4, where the field must end; write `""` for a quote in a quoted field; reading goes on at line 4
                4 ["f", "say \"hi\""]
                5 ["g", "fine"]
            "#]],
        );
        check(
            CSV,
            "a,b\nx,\"y\nz,1\n",
            &expect![[r#"
            1 ["a", "b"]
            2 field 2: its quote is not closed before the end of the file; reading goes on at line 3
            3 ["z", "1"]
        "#]],
        );
        check(
            CSV,
            "a,b\nx,\"",
            &expect![[r#"
            1 ["a", "b"]
            2 field 2: its quote is not closed before the end of the file; reading goes on at line 3
        "#]],
        );
        let long = "z,1\n".repeat(12);
        check(
            CSV,
            &format!("a,b\n\nx,\"y\n{long}\",w\n"),
            &expect![[r#"
            1 ["a", "b"]
            3 the row has more than 536870912 bytes, or a quote in it is not closed
            4 ["z", "1"]
            5 ["z", "1"]
            6 ["z", "1"]
            7 ["z", "1"]
            8 ["z", "1"]
            9 ["z", "1"]
            10 ["z", "1"]
            11 ["z", "1"]
            12 ["z", "1"]
            13 ["z", "1"]
            14 ["z", "1"]
            15 ["z", "1"]
            16 field 1: its quote is not closed before the end of the file; reading goes on at line 17
        "#]],
        );
        // The inch mark closes the quote, and the row has as many fields as the header.
        check(
            CSV,
            "a,b\nx,\"y\nz,1\nw,5\"\nv,2\n",
            &expect![[r#"
            1 ["a", "b"]
            2 a quoted field goes on to line 4, over lines that look like rows of their own: a quote may not be closed; if the field is meant so, say --quoting double; reading goes on at line 3
            3 ["z", "1"]
            4 ["w", "5\""]
            5 ["v", "2"]
        "#]],
        );
        let exact = Dialect { delimiter: b',', quoting: Quoting::Double };
        check(
            exact,
            "a,b\nx,\"y\nz,1\nw,5\"\nv,2\n",
            &expect![[r#"
            1 ["a", "b"]
            2 ["x", "y\nz,1\nw,5"]
            5 ["v", "2"]
        "#]],
        );
    }

    #[test]
    fn misplaced_quotes_and_carriage_returns_are_refused_with_their_row() {
        check(
            CSV,
            "a,b\n\"C\" St,1\n5\" x,\"2\" \n\"z\",3\n",
            &expect![[r#"
            1 ["a", "b"]
            2 field 1: ` ` stands behind its closing quote on line 2, where the field must end; write `""` for a quote in a quoted field; reading goes on at line 3
            3 field 2: ` ` stands behind its closing quote on line 3, where the field must end; write `""` for a quote in a quoted field; reading goes on at line 4
            4 ["z", "3"]
        "#]],
        );
        check(
            CSV,
            "a,b\nx, \"1\nz\",\"2\"\n",
            &expect![[r#"
            1 ["a", "b"]
            2 field 2: a blank stands before its quote; remove the blank, or quote the whole field
            3 ["z\"", "2"]
        "#]],
        );
        check(
            CSV,
            "a,b\nx,1\ry\nz,2\r",
            &expect![[r#"
            1 ["a", "b"]
            2 field 2: a carriage return outside quotes is not followed by a line feed; quote the field, or convert the line ends of the file, e.g. with `tr '\r' '\n'`
            3 ["z", "2"]
        "#]],
        );
        check(
            CSV,
            "a,b\n\"x\n\",5\"\nz,2\n",
            &expect![[r#"
                1 ["a", "b"]
                2 field 2: a quote on line 3 stands inside a field that is not quoted, in a row of several lines; another quote may not be closed; reading goes on at line 3
                3 [",5"]
                4 ["z", "2"]
            "#]],
        );
        check(
            CSV,
            "a,b\n\"x\ny\",1,2\nz,2\n",
            &expect![[r#"
            1 ["a", "b"]
            2 the row goes over several lines and has 3 fields or more, the header 2; a quote may not be closed; reading goes on at line 3
            3 ["y\"", "1", "2"]
            4 ["z", "2"]
        "#]],
        );
        check(
            CSV,
            "a,b\rx,1\rz,2",
            &expect![[r#"
            1 field 2: a carriage return outside quotes is not followed by a line feed; quote the field, or convert the line ends of the file, e.g. with `tr '\r' '\n'`
        "#]],
        );
    }
}
