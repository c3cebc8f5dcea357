//! Rows of CSV whose fields may stand in quotes, as RFC 4180 has them.
//!
//! A quote that is never closed turns rows into text, so whatever a stray quote can hide behind is refused: text behind a
//! closing quote, a quote behind blanks at the start of a field, a quote inside a field that is not quoted in a row of
//! several lines, and a row of several lines that does not fit the header. Where no line end is
//! quoted, a quote inside a field is a character like any other (`5" disk`): it can hide nothing there.
//!
//! **Where reading goes on.** A quoted field looks ahead for its end by at most [`LINE_BYTES_MAX`](super::lines). When its
//! row is refused, the next row is the line after the one on which the refused row begins. If the quote was a stray one,
//! this is where the next row really begins, so that none is lost; if it was not, its remaining lines are refused one by one.
//!
//! The bytes of a row stay in memory until it is decided. A line can be looked at again only by a row that opens a
//! quote, and each such row passes at most as many other quoted fields as the header has columns: work stays linear in
//! the size of the file for a given header.

use std::fmt;
use std::io::{self, BufRead as _};
use std::ops::Range;

use super::delimited::{FIELD_COUNT_MAX, Row, RowRead};
use super::format::Quoting;
use super::input::Input;
use super::lines::LINE_BYTES_MAX;

/// What is done with is removed from the buffer when it is at least this much.
const COMPACTED_BYTES: usize = 256 * 1024;

/// Rows whose fields may hold line ends.
pub(super) struct QuotedRows {
    input: Input,
    delimiter: u8,
    quoting: Quoting,
    bytes_max: usize,
    /// Fields of the header; `None` until it is read.
    width: Option<usize>,
    /// What was read; a row begins at `begin`.
    buffer: Vec<u8>,
    begin: usize,
    at_end: bool,
    /// The line that begins at `begin`.
    line: u64,
    row_line: u64,
    fields: Vec<Field>,
}

/// Where a field stands in the buffer, without its quotes.
struct Field {
    range: Range<usize>,
    doubled_quotes: bool,
}

/// Why a row is refused. Fields and lines are counted from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowFault {
    TooLong,
    TooManyFields,
    NotClosed { field: usize, next_line: u64 },
    BehindQuote { field: usize, line: u64, found: u8, next_line: u64 },
    BlankBeforeQuote { field: usize },
    QuoteInside { field: usize, line: u64, next_line: u64 },
    LoneCarriageReturn { field: usize },
    Width { fields: usize, width: usize, next_line: u64 },
    LooksLikeRows { last_line: u64, next_line: u64 },
}

/// Why scanning a row stopped before its end.
enum Stop {
    Io(io::Error),
    Fault(RowFault),
}

/// How a row ends.
struct RowEnd {
    /// Where its line end begins.
    content: usize,
    /// Where the next row begins.
    next: usize,
}

// === impl QuotedRows ===

impl QuotedRows {
    pub(super) fn new(input: Input, delimiter: u8, quoting: Quoting, bytes_max: usize) -> Self {
        Self {
            input,
            delimiter,
            quoting,
            bytes_max,
            width: None,
            buffer: Vec::new(),
            begin: 0,
            at_end: false,
            line: 1,
            row_line: 0,
            fields: Vec::new(),
        }
    }

    /// The line on which the row begins that was read last.
    pub(super) fn row_line(&self) -> u64 {
        self.row_line
    }

    pub(super) fn next(&mut self, row: &mut Row) -> io::Result<RowRead> {
        self.compact();
        if !self.skip_line_ends()? {
            return Ok(RowRead::End);
        }
        self.row_line = self.line;
        let ended = self.scan().and_then(|end| self.check(&end).map(|()| end));
        match ended {
            Ok(end) => {
                row.clear();
                for field in &self.fields {
                    let text = self.buffer.get(field.range.clone()).unwrap_or_default();
                    row.push(text, field.doubled_quotes);
                }
                self.width.get_or_insert(self.fields.len());
                self.advance(end.next);
                Ok(RowRead::Whole)
            }
            Err(Stop::Fault(fault)) => {
                self.skip_line()?;
                Ok(RowRead::Malformed(fault))
            }
            Err(Stop::Io(error)) => Err(error),
        }
    }

