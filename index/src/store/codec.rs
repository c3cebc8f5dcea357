//! Reading and writing the fields of keys and values: fixed-width big-endian integers and
//! length-prefixed bytes. A value that ends early or late is `Corrupt`, never a panic.

use crate::error::{Error, ErrorKind, Result};

/// Appends fields to a buffer.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn with_capacity(capacity_bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity_bytes) }
    }

    pub(crate) fn u8(&mut self, value: u8) -> &mut Self {
        self.bytes.push(value);
        self
    }

    pub(crate) fn u16(&mut self, value: u16) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub(crate) fn u32(&mut self, value: u32) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub(crate) fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    pub(crate) fn i64(&mut self, value: i64) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    /// Bytes as they are, without a length.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    /// Bytes behind their length as `u32`. Longer than that cannot happen: bodies are bounded far below.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        debug_assert!(length < u32::MAX, "a field of 4 GiB");
        self.u32(length).raw(bytes)
    }

    pub(crate) fn optional(&mut self, bytes: Option<&[u8]>) -> &mut Self {
        match bytes {
            None => self.u8(0),
            Some(bytes) => self.u8(1).bytes(bytes),
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Takes fields off a buffer, front to back.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// `what` names the value in errors, e.g. "contents value".
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    /// The error for bytes that cannot be what was written.
    pub(crate) fn corrupt(&self, detail: &str) -> Error {
        Error::new(
            ErrorKind::Corrupt,
            self.what,
            format!("{detail}; run `pressmark verify`, then restore a backup or load again"),
        )
    }

    pub(crate) fn raw(&mut self, count: usize) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(count) {
            Some((head, rest)) => {
                self.rest = rest;
                Ok(head)
            }
            None => Err(self.corrupt("the stored bytes end early")),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let bytes = self.raw(N)?;
        bytes.try_into().map_err(|_| self.corrupt("the stored bytes end early"))
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        self.array::<1>().map(u8::from_be_bytes)
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64> {
        self.array().map(i64::from_be_bytes)
    }

    pub(crate) fn fixed<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.array()
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.u32()?;
        self.raw(usize::try_from(length).unwrap_or(usize::MAX))
    }

    pub(crate) fn optional(&mut self) -> Result<Option<&'a [u8]>> {
        match self.u8()? {
            0 => Ok(None),
            1 => self.bytes().map(Some),
            other => Err(self.corrupt(&format!("{other} where 0 or 1 must stand"))),
        }
    }

    pub(crate) fn str(&mut self) -> Result<&'a str> {
        let bytes = self.bytes()?;
        std::str::from_utf8(bytes).map_err(|_| self.corrupt("a stored string is not UTF-8"))
    }

    pub(crate) fn optional_str(&mut self) -> Result<Option<&'a str>> {
        match self.optional()? {
            None => Ok(None),
            Some(bytes) => std::str::from_utf8(bytes)
                .map(Some)
                .map_err(|_| self.corrupt("a stored string is not UTF-8")),
        }
    }

    /// All that is left, as a string.
    pub(crate) fn rest_str(&mut self) -> Result<&'a str> {
        let rest = std::mem::take(&mut self.rest);
        std::str::from_utf8(rest).map_err(|_| self.corrupt("a stored string is not UTF-8"))
    }

    /// Bytes that are left.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// What is left must be nothing.
    pub(crate) fn finish(&self) -> Result<()> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(self.corrupt(&format!("{} bytes too many are stored", self.rest.len())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fields_come_back_as_written(
            a: u8, b: u16, c: u32, d: u64, e: i64, bytes: Vec<u8>, text: String, absent: bool,
        ) {
            let optional = (!absent).then_some(bytes.as_slice());
            let mut writer = Writer::default();
            writer.u8(a).u16(b).u32(c).u64(d).i64(e).bytes(&bytes).bytes(text.as_bytes()).optional(optional);
            let written = writer.finish();
            let mut reader = Reader::new(&written, "test");
            prop_assert_eq!(reader.u8().unwrap(), a);
            prop_assert_eq!(reader.u16().unwrap(), b);
            prop_assert_eq!(reader.u32().unwrap(), c);
            prop_assert_eq!(reader.u64().unwrap(), d);
            prop_assert_eq!(reader.i64().unwrap(), e);
            prop_assert_eq!(reader.bytes().unwrap(), bytes.as_slice());
            prop_assert_eq!(reader.str().unwrap(), text);
            prop_assert_eq!(reader.optional().unwrap(), optional);
            prop_assert!(reader.finish().is_ok());
        }

        #[test]
        fn any_bytes_give_a_value_or_an_error(bytes: Vec<u8>) {
            let mut reader = Reader::new(&bytes, "test");
            while let Ok(_field) = reader.optional_str() {}
            prop_assert!(reader.bytes().is_err() || reader.finish().is_ok() || !reader.is_at_end());
        }
    }
}
