//! Compressed files: gzip members and Zstandard frames, one after the other until the file ends.
//!
//! Tapes and block devices pad files with zero bytes, which are no data. Anything else behind the last member is a fault,
//! because it may be a part of the file that was damaged.

use std::fmt::Display;
use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

/// How much is read from the disk at a time.
const BUFFER_BYTES: usize = 256 * 1024;
/// A Zstandard frame that needs a larger window is refused: the window is memory.
const WINDOW_LOG_MAX: u32 = 27;
/// RFC 1952 section 2.3.1.
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
/// RFC 8878 section 3.1.1.
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// RFC 8878 section 3.1.2: frames that carry no data, with which some compressors begin; the first byte is 0x50 to 0x5f.
const ZSTD_SKIPPABLE_MAGIC_END: &[u8] = &[0x2a, 0x4d, 0x18];
/// What is looked at to tell a kind: the longest magic, or a Zstandard header up to the size of its frame.
const HEAD_BYTES: usize = 18;

/// Formats that are not read, by their first bytes, with the way out.
const UNREAD: [(&[u8], &str, WayOut); 8] = [
    (BZIP2_MAGIC, "compressed with bzip2", WayOut::Pipe("bzip2 -dc")),
    (b"\xfd7zXZ\0", "compressed with xz", WayOut::Pipe("xz -dc")),
    (b"\x04\x22\x4d\x18", "compressed with lz4", WayOut::Pipe("lz4 -dc")),
    (b"LZIP\x01", "compressed with lzip", WayOut::Pipe("lzip -dc")),
    (b"\x1f\x9d", "compressed with compress", WayOut::Pipe("gzip -dc")),
    (b"PK\x03\x04", "a zip archive or a workbook", WayOut::Pipe("unzip -p")),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", WayOut::Pipe("7z x -so")),
    (b"PAR1", "a Parquet file", WayOut::Convert),
];
const BZIP2_MAGIC: &[u8] = b"BZh";
/// Behind `BZh` and a digit: the beginning of a block, or of the end.
const BZIP2_BLOCKS: [&[u8]; 2] = [b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"];

/// The bytes of a file, or of what is compressed in it.
pub(super) enum Contents {
    Plain(Buffered),
    Compressed(Members),
}

/// A reader whose next bytes can be looked at.
pub(super) struct Buffered {
    file: Box<dyn Read>,
    buffer: Vec<u8>,
    begin: usize,
    /// Where `begin` is in the file.
    offset: u64,
}

/// Reads all members of a compressed file.
pub(super) struct Members {
    state: State,
    format: &'static str,
}

enum State {
    Between(Buffered),
    Gzip(GzDecoder<Buffered>),
    Zstd(ZstdDecoder<'static, Buffered>),
    Ended,
    /// Told at each further read: a look ahead may have met it first.
    Failed(String),
}

/// How the records of a file that is not read become some that are.
enum WayOut {
    /// Through a command that prints what is in the file.
    Pipe(&'static str),
    Convert,
}

enum Kind {
    Gzip,
    Zstd,
    Other,
}

/// Looks at the first bytes of a file.
///
/// # Errors
/// It cannot be read, or is of a kind that is known and not read.
pub(super) fn open(file: Box<dyn Read>) -> io::Result<Contents> {
    let mut file = Buffered { file, buffer: Vec::new(), begin: 0, offset: 0 };
    let head = file.peek(HEAD_BYTES)?;
    let format = match kind(head) {
        Kind::Gzip => "gzip",
        Kind::Zstd => "Zstandard",
        Kind::Other => {
            check_unread(head)?;
            return Ok(Contents::Plain(file));
        }
    };
    Ok(Contents::Compressed(Members { state: State::Between(file), format }))
}

fn kind(head: &[u8]) -> Kind {
    if head.starts_with(GZIP_MAGIC) {
        Kind::Gzip
    } else if head.starts_with(ZSTD_MAGIC) || is_skippable(head) {
        Kind::Zstd
    } else {
        Kind::Other
    }
}

fn is_skippable(head: &[u8]) -> bool {
    matches!(head.split_first(), Some((0x50..=0x5f, rest)) if rest.starts_with(ZSTD_SKIPPABLE_MAGIC_END))
}

fn check_unread(head: &[u8]) -> io::Result<()> {
    let is_bzip2 = |head: &[u8]| {
        BZIP2_BLOCKS.iter().any(|block| head.get(4..).is_some_and(|rest| rest.starts_with(block)))
    };
    let Some((magic, what, way_out)) = UNREAD.iter().find(|(magic, ..)| head.starts_with(magic))
    else {
        return Ok(());
    };
    if *magic == BZIP2_MAGIC && !is_bzip2(head) {
        return Ok(());
    }
    Err(match way_out {
        WayOut::Pipe(command) => {
            invalid(format_args!("it is {what}, which is not read: {}", pipe(command)))
        }
        WayOut::Convert => {
            invalid(format_args!("it is {what}, which is not read: convert it to NDJSON or CSV"))
        }
    })
}

fn pipe(command: &str) -> String {
    format!("try `{command} FILE | pressmark load SPACE - --format ndjson` (or csv, tsv)")
}

/// The window that a Zstandard frame asks for, in bytes (RFC 8878 section 3.1.1.1); `None`: none that can be told.
fn window_bytes(head: &[u8]) -> Option<u64> {
    let header = head.strip_prefix(ZSTD_MAGIC)?;
    let descriptor = *header.first()?;
    let is_single_segment = descriptor & 0x20 != 0;
    if !is_single_segment {
        let window = *header.get(1)?;
        let base = 1_u64 << (10 + (window >> 3));
        return Some(base + base / 8 * u64::from(window & 7));
    }
    // The window is the contents, whose size stands behind the number of the dictionary.
    let dictionary_bytes = [0, 1, 2, 4].get(usize::from(descriptor & 3))?;
    let size = header.get(1 + dictionary_bytes..)?;
    let little_endian = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b));
    Some(match descriptor >> 6 {
        0 => u64::from(*size.first()?),
        1 => little_endian(size.get(..2)?) + 256,
        2 => little_endian(size.get(..4)?),
        _ => little_endian(size.get(..8)?),
    })
}

fn invalid(text: impl Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.to_string())
}

