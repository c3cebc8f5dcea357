//! Opening a file: what it is by its first bytes, the byte order mark, and how much of it was read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::compressed::{self, Contents};

/// How much is decompressed at a time.
const BUFFER_BYTES: usize = 256 * 1024;
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
/// The file cannot be opened or read, is UTF-16, or of a kind that is known and not read.
pub fn open(path: &Path, bytes_read: &Arc<AtomicU64>) -> io::Result<Input> {
    let file: Box<dyn Read> =
        if is_stdin(path) { Box::new(io::stdin()) } else { Box::new(File::open(path)?) };
    decompressed(Counted { inner: file, bytes_read: Arc::clone(bytes_read) })
}

fn decompressed(file: impl Read + 'static) -> io::Result<Input> {
    match compressed::open(Box::new(file))? {
        Contents::Plain(file) => without_mark(file),
        Contents::Compressed(members) => without_mark(members),
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
    fn zero_bytes_behind_compressed_data_are_padding() {
        let padding = [0; 300_000];
        for one in [gzip(b"one "), zstd(b"one ")] {
            check(&[&one[..], &padding].concat(), Ok("one "));
            check(&[&one[..], &padding[..1]].concat(), Ok("one "));
            check(&[&one[..], &padding, &one].concat(), Ok("one one "));
        }
        // At the beginning of a file they are no padding, and a plain text has none.
        check(b"\0\0", Ok("\0\0"));
    }

    #[test]
    fn what_else_stands_behind_compressed_data_is_named() {
        for (one, format) in [(gzip(b"one "), "gzip"), (zstd(b"one "), "Zstandard")] {
            for (padding, rest) in [(0, "x"), (9, "trash"), (0, "\u{1f}"), (3, "\n")] {
                let bytes = [&one[..], &vec![0; padding], rest.as_bytes()].concat();
                let reason = format!(
                    "at byte {}, behind the {format} data, stands something else; what stands from there on is not read",
                    one.len() + padding + 1
                );
                let mut text = String::new();
                let mut input = decompressed(Cursor::new(bytes)).unwrap();
                let error = input.read_to_string(&mut text).unwrap_err();
                assert_eq!((text.as_str(), error.to_string()), ("one ", reason));
            }
        }
    }

    #[test]
    fn a_large_window_is_refused_with_its_size() {
        let with_window = |log| {
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
            encoder.long_distance_matching(true).unwrap();
            encoder.window_log(log).unwrap();
            encoder.write_all(b"one").unwrap();
            encoder.finish().unwrap()
        };
        check(&with_window(27), Ok("one"));
        let refused = |mib| {
            format!(
                "its Zstandard frame asks for a window of {mib} MiB; at most 128 MiB are taken: try `zstd -dc --long=31 FILE | pressmark load SPACE - --format ndjson` (or csv, tsv)"
            )
        };
        check(&with_window(28), Err(&refused(256)));
        check(&with_window(31), Err(&refused(2048)));
        check(&[zstd(b""), with_window(31)].concat(), Err(&refused(2048)));
        // A frame that says how long its contents are needs no larger window, and one that lies is found out.
        let single_segment = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x10];
        check(&single_segment, Err(&refused(256)));
    }

    #[test]
    fn kinds_that_are_not_read_are_named() {
        for (head, what) in [
            (&b"BZh91AY&SY\0"[..], "compressed with bzip2"),
            (b"BZh9\x17\x72\x45\x38\x50\x90", "compressed with bzip2"),
            (b"\xfd7zXZ\0\0", "compressed with xz"),
            (b"PK\x03\x04\x14\0", "a zip archive or a workbook"),
            (b"PAR1\x15", "a Parquet file"),
        ] {
            let error = decompressed(Cursor::new(head.to_vec())).err().unwrap().to_string();
            assert!(error.starts_with(&format!("it is {what}, which is not read: ")), "{error}");
        }
        check(b"BZh9,text", Ok("BZh9,text"));
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