    /// Finds the fields of the row that begins at `begin`.
    fn scan(&mut self) -> Result<RowEnd, Stop> {
        self.fields.clear();
        let mut at = self.begin;
        let mut several_lines = false;
        let mut quote_inside = None;
        loop {
            let number = self.fields.len() + 1;
            if several_lines && self.width.is_some_and(|width| number > width) {
                return Err(self.wrong_width(number));
            }
            if number > FIELD_COUNT_MAX {
                return Err(Stop::Fault(RowFault::TooManyFields));
            }
            let is_quoted = self.byte(at)? == Some(b'"');
            let end = if is_quoted {
                let (field, end) = self.quoted_field(at, number)?;
                several_lines |= has_line_end(self.buffer.get(field.range.clone()));
                self.fields.push(field);
                end
            } else {
                let end = self.plain_end(at)?;
                quote_inside = quote_inside.or(self.quote_inside(at..end, number)?);
                self.fields.push(Field { range: at..end, doubled_quotes: false });
                end
            };
            if let (true, Some(fault)) = (several_lines, quote_inside) {
                return Err(Stop::Fault(fault));
            }
            match self.line_end_at(end)? {
                Some(next) => return Ok(RowEnd { content: end, next }),
                None if self.byte(end)? == Some(self.delimiter) => at = end + 1,
                None if is_quoted => return Err(self.behind_quote(end, number)?),
                None => return Err(Stop::Fault(RowFault::LoneCarriageReturn { field: number })),
            }
        }
    }

    /// A field whose opening quote stands at `open`, and where its closing quote ends.
    fn quoted_field(&mut self, open: usize, number: usize) -> Result<(Field, usize), Stop> {
        let mut at = open + 1;
        let mut doubled_quotes = false;
        loop {
            let Some(quote) = self.find(at, |bytes| memchr::memchr(b'"', bytes))? else {
                return Err(Stop::Fault(RowFault::NotClosed {
                    field: number,
                    next_line: self.row_line + 1,
                }));
            };
            if self.byte(quote + 1)? != Some(b'"') {
                return Ok((Field { range: open + 1..quote, doubled_quotes }, quote + 1));
            }
            doubled_quotes = true;
            at = quote + 2;
        }
    }

    /// Where a field ends that does not begin with a quote.
    fn plain_end(&mut self, at: usize) -> Result<usize, Stop> {
        let delimiter = self.delimiter;
        let end = self.find(at, |bytes| memchr::memchr3(delimiter, b'\n', b'\r', bytes))?;
        Ok(end.unwrap_or(self.buffer.len()))
    }

    /// A quote inside a field that does not begin with one, as a fault of a row of several lines.
    fn quote_inside(&self, range: Range<usize>, number: usize) -> Result<Option<RowFault>, Stop> {
        let text = self.buffer.get(range.clone()).unwrap_or_default();
        let Some(quote) = memchr::memchr(b'"', text) else { return Ok(None) };
        if text.iter().take(quote).all(|byte| is_blank(*byte)) {
            return Err(Stop::Fault(RowFault::BlankBeforeQuote { field: number }));
        }
        let (line, next_line) = (self.line_of(range.start + quote), self.row_line + 1);
        Ok(Some(RowFault::QuoteInside { field: number, line, next_line }))
    }

    /// What stands behind a closing quote, where a delimiter or the end of the row must.
    fn behind_quote(&mut self, at: usize, number: usize) -> Result<Stop, Stop> {
        let found = self.byte(at)?.unwrap_or_default();
        let (line, next_line) = (self.line_of(at), self.row_line + 1);
        Ok(Stop::Fault(RowFault::BehindQuote { field: number, line, found, next_line }))
    }

    /// Whether a row that is whole can be what it says.
    fn check(&self, end: &RowEnd) -> Result<(), Stop> {
        let (Some(width), Some(content)) = (self.width, self.buffer.get(self.begin..end.content))
        else {
            return Ok(());
        };
        if !has_line_end(Some(content)) {
            return Ok(());
        }
        if self.fields.len() != width {
            return Err(self.wrong_width(self.fields.len()));
        }
        if self.quoting == Quoting::Cautious && looks_like_rows(content, self.delimiter, width) {
            let (last_line, next_line) = (self.line_of(end.content), self.row_line + 1);
            return Err(Stop::Fault(RowFault::LooksLikeRows { last_line, next_line }));
        }
        Ok(())
    }

    fn wrong_width(&self, fields: usize) -> Stop {
        let (width, next_line) = (self.width.unwrap_or_default(), self.row_line + 1);
        Stop::Fault(RowFault::Width { fields, width, next_line })
    }

