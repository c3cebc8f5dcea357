//! Opening a file: decompression by its first bytes, the byte order mark, and how much of it was read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

/// How much is read from the disk, and decompressed, at a time.
const BUFFER_BYTES: usize = 256 * 1024;
/// RFC 1952 section 2.3.1.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// RFC 8878 section 3.1.1.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// RFC 8878 section 3.1.2: frames that carry no data, with which some compressors begin; the first byte is 0x50 to 0x5f.
const ZSTD_SKIPPABLE_MAGIC_END: [u8; 3] = [0x2a, 0x4d, 0x18];
const UTF8_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Decompressed bytes of a file.
pub type Input = Box<dyn BufRead>;

/// The name that stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Opens a file, or standard input for `-`. What is read of it, as it is on the disk, is added to `bytes_read`.
///
/// The content says how it is compressed, not the name: names are wrong where a transfer has decompressed a file.
///
/// # Errors
/// The file cannot be opened or read, or is UTF-16.
pub fn open(path: &Path, bytes_read: &Arc<AtomicU64>) -> io::Result<Input> {
    let file: Box<dyn Read> =
        if is_stdin(path) { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    decompressed(Counted { inner: file, bytes_read: Arc::clone(bytes_read) })
}

fn decompressed(mut file: impl Read + 'static) -> io::Result<Input> {
    let head = peek::<4>(&mut file)?;
    let is_gzip = head.starts_with(&GZIP_MAGIC);
    let is_zstd = head == ZSTD_MAGIC
        || matches!(head.split_first(), Some((0x50..=0x5f, end)) if end == ZSTD_SKIPPABLE_MAGIC_END);
    let whole = Cursor::new(head).chain(file);
    if is_gzip {
        let compressed = BufReader::with_capacity(BUFFER_BYTES, whole);
        without_mark(MultiGzDecoder::new(compressed))
    } else if is_zstd {
        let compressed = BufReader::with_capacity(BUFFER_BYTES, whole);
        without_mark(zstd::Decoder::with_buffer(compressed)?)
    } else {
        without_mark(whole)
    }
}

fn without_mark(mut text: impl Read + 'static) -> io::Result<Input> {
    let mut head = peek::<3>(&mut text)?;
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it is UTF-16; convert it first, e.g. with `iconv -f UTF-16 -t UTF-8`",
        ));
    }
    if head == UTF8_MARK {
        head.clear();
    }
    Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, Cursor::new(head).chain(text))))
}

/// The first `N` bytes, or all where there are fewer; a pipe may give them one by one.
fn peek<const N: usize>(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(N);
    reader.take(u64::try_from(N).unwrap_or(u64::MAX)).read_to_end(&mut head)?;
    Ok(head)
}

struct Counted<R> {
    inner: R,
    bytes_read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes_read.fetch_add(u64::try_from(read).unwrap_or(0), Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 1).unwrap()
    }

    #[track_caller]
    fn check(bytes: &[u8], wanted: Result<&str, &str>) {
        let mut text = String::new();
        let read = decompressed(Cursor::new(bytes.to_vec()))
            .and_then(|mut input| input.read_to_string(&mut text).map(drop));
        let got = read.map(|()| text).map_err(|error| error.to_string());
        assert_eq!(got, wanted.map(str::to_owned).map_err(str::to_owned));
    }

    #[test]
    fn the_content_says_how_it_is_compressed() {
        check(b"", Ok(""));
        check(b"a", Ok("a"));
        check(b"plain", Ok("plain"));
        check(&gzip(b"one"), Ok("one"));
        check(&gzip(b""), Ok(""));
        check(&zstd(b"one"), Ok("one"));
        // Appended files, as log rotation and parallel compressors leave them.
        check(&[gzip(b"one "), gzip(b"two")].concat(), Ok("one two"));
        check(&[zstd(b"one "), zstd(b"two")].concat(), Ok("one two"));
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 0xff];
        check(&[&skippable[..], &zstd(b"one")].concat(), Ok("one"));
    }

    #[test]
    fn byte_order_marks_are_no_text() {
        check(b"\xef\xbb\xbfname", Ok("name"));
        check(&gzip(b"\xef\xbb\xbfname"), Ok("name"));
        check(b"\xef\xbb\xbf", Ok(""));
        let utf_16 = "it is UTF-16; convert it first, e.g. with `iconv -f UTF-16 -t UTF-8`";
        check(b"\xff\xfen\0a\0", Err(utf_16));
    }

    #[test]
    fn what_ends_too_early_is_an_error() {
        for whole in [gzip(&[b'x'; 100]), zstd(&[b'x'; 100])] {
            let cut = whole[..whole.len() - 3].to_vec();
            let read = decompressed(Cursor::new(cut))
                .and_then(|mut input| input.read_to_end(&mut Vec::new()));
            assert!(read.is_err());
        }
    }
}
