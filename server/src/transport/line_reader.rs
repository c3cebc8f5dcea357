//! Lines of a byte stream, bounded: a line that is too long is skipped without being kept.

use std::io;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// A line of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// Without its end; `\r` before it is white space to JSON.
    Whole(&'a [u8]),
    /// One that was over the bound, all of it read.
    TooLong,
}

/// Reads lines of at most `bytes_max` bytes.
pub(crate) struct LineReader<R> {
    reader: R,
    bytes_max: usize,
    buffer: BytesMut,
    /// The line that was handed out last and its end, still at the buffer's start.
    handed_out: usize,
    /// How much of the buffer is known to have no line end.
    searched: usize,
    skipping: bool,
}

/// How much is asked of the stream at a time.
const READ_BYTES: usize = 16 * 1024;

// === impl LineReader ===

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(crate) fn new(reader: R, bytes_max: usize) -> Self {
        Self {
            reader,
            bytes_max,
            buffer: BytesMut::new(),
            handed_out: 0,
            searched: 0,
            skipping: false,
        }
    }

    /// The next line; `None` at the end. A last line without an end is a line.
    ///
    /// Cancel safe: bytes that were read stay in the buffer.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.advance(self.handed_out);
        self.handed_out = 0;
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', unsearched) {
                return Ok(Some(self.hand_out(self.searched + at, 1)));
            }
            self.searched = self.buffer.len();
            if self.skipping || self.buffer.len() > self.bytes_max {
                self.skipping = true;
                self.buffer.clear();
                self.searched = 0;
            }
            self.buffer.reserve(READ_BYTES);
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                if self.buffer.is_empty() && !self.skipping {
                    return Ok(None);
                }
                return Ok(Some(self.hand_out(self.buffer.len(), 0)));
            }
        }
    }

    fn hand_out(&mut self, line_bytes: usize, end_bytes: usize) -> Line<'_> {
        self.handed_out = line_bytes + end_bytes;
        self.searched = 0;
        let skipped = std::mem::take(&mut self.skipping);
        match self.buffer.get(..line_bytes) {
            Some(line) if !skipped && line_bytes <= self.bytes_max => Line::Whole(line),
            Some(_) | None => Line::TooLong,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(input: &[u8], bytes_max: usize) -> Vec<String> {
        let mut reader = LineReader::new(input, bytes_max);
        let mut lines = Vec::new();
        while let Some(line) = reader.next().await.unwrap() {
            lines.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong => "(too long)".to_owned(),
            });
        }
        lines
    }

    #[tokio::test]
    async fn lines_are_cut_at_their_ends_and_bounded() {
        let long = "x".repeat(100_000);
        for (input, expected) in [
            ("", vec![]),
            ("a\nb\n", vec!["a", "b"]),
            ("a\r\n\nb", vec!["a\r", "", "b"]),
            ("12345678\n123456789\nc\n", vec!["12345678", "(too long)", "c"]),
            (&format!("a\n{long}\nb\n{long}"), vec!["a", "(too long)", "b", "(too long)"]),
        ] {
            assert_eq!(lines(input.as_bytes(), 8).await, expected);
        }
    }
}