    fn line_of(&self, at: usize) -> u64 {
        self.line + line_ends(self.buffer.get(self.begin..at))
    }

    /// Where the next row begins if a line ends at `at`, or the file does.
    fn line_end_at(&mut self, at: usize) -> Result<Option<usize>, Stop> {
        Ok(match self.byte(at)? {
            None => Some(at),
            Some(b'\n') => Some(at + 1),
            Some(b'\r') => match self.byte(at + 1)? {
                // A file that was cut between the two bytes of a line end has lost nothing.
                None => Some(at + 1),
                Some(b'\n') => Some(at + 2),
                Some(_) => None,
            },
            Some(_) => None,
        })
    }

    /// The byte at `at`; `None` at the end of the file.
    fn byte(&mut self, at: usize) -> Result<Option<u8>, Stop> {
        if at > self.begin + self.bytes_max {
            return Err(Stop::Fault(RowFault::TooLong));
        }
        while at >= self.buffer.len() && !self.at_end {
            self.fill()?;
        }
        Ok(self.buffer.get(at).copied())
    }

    /// The place at or behind `from` that `search` finds; `None`: it is not in the file.
    fn find(
        &mut self,
        mut from: usize,
        search: impl Fn(&[u8]) -> Option<usize>,
    ) -> Result<Option<usize>, Stop> {
        let limit = self.begin + self.bytes_max + 1;
        loop {
            let end = self.buffer.len().min(limit);
            if let Some(found) = self.buffer.get(from..end).and_then(&search) {
                return Ok(Some(from + found));
            }
            if end == limit {
                return Err(Stop::Fault(RowFault::TooLong));
            }
            if self.at_end {
                return Ok(None);
            }
            from = from.max(end);
            self.fill()?;
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        let read = self.input.fill_buf()?;
        self.at_end = read.is_empty();
        self.buffer.extend_from_slice(read);
        let length = read.len();
        self.input.consume(length);
        Ok(())
    }

    /// Skips empty lines, so that a row's line is the one on which it begins; false at the end.
    fn skip_line_ends(&mut self) -> io::Result<bool> {
        loop {
            let next = match self.line_end_at(self.begin) {
                Ok(Some(next)) => next,
                Ok(None) => return Ok(true),
                Err(Stop::Io(error)) => return Err(error),
                // Only a bound of less than a line end is too short for it.
                Err(Stop::Fault(_)) => return Ok(true),
            };
            if next == self.begin {
                return Ok(false);
            }
            self.advance(next);
            self.compact();
        }
    }

    /// To the beginning of the next line, however long this one is.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let rest = self.buffer.get(self.begin..).unwrap_or_default();
            if let Some(length) = memchr::memchr(b'\n', rest) {
                self.advance(self.begin + length + 1);
                return Ok(());
            }
            self.buffer = Vec::new();
            self.begin = 0;
            if self.at_end {
                return Ok(());
            }
            self.fill()?;
        }
    }

    fn advance(&mut self, next: usize) {
        self.line += line_ends(self.buffer.get(self.begin..next));
        self.begin = next;
    }

    fn compact(&mut self) {
        let left = self.buffer.len() - self.begin.min(self.buffer.len());
        if self.begin >= left.max(COMPACTED_BYTES) || left == 0 {
            self.buffer.drain(..self.begin.min(self.buffer.len()));
            self.begin = 0;
            self.buffer.shrink_to(left.saturating_mul(4).max(4 * COMPACTED_BYTES));
        }
    }
}

/// Whether the lines of one row look like rows that a stray quote has joined: of those behind the first, empty ones left
/// out, at least half have as many fields as the header.
fn looks_like_rows(content: &[u8], delimiter: u8, width: usize) -> bool {
    let (mut lines, mut rows) = (0_u64, 0_u64);
    for line in content.split(|byte| *byte == b'\n').skip(1) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.trim_ascii().is_empty() {
            lines += 1;
            rows += u64::from(is_row(line, delimiter, width));
        }
    }
    lines > 0 && rows * 2 >= lines
}

