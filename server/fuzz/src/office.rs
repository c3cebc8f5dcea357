//! Documents that are ZIP files, of parts that the fuzzer makes: a part ends where a byte 0x1e stands.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const PART_END: u8 = 0x1e;

/// The MIME type of a reader.
pub(crate) fn mime_type(reader: &str) -> &'static str {
    match reader {
        "word" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "slides" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "sheets" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "open-document" => "application/vnd.oasis.opendocument.text",
        _ => "application/epub+zip",
    }
}

fn parts(reader: &str) -> &'static [&'static str] {
    match reader {
        "word" => &["word/document.xml", "word/comments.xml", "docProps/core.xml"],
        "slides" => &["ppt/slides/slide1.xml", "ppt/notesSlides/notesSlide1.xml"],
        "sheets" => &[
            "xl/sharedStrings.xml",
            "xl/worksheets/sheet1.xml",
            "xl/comments1.xml",
            "xl/workbook.xml",
        ],
        "open-document" => &["content.xml", "meta.xml"],
        _ => &["META-INF/container.xml", "p.opf", "a.xhtml"],
    }
}

/// A document with these parts, which are not compressed.
pub(crate) fn zipped(reader: &str, input: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let contents = input.split(|byte| *byte == PART_END);
    for (name, content) in parts(reader).iter().zip(contents) {
        if zip.start_file(*name, options).and_then(|()| Ok(zip.write_all(content)?)).is_err() {
            return Vec::new();
        }
    }
    zip.finish().map(Cursor::into_inner).unwrap_or_default()
}
