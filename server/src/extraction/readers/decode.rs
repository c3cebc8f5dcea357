//! Text in other encodings than UTF-8, for searching only: what is served stays the bytes as they are.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

/// How far into a text its encoding is looked for: the WHATWG's prescan takes as much.
const DECLARATION_BYTES: usize = 1024;

/// How much of a text the encoding is guessed from.
const SAMPLE_BYTES: usize = 64 * 1024;

/// The text of bytes: by byte order mark, as UTF-8, by what the type or the text itself declares, else by a guess.
pub(in crate::extraction) fn decode<'a>(bytes: &'a [u8], mime_type: &str) -> Cow<'a, str> {
    if let Some((encoding, mark_bytes)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(bytes.get(mark_bytes..).unwrap_or_default()).0;
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let declared = parameter(mime_type).or_else(|| declaration(bytes));
    let encoding = declared.filter(|encoding| *encoding != UTF_8).unwrap_or_else(|| guess(bytes));
    encoding.decode_without_bom_handling(bytes).0
}

/// `charset=` of a MIME type.
fn parameter(mime_type: &str) -> Option<&'static Encoding> {
    let lower = mime_type.to_ascii_lowercase();
    let (_, value) = lower.split_once("charset=")?;
    label(value)
}

/// `<meta charset=...>`, `content="...; charset=..."`, `<?xml ... encoding="..."?>`.
fn declaration(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..bytes.len().min(DECLARATION_BYTES))?;
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    ["charset=", "encoding="].iter().find_map(|name| {
        let (_, value) = head.split_once(name)?;
        label(value)
    })
}

/// The encoding that a value names, in quotes or not.
fn label(value: &str) -> Option<&'static Encoding> {
    let value = value.trim_start_matches(['"', '\'', ' ']);
    let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || "-_.:".contains(c)));
    Encoding::for_label(value.get(..end.unwrap_or(value.len()))?.as_bytes())
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let sample = bytes.get(..SAMPLE_BYTES).unwrap_or(bytes);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, sample.len() == bytes.len());
    detector.guess(None, Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_marked_declared_or_guessed() {
        let utf16 = |text: &str| {
            let units = text.encode_utf16().flat_map(u16::to_le_bytes);
            [0xff, 0xfe].into_iter().chain(units).collect::<Vec<u8>>()
        };
        let in_encoding = |label: &str, text: &str| {
            Encoding::for_label(label.as_bytes()).unwrap().encode(text).0.into_owned()
        };
        let japanese = "検索は文書を見つけるための道具です。日本語の文書も見つかります。";
        let xml = format!("<?xml version=\"1.0\" encoding='EUC-JP'?><a>{japanese}</a>");
        for (bytes, mime_type, expected) in [
            (b"plain".to_vec(), "text/plain", "plain"),
            (b"\xef\xbb\xbfmarked".to_vec(), "text/plain", "marked"),
            (utf16("wide \u{e9}"), "text/csv", "wide é"),
            (b"caf\xe9".to_vec(), "text/plain; charset=ISO-8859-1", "café"),
            (
                b"<meta charset=windows-1252>\x93q\x94".to_vec(),
                "text/html",
                "<meta charset=windows-1252>“q”",
            ),
            (in_encoding("euc-jp", &xml), "text/xml", &xml),
            (in_encoding("shift_jis", japanese), "text/plain", japanese),
            (b"a\xffb".to_vec(), "text/plain; charset=nonsense", "aÿb"),
            (Vec::new(), "", ""),
        ] {
            assert_eq!(decode(&bytes, mime_type), expected, "{mime_type}");
        }
    }
}
