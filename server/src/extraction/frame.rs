//! What the server and the child that reads say to each other: a request is a kind, a MIME type and contents; an answer is
//! what was found, or why nothing was. Lengths are big-endian and go before what they count.

use std::borrow::Cow;
use std::io::{self, Read};

use super::readers::{Contents, ExtractFault, Extracted, INPUT_BYTES_MAX, TEXT_BYTES_MAX};

/// The most bytes of an answer: a text, and what stands beside it.
pub(super) const ANSWER_BYTES_MAX: u64 = 2 * TEXT_BYTES_MAX as u64;

/// Longer MIME types are none.
const MIME_TYPE_BYTES_MAX: usize = 1024;

const KIND_TEXT: u8 = 0;
const KIND_BLOB: u8 = 1;

/// What goes before the contents of a request.
pub(super) fn request_head(mime_type: &str, contents: Contents<'_>) -> Vec<u8> {
    let (kind, bytes) = match contents {
        Contents::Text(text) => (KIND_TEXT, text.len()),
        Contents::Blob(bytes) => (KIND_BLOB, bytes.len()),
    };
    let end = mime_type.floor_char_boundary(MIME_TYPE_BYTES_MAX);
    let mime_type = mime_type.get(..end).unwrap_or_default();
    let mut head = vec![kind];
    put_string(&mut head, mime_type);
    head.extend_from_slice(&(bytes as u64).to_be_bytes());
    head
}

/// A request as the child has read it.
pub(super) struct Request {
    pub(super) mime_type: String,
    kind: u8,
    bytes: Vec<u8>,
}

// === impl Request ===

impl Request {
    /// The next request; `None` when there will be none.
    pub(super) fn read(input: &mut impl Read) -> io::Result<Option<Self>> {
        let mut kind = [0];
        if input.read(&mut kind)? == 0 {
            return Ok(None);
        }
        let mut length = [0; 4];
        input.read_exact(&mut length)?;
        let mime_type = exactly(input, u64::from(u32::from_be_bytes(length)))?;
        let mut length = [0; 8];
        input.read_exact(&mut length)?;
        let bytes = exactly(input, u64::from_be_bytes(length))?;
        let mime_type = String::from_utf8_lossy(&mime_type).into_owned();
        let [kind] = kind;
        Ok(Some(Self { mime_type, kind, bytes }))
    }

    pub(super) fn contents(&self) -> Contents<'_> {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) if self.kind == KIND_TEXT => Contents::Text(text),
            _ => Contents::Blob(&self.bytes),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }
}

fn exactly(input: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(length).ok().filter(|length| *length <= INPUT_BYTES_MAX);
    let length = length.ok_or_else(|| io::Error::other("the request is too long"))?;
    let mut bytes = vec![0; length];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// An answer with its length before it.
pub(super) fn answer(found: &Result<Extracted<'_>, ExtractFault>) -> Vec<u8> {
    let mut body = vec![0; 8];
    match found {
        Ok(found) => {
            body.extend([0, u8::from(found.is_code)]);
            for value in [&found.title, &found.language] {
                body.push(u8::from(value.is_some()));
                put_string(&mut body, value.as_deref().unwrap_or_default());
            }
            body.extend_from_slice(found.text.as_bytes());
        }
        Err(ExtractFault::Damaged(reason)) => {
            body.push(1);
            body.extend_from_slice(reason.as_bytes());
        }
        Err(ExtractFault::Unknown) => body.push(2),
        Err(ExtractFault::TooLarge) => body.push(3),
        Err(_) => body.push(4),
    }
    let length = (body.len() as u64).saturating_sub(8).to_be_bytes();
    if let Some(place) = body.get_mut(..8) {
        place.copy_from_slice(&length);
    }
    body
}

/// Whether all of an answer is there.
pub(super) fn is_whole(bytes: &[u8]) -> bool {
    let Some((length, body)) = bytes.split_first_chunk::<8>() else {
        return false;
    };
    body.len() as u64 >= u64::from_be_bytes(*length)
}

/// What a whole answer says; `None` when it is no answer.
pub(super) fn parse_answer(bytes: &[u8]) -> Option<Result<Extracted<'static>, ExtractFault>> {
    let (_, body) = bytes.split_first_chunk::<8>()?;
    let (tag, body) = body.split_first()?;
    let string = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    Some(match tag {
        0 => {
            let (is_code, body) = body.split_first()?;
            let (title, body) = take_string(body)?;
            let (language, body) = take_string(body)?;
            let text = Cow::Owned(string(body)?);
            Ok(Extracted { title, text, language, is_code: *is_code != 0 })
        }
        1 => Err(ExtractFault::Damaged(string(body)?)),
        2 => Err(ExtractFault::Unknown),
        3 => Err(ExtractFault::TooLarge),
        4 => Err(ExtractFault::Panicked),
        _ => return None,
    })
}

fn put_string(bytes: &mut Vec<u8>, text: &str) {
    let length = u32::try_from(text.len()).unwrap_or_default();
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend(text.bytes().take(length as usize));
}

fn take_string(bytes: &[u8]) -> Option<(Option<String>, &[u8])> {
    let (is_some, bytes) = bytes.split_first()?;
    let (length, bytes) = bytes.split_first_chunk::<4>()?;
    let (text, rest) = bytes.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    let text = String::from_utf8(text.to_vec()).ok()?;
    Some(((*is_some != 0).then_some(text), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_answers_come_back_as_they_were() {
        for contents in [Contents::Text("té"), Contents::Blob(b"\xff\0"), Contents::Text("")] {
            let mut bytes = request_head("text/html; charset=x", contents);
            bytes.extend_from_slice(match contents {
                Contents::Text(text) => text.as_bytes(),
                Contents::Blob(bytes) => bytes,
            });
            let request = Request::read(&mut bytes.as_slice()).unwrap().unwrap();
            assert_eq!(request.mime_type, "text/html; charset=x");
            assert_eq!(format!("{:?}", request.contents()), format!("{contents:?}"));
        }
        assert!(Request::read(&mut [].as_slice()).unwrap().is_none());
        assert!(Request::read(&mut [0, 0, 0].as_slice()).is_err());
        let found = |title: Option<&str>| Extracted {
            title: title.map(str::to_owned),
            text: Cow::Borrowed("text\n"),
            language: Some("de".to_owned()),
            is_code: true,
        };
        for answered in [
            Ok(found(Some("T"))),
            Ok(found(None)),
            Err(ExtractFault::Damaged("why".to_owned())),
            Err(ExtractFault::Unknown),
            Err(ExtractFault::TooLarge),
            Err(ExtractFault::Panicked),
        ] {
            let bytes = answer(&answered);
            assert!(is_whole(&bytes) && !is_whole(&bytes[..bytes.len() - 1]));
            assert_eq!(parse_answer(&bytes), Some(answered));
        }
        assert_eq!(parse_answer(&[0; 9]), None);
    }
}
