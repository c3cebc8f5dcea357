//! What the readers call of `pdf-extract`, refusing each document. The library panics and recurses on most files that a
//! fuzzer makes, which the server's child survives, and takes longer to compile with coverage than everything else.

use std::collections::BTreeMap;

pub struct Document {
    pub trailer: Dictionary,
}

pub struct Dictionary(Object);

pub enum Object {}

pub struct PlainTextOutput;

impl Document {
    pub fn load_mem(_: &[u8]) -> Result<Self, &'static str> {
        Err("PDF is not fuzzed")
    }

    pub fn is_encrypted(&self) -> bool {
        match self.trailer.0 {}
    }

    pub fn decrypt(&mut self, _: &str) -> Result<(), &'static str> {
        match self.trailer.0 {}
    }

    pub fn get_pages(&self) -> BTreeMap<u32, ()> {
        match self.trailer.0 {}
    }

    pub fn get_dictionary(&self, _: &Object) -> Result<&Dictionary, &'static str> {
        match self.trailer.0 {}
    }
}

impl Dictionary {
    pub fn get(&self, _: &[u8]) -> Result<&Object, &'static str> {
        match self.0 {}
    }
}

impl Object {
    pub fn as_reference(&self) -> Result<&Object, &'static str> {
        match *self {}
    }

    pub fn as_str(&self) -> Result<&[u8], &'static str> {
        match *self {}
    }
}

impl PlainTextOutput {
    pub fn new(_: &mut String) -> Self {
        Self
    }
}

pub fn output_doc_page(
    document: &Document,
    _: &mut PlainTextOutput,
    _: u32,
) -> Result<(), &'static str> {
    match document.trailer.0 {}
}
