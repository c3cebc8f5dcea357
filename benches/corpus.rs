//! Seeded corpora for the benches: the same seed gives the same resources on every machine.
//!
//! Resources are handed to the engine as values. The load test has a generator of its own, which
//! writes NDJSON and knows none of our crates; their texts are of the same kinds but need not agree.

#![forbid(unsafe_code)]

pub mod hostile_queries;
pub mod search;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pressmark_index::access::Access;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::mutation::Mutation;
use pressmark_index::read::{ReadRequest, Tier};
use pressmark_index::resource::{Address, Resource};
use pressmark_index::space::{ListMode, SpaceSettings};
use pressmark_index::writer::Durability;
use tempfile::TempDir;

/// The space of all resources.
pub const SPACE: &str = "bench";
/// Its template.
pub const URI_TEMPLATE: &str = "bench://documents/{name}";
/// A text as most resources have it, in bytes.
pub const TEXT_BYTES: usize = 1_200;
/// Bound of a reply in the benches.
pub const REPLY_BYTES_MAX: usize = 8 << 20;

/// Everything that is read stays in a cache of this size.
const BLOCK_CACHE_BYTES: usize = 512 << 20;
/// Resources of one commit while a store is filled.
const COMMIT_RESOURCES: u64 = 1_000;

const WORDS: [&str; 16] = [
    "archive", "buffer", "cursor", "document", "engine", "folder", "grammar", "handler", "index",
    "journal", "ledger", "matrix", "packet", "queue", "shelf", "vector",
];
const PLAIN: [&str; 3] = [
    "A {} keeps each {} where it was put. ",
    "Use it where a {} is too large or a {} too slow. ",
    "See the {} of the same name; its {} is shared.\n",
];
const ESCAPES: [&str; 3] = [
    "\"{}\": \"C:\\\\srv\\\\{}\",\n",
    "\tlet {} = open(\"{}\")?;\r\n",
    "{\n\t\"{}\": [\"a\\b\", \"{}\"]\n}\n",
];
const SCRIPTS: [&str; 4] = [
    "Der {} wird geprüft, bevor die größere {} geöffnet wird. ",
    "Каждый {} читается один раз, затем {} закрывается.\n",
    "索引按{}排序，读取{}时不复制。",
    "この{}は一度だけ符号化され、{}として保存されます。\n",
];

/// What a text consists of, which is what escaping it and copying it depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// ASCII prose: one line break in a hundred bytes.
    Plain,
    /// Quotes, backslashes, tabs and line breaks everywhere, as in code.
    Escapes,
    /// Latin, Cyrillic, Chinese and Japanese.
    Scripts,
}

/// A text of at least so many bytes and less than 200 more.
pub fn text(kind: TextKind, seed: u64, bytes_min: usize) -> String {
    let sentences: &[&str] = match kind {
        TextKind::Plain => &PLAIN,
        TextKind::Escapes => &ESCAPES,
        TextKind::Scripts => &SCRIPTS,
    };
    let mut random = Random(seed);
    let mut text = String::with_capacity(bytes_min + 200);
    while text.len() < bytes_min {
        let mut pieces = random.pick(sentences).split("{}");
        text.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            text.push_str(random.pick(&WORDS));
            text.push_str(piece);
        }
    }
    text
}

/// The URI of a resource; neighbours in number are not neighbours in the store.
pub fn uri(index: u64) -> String {
    let mut random = Random(index);
    format!("bench://documents/{}-{}-{index:x}", random.pick(&WORDS), random.pick(&WORDS))
}

/// Numbers below `count`, each once when that is no multiple of the stride: one is not near the next.
pub fn scattered(count: u64) -> impl Iterator<Item = u64> {
    const STRIDE: u64 = 7_919;
    (0..count).map(move |step| step * STRIDE % count)
}

/// A resource of about 1.2 KB. Of four, two are prose, one is code, one is in other scripts.
pub fn resource(seed: u64, index: u64) -> Resource {
    let kind = match index % 4 {
        0 | 1 => TextKind::Plain,
        2 => TextKind::Escapes,
        _ => TextKind::Scripts,
    };
    let text = text(kind, seed ^ index.wrapping_mul(GOLDEN_RATIO), TEXT_BYTES);
    let mut resource = Resource::text(SPACE, Address::Uri(uri(index)), "text/markdown", text);
    resource.title = Some(format!("Document {index}"));
    resource
}

