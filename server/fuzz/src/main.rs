//! The readers of formats under libFuzzer. `PRESSMARK_READER` names the one that is run; see `tools/fuzz.sh`.
#![no_main]

mod extraction;
mod memory;
mod sources;

use std::sync::OnceLock;

use extraction::{office, readers};
use libfuzzer_sys::fuzz_target;
use readers::Contents;

#[global_allocator]
static ALLOCATOR: memory::Bounded = memory::Bounded;

fuzz_target!(|input: &[u8]| {
    static READER: OnceLock<String> = OnceLock::new();
    let reader = READER.get_or_init(|| std::env::var("PRESSMARK_READER").unwrap_or_default());
    memory::begin();
    let text = || Contents::Text(std::str::from_utf8(input).unwrap_or_default());
    let zipped;
    let found = match reader.as_str() {
        "html" => readers::read("text/html", text()),
        "markdown" => readers::read("text/markdown", text()),
        "json" => readers::read("application/json", text()),
        "notebook" => readers::read("application/x-ipynb+json", text()),
        "drawing" => readers::read("image/svg+xml", text()),
        "xml" => readers::read("text/xml", text()),
        "encoded" => readers::read("text/html", Contents::Blob(input)),
        "word" | "slides" | "sheets" | "open-document" | "book" => {
            zipped = office::zipped(reader, input);
            readers::read(office::mime_type(reader), Contents::Blob(&zipped))
        }
        "zip" => readers::read(office::mime_type("word"), Contents::Blob(input)),
        "headline" => {
            let text = std::str::from_utf8(input).unwrap_or_default();
            for mime_type in ["text/markdown", "text/html", "text/plain"] {
                let _ = sources::headline::headline(mime_type, text);
            }
            return;
        }
        _ => panic!("PRESSMARK_READER names none of the readers: {reader:?}"),
    };
    if let Ok(found) = found {
        assert!(found.text.len() <= readers::TEXT_BYTES_MAX + input.len());
    }
});