// === impl Members ===

impl Read for Members {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let read = match &mut self.state {
                State::Between(_) => 0,
                State::Gzip(decoder) => decoder.read(buffer)?,
                State::Zstd(decoder) => decoder.read(buffer)?,
                State::Ended => return Ok(0),
                State::Failed(reason) => return Err(invalid(reason)),
            };
            if read > 0 {
                return Ok(read);
            }
            self.state = match std::mem::replace(&mut self.state, State::Ended) {
                State::Between(file) => {
                    self.begin_member(file).unwrap_or_else(|error| State::Failed(error.to_string()))
                }
                State::Gzip(decoder) => State::Between(decoder.into_inner()),
                State::Zstd(decoder) => State::Between(decoder.finish()),
                other @ (State::Ended | State::Failed(_)) => other,
            };
        }
    }
}

impl Members {
    /// What stands behind a member, or at the beginning of the file.
    fn begin_member(&self, mut file: Buffered) -> io::Result<State> {
        if file.offset > 0 {
            file.skip_zeros()?;
        }
        let offset = file.offset;
        let head = file.peek(HEAD_BYTES)?;
        match kind(head) {
            _ if head.is_empty() => Ok(State::Ended),
            Kind::Gzip => Ok(State::Gzip(GzDecoder::new(file))),
            Kind::Zstd => {
                let window = window_bytes(head).filter(|bytes| *bytes > 1 << WINDOW_LOG_MAX);
                if let Some(bytes) = window {
                    return Err(invalid(format_args!(
                        "its Zstandard frame asks for a window of {} MiB; at most {} MiB are taken: {}",
                        bytes.div_ceil(1 << 20),
                        (1_u64 << WINDOW_LOG_MAX) >> 20,
                        pipe("zstd -dc --long=31")
                    )));
                }
                let mut decoder = ZstdDecoder::with_buffer(file)?.single_frame();
                decoder.window_log_max(WINDOW_LOG_MAX)?;
                Ok(State::Zstd(decoder))
            }
            Kind::Other => Err(invalid(format_args!(
                "at byte {}, behind the {} data, stands something else; what stands from there on is not read",
                offset + 1,
                self.format
            ))),
        }
    }
}

// === impl Buffered ===

impl Buffered {
    /// The next bytes, as many as asked for unless the file ends before; a pipe may give them one by one.
    fn peek(&mut self, length: usize) -> io::Result<&[u8]> {
        while self.buffer.len() - self.begin < length && self.fill()? > 0 {}
        let rest = self.buffer.get(self.begin..).unwrap_or_default();
        Ok(rest.get(..length).unwrap_or(rest))
    }

    fn skip_zeros(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.fill_buf()?;
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            let is_all = zeros == bytes.len();
            self.consume(zeros);
            if zeros == 0 || !is_all {
                return Ok(());
            }
        }
    }

    /// Reads once; 0 at the end of the file.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.drain(..self.begin);
        self.begin = 0;
        let filled = self.buffer.len();
        self.buffer.resize(filled + BUFFER_BYTES, 0);
        let read = loop {
            match self.file.read(self.buffer.get_mut(filled..).unwrap_or_default()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer.truncate(filled + read.as_ref().copied().unwrap_or(0));
        read
    }
}

impl BufRead for Buffered {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.begin == self.buffer.len() {
            self.fill()?;
        }
        Ok(self.buffer.get(self.begin..).unwrap_or_default())
    }

    fn consume(&mut self, length: usize) {
        let length = length.min(self.buffer.len() - self.begin);
        self.begin += length;
        self.offset += u64::try_from(length).unwrap_or(u64::MAX);
    }
}

impl Read for Buffered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = {
            let bytes = self.fill_buf()?;
            let length = bytes.len().min(buffer.len());
            let (Some(from), Some(to)) = (bytes.get(..length), buffer.get_mut(..length)) else {
                return Ok(0);
            };
            to.copy_from_slice(from);
            length
        };
        self.consume(length);
        Ok(length)
    }
}
