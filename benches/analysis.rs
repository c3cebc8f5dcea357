//! Texts to tokens, in bytes a second: what indexing pays before tantivy sees a word.

#![allow(missing_docs, reason = "criterion's macros define functions without")]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pressmark_index::full_text::measured::{Analyser, Language, detect_language};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TEXT_BYTES: usize = 64 << 10;

const ENGLISH: &str = "A resource is read by its address. The server keeps what it was given, answers with the bytes that \
    were stored, and tells those who watch it when something changes. Nothing that a caller may not see is counted, listed or \
    found. Reading costs one look-up; writing is slower, because every commit waits until the disk has it. ";
const GERMAN: &str = "Eine Ressource wird über ihre Adresse gelesen. Der Dienst bewahrt auf, was er bekommen hat, und \
    schickt die Bytes so zurück, wie sie gespeichert wurden. Größere Texte liegen in Stücken, damit nur gelesen wird, was \
    gebraucht wird. Änderungen hört, wer zuhören möchte. ";
const RUSSIAN: &str = "Ресурс читается по своему адресу. Сервер хранит то, что получил, и отвечает теми байтами, которые были \
    записаны. Большие тексты лежат частями, чтобы читать только нужное. ";
const CHINESE: &str = "資源按其地址讀取。伺服器保存所收到的內容，並以存儲的字節回答。較大的文本分段保存，只讀取需要的部分。";
const THAI: &str = "ทรัพยากรถูกอ่านตามที่อยู่ของมัน เซิร์ฟเวอร์เก็บสิ่งที่ได้รับและตอบด้วยไบต์ที่เก็บไว้ ";
const CODE: &str = "pub fn read_resource(&self, uri: &str) -> Result<Option<ResourceContents>, Error> {\n    let \
    normalForm = normalise(uri)?;\n    match self.store.get_pinned(CF_CONTENTS, normalForm.as_bytes())? {\n        \
    Some(value) => Ok(Some(ResourceContents::decode(&value)?)),\n        None => Ok(None),\n    }\n}\n";

fn analyse(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("analysis/tokens");
    for (name, text, language) in [
        ("english", ENGLISH, None),
        ("english_stems", ENGLISH, Some("en")),
        ("german", GERMAN, None),
        ("german_stems", GERMAN, Some("de")),
        ("russian", RUSSIAN, None),
        ("russian_stems", RUSSIAN, Some("ru")),
        ("chinese", CHINESE, None),
        ("thai", THAI, None),
        ("code", CODE, None),
        ("code_stems", CODE, Some("en")),
    ] {
        let text = text.repeat(TEXT_BYTES / text.len() + 1);
        let language = language.and_then(Language::of_tag);
        let mut analyser = Analyser::default();
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_with_input(BenchmarkId::from_parameter(name), &text, |bencher, text| {
            bencher.iter(|| {
                let mut bytes = 0;
                analyser.analyse(black_box(text), language, &mut |token| bytes += token.text.len());
                bytes
            });
        });
    }
    group.finish();
}

fn detect(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("analysis/detect_language");
    for (name, text) in [("english", ENGLISH), ("german", GERMAN), ("russian", RUSSIAN)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| detect_language(black_box(text), None));
        });
    }
    group.finish();
}

criterion_group!(benches, analyse, detect);
criterion_main!(benches);