/// Whether a line has as many fields as the header and could not as well be prose or indented code: these have blanks
/// at the start of fields, and lists in code end in the delimiter.
fn is_row(line: &[u8], delimiter: u8, width: usize) -> bool {
    let mut fields = 0;
    let mut rest = line;
    loop {
        if rest.first().is_some_and(|first| is_blank(*first)) {
            return false;
        }
        let Some(end) = field_end(rest, delimiter) else { return false };
        fields += 1;
        let is_edge = fields == 1 || end == rest.len();
        if end == 0 && is_edge && width <= 2 {
            return false;
        }
        match rest.get(end + 1..) {
            Some(next) => rest = next,
            None => return fields == width,
        }
    }
}

/// Where the first field of a line ends; `None`: it is none.
fn field_end(text: &[u8], delimiter: u8) -> Option<usize> {
    let Some(quoted) = text.strip_prefix(b"\"") else {
        return Some(memchr::memchr(delimiter, text).unwrap_or(text.len()));
    };
    let mut quotes = memchr::memchr_iter(b'"', quoted);
    while let Some(quote) = quotes.next() {
        match quoted.get(quote + 1) {
            Some(b'"') => drop(quotes.next()),
            None => return Some(text.len()),
            Some(byte) if *byte == delimiter => return Some(quote + 2),
            Some(_) => return None,
        }
    }
    None
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn has_line_end(bytes: Option<&[u8]>) -> bool {
    memchr::memchr(b'\n', bytes.unwrap_or_default()).is_some()
}

fn line_ends(bytes: Option<&[u8]>) -> u64 {
    let count = memchr::memchr_iter(b'\n', bytes.unwrap_or_default()).count();
    u64::try_from(count).unwrap_or(u64::MAX)
}

// === impl RowFault ===

impl fmt::Display for RowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => {
                write!(
                    f,
                    "the row has more than {LINE_BYTES_MAX} bytes, or a quote in it is not closed"
                )
            }
            Self::TooManyFields => write!(f, "the row has more than {FIELD_COUNT_MAX} fields"),
            Self::NotClosed { field, next_line } => write!(
                f,
                "field {field}: its quote is not closed before the end of the file; reading goes on at line {next_line}"
            ),
            Self::BehindQuote { field, line, found, next_line } => write!(
                f,
                "field {field}: `{}` stands behind its closing quote on line {line}, where the field must end; write `\"\"` for a quote in a quoted field; reading goes on at line {next_line}",
                found.escape_ascii()
            ),
            Self::BlankBeforeQuote { field } => write!(
                f,
                "field {field}: a blank stands before its quote; remove the blank, or quote the whole field"
            ),
            Self::QuoteInside { field, line, next_line } => write!(
                f,
                "field {field}: a quote on line {line} stands inside a field that is not quoted, in a row of several lines; another quote may not be closed; reading goes on at line {next_line}"
            ),
            Self::LoneCarriageReturn { field } => write!(
                f,
                "field {field}: a carriage return outside quotes is not followed by a line feed; quote the field, or convert the line ends of the file, e.g. with `tr '\\r' '\\n'`"
            ),
            Self::Width { fields, width, next_line } => write!(
                f,
                "the row goes over several lines and has {fields} fields or more, the header {width}; a quote may not be closed; reading goes on at line {next_line}"
            ),
            Self::LooksLikeRows { last_line, next_line } => write!(
                f,
                "a quoted field goes on to line {last_line}, over lines that look like rows of their own: a quote may not be closed; if the field is meant so, say --quoting double; reading goes on at line {next_line}"
            ),
        }
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_code_and_data_are_no_rows_and_rows_are() {
        for (content, width, wanted) in [
            ("e,\"open\nf,5\"", 2, true),
            ("e,\"open\nf,one\nshort\ng,5\"", 2, true),
            ("e,\"open\r\nf,one\r\n\r\ng,5\"", 2, true),
            ("e,\"open\nf,x,19\"", 3, true),
            ("e,\"open\nf,\"\",x\ng,a\"", 3, true),
            ("a,\"12 Main St\nBoston, MA\"", 2, false),
            ("a,\"one\ntwo\nthree, four\"", 2, false),
            ("a,\"[\n1,\n2\n]\"", 2, false),
            ("a,\"{\n  \"\"k\"\": \"\"v\"\",\n  \"\"l\"\": 1\n}\"", 2, false),
            ("a,\"\"\"k\"\",1\n\"\"l\"\",x y,z\"", 2, false),
            ("a,\"x\n\n\n\"", 2, false),
        ] {
            assert_eq!(looks_like_rows(content.as_bytes(), b',', width), wanted, "{content:?}");
        }
    }
}
