//! Lines of a file, numbered and bounded: one that is too long is skipped without being kept.

use std::io::{self, BufRead as _, Read as _};

use super::input::Input;

/// A longer line is refused; the largest resource, with every second byte escaped, fits.
pub(super) const LINE_BYTES_MAX: usize = 512 << 20;

/// A line of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Without its `\n`.
    Whole(&'a [u8]),
    /// One that was over the bound, all of it read.
    TooLong,
}

/// Reads a file line by line.
pub(super) struct LineReader {
    input: Input,
    bytes_max: usize,
    line: Vec<u8>,
    number: u64,
}

// === impl LineReader ===

impl LineReader {
    pub(super) fn new(input: Input, bytes_max: usize) -> Self {
        Self { input, bytes_max, line: Vec::new(), number: 0 }
    }

    /// The number of the line that was read last; the first is 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The line that was read last, unless it was too long.
    pub(super) fn current(&self) -> &[u8] {
        &self.line
    }

    /// The first byte of the rest of the file that is no white space, as far as a look at what is read already tells.
    pub(super) fn peek(&mut self) -> io::Result<Option<u8>> {
        let rest = self.input.fill_buf()?;
        Ok(rest.iter().copied().find(|byte| !byte.is_ascii_whitespace()))
    }

    /// The next line; `None` at the end. A last line without an end is a line.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        // One more than a line may have, and its end.
        let limit = u64::try_from(self.bytes_max).unwrap_or(u64::MAX).saturating_add(2);
        let read = self.input.by_ref().take(limit).read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(None);
        }
        self.number += 1;
        if self.line.pop_if(|last| *last == b'\n').is_none() && self.line.len() > self.bytes_max {
            self.input.skip_until(b'\n')?;
        }
        if self.line.len() > self.bytes_max {
            self.line = Vec::new();
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(Line::Whole(&self.line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &str, bytes_max: usize) -> Vec<String> {
        let mut reader = LineReader::new(Box::new(io::Cursor::new(input.to_owned())), bytes_max);
        let mut lines = Vec::new();
        while let Some(line) = reader.next().unwrap() {
            let text = match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong => "(too long)".to_owned(),
            };
            lines.push(format!("{} {text}", reader.number()));
        }
        lines
    }

    #[test]
    fn lines_are_cut_numbered_and_bounded() {
        let long = "x".repeat(100_000);
        for (input, wanted) in [
            ("", vec![]),
            ("a\nb\n", vec!["1 a", "2 b"]),
            ("a\r\n\nb", vec!["1 a\r", "2 ", "3 b"]),
            (
                "12345678\n123456789\n1234567890\nc\n",
                vec!["1 12345678", "2 (too long)", "3 (too long)", "4 c"],
            ),
            (&format!("a\n{long}\nb\n{long}"), vec!["1 a", "2 (too long)", "3 b", "4 (too long)"]),
        ] {
            assert_eq!(lines(input, 8), wanted);
        }
    }
}