/// A store in a temporary folder, with the space and nothing in it.
pub struct Store {
    /// The open engine.
    pub engine: Arc<Engine>,
    dir: TempDir,
}

impl Store {
    /// An empty store.
    ///
    /// # Errors
    /// What the engine or the file system say.
    pub fn empty(durability: Durability) -> Result<Store, Box<dyn Error>> {
        let dir = tempfile::tempdir()?;
        let engine = open(dir.path(), durability)?;
        let mut space = SpaceSettings::new(SPACE, URI_TEMPLATE);
        space.list = ListMode::All;
        engine.put_space(space)?;
        Ok(Store { engine: Arc::new(engine), dir })
    }

    /// A store with `count` resources and those of `extra`, in tables and in the block cache.
    ///
    /// # Errors
    /// What the engine or the file system say.
    pub fn filled(count: u64, extra: Vec<Resource>) -> Result<Store, Box<dyn Error>> {
        let Store { engine, dir } = Store::empty(Durability::Interval(Duration::from_secs(1)))?;
        put(&engine, extra)?;
        let mut begin = 0;
        while begin < count {
            let end = count.min(begin + COMMIT_RESOURCES);
            put(&engine, (begin..end).map(|index| resource(0, index)))?;
            begin = end;
        }
        // Opened again, so that what was written is read from tables and not from the memtable.
        drop(engine);
        let engine = open(dir.path(), Durability::Sync)?;
        let access = Access::anonymous();
        for index in 0..count {
            engine.read(&request(&uri(index), &access, Tier::Disk))?;
        }
        Ok(Store { engine: Arc::new(engine), dir })
    }

    /// The same store, opened again.
    ///
    /// # Errors
    /// What the engine says.
    pub fn reopened(self) -> Result<Store, Box<dyn Error>> {
        let Store { engine, dir } = self;
        drop(engine);
        let engine = Arc::new(open(dir.path(), Durability::Sync)?);
        Ok(Store { engine, dir })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// A read as the server asks it.
pub fn request<'a>(uri: &'a str, access: &'a Access, tier: Tier) -> ReadRequest<'a> {
    ReadRequest { uri, access, bytes_max: REPLY_BYTES_MAX, tier }
}

/// Commits resources; one that is refused is an error.
///
/// # Errors
/// What the engine says.
pub fn put(
    engine: &Engine,
    resources: impl IntoIterator<Item = Resource>,
) -> Result<(), pressmark_index::error::Error> {
    let puts = resources.into_iter().map(|resource| Mutation::Put(Box::new(resource)));
    for result in engine.commit(puts.collect())? {
        result?;
    }
    Ok(())
}

fn open(dir: &Path, durability: Durability) -> Result<Engine, pressmark_index::error::Error> {
    let options = EngineOptions {
        block_cache_bytes: BLOCK_CACHE_BYTES,
        hot_cache_bytes: 32 << 20,
        completion_memory_entries: 128 * 1_024,
        completion_cache_bytes: 1 << 20,
        full_text: None,
        durability,
        change_log_retention: Duration::from_secs(3600),
        owner: "a bench".to_owned(),
    };
    Engine::open(dir, &options)
}

/// SplitMix64 (Steele, Lea, Flood 2014): its values are part of the corpora, so it is no crate's.
pub struct Random(pub u64);

const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The next of its numbers.
    #[expect(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN_RATIO);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `bound`; zero when that is zero.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide = u128::from(self.next()) * (bound as u128);
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// One of some words.
    pub fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        let at = self.below(words.len());
        words.get(at).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_makes_one_corpus() {
        assert_eq!(resource(1, 5), resource(1, 5));
        assert_ne!(resource(1, 5), resource(2, 5));
        assert_eq!(uri(5), uri(5));
    }

    #[test]
    fn texts_have_their_size() {
        for kind in [TextKind::Plain, TextKind::Escapes, TextKind::Scripts] {
            let bytes = text(kind, 1, TEXT_BYTES).len();
            assert!((TEXT_BYTES..TEXT_BYTES + 200).contains(&bytes), "{kind:?}: {bytes}");
        }
    }
}
