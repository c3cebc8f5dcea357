//! Answers the queries of a judged set, for `loadtest/search/score.py` to judge.
//!
//! ```text
//! cargo run --release --package pressmark-benches --example search_quality -- SET pressmark|tantivy HITS
//! ```
//!
//! `SET` is a folder with `documents.ndjson` and `queries.tsv`. `pressmark` loads the documents into the store `SET/store`
//! if there is none, and answers through [`Engine::search`] (`SET/pressmark.run`). `tantivy` is that library as it comes: its
//! default tokenizer over title and text, its query parser with any of the words wanted (`SET/tantivy-any.run`) and with all
//! (`SET/tantivy-all.run`). `HITS` are the answers to a query that are judged, by pages of ten.
//!
//! [`Engine::search`]: pressmark_index::engine::Engine::search

use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use pressmark_benches::search;
use pressmark_index::full_text::SearchRequest;
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{STORED, STRING, Schema, TEXT, Value};
use tantivy::{Index, TantivyDocument};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const TANTIVY_BYTES: usize = 512 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what: &str| arguments.next().ok_or_else(|| format!("{what} is missing"));
    let (set, engine) = (PathBuf::from(next("SET")?), next("ENGINE")?);
    let hits = next("HITS")?.parse()?;
    match engine.as_str() {
        "pressmark" => pressmark(&set, hits),
        "tantivy" => raw_tantivy(&set, hits),
        other => Err(format!("`{other}` is no engine: write pressmark or tantivy").into()),
    }
}

fn queries(set: &Path) -> io::Result<Vec<String>> {
    let text = std::fs::read_to_string(set.join("queries.tsv"))?;
    Ok(text.lines().filter_map(|line| line.split('\t').nth(1)).map(str::to_owned).collect())
}

/// Writes what `answer` finds for each query, a line each.
fn run(
    set: &Path,
    name: &str,
    mut answer: impl FnMut(&str) -> Result<Vec<String>, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut lines = BufWriter::new(File::create(set.join(name))?);
    let began = Instant::now();
    for query in queries(set)? {
        writeln!(lines, "{}", answer(&query)?.join(" "))?;
    }
    writeln!(io::stdout(), "{name} in {:?}", began.elapsed())?;
    Ok(lines.flush()?)
}

fn pressmark(set: &Path, hits: usize) -> Result<(), Box<dyn Error>> {
    let store = set.join("store");
    let is_loaded = store.exists();
    let engine = search::open(&store, true)?;
    if !is_loaded {
        search::load(&engine, &set.join("documents.ndjson"))?;
    }
    search::wait_until_indexed(&engine)?;
    let access = search::group_access();
    run(set, "pressmark.run", |query| {
        let mut ids = Vec::new();
        let mut cursor: Option<String> = None;
        while ids.len() < hits {
            let page = engine.search(&SearchRequest {
                cursor: cursor.as_deref(),
                snippet_bytes: 0,
                ..search::request(query, &access)
            })?;
            ids.extend(page.hits.iter().filter_map(|hit| search::id_of(&engine, &hit.uri)));
            let Some(next) = page.next_cursor else { break };
            cursor = Some(next);
        }
        Ok(ids)
    })
}

fn raw_tantivy(set: &Path, hits: usize) -> Result<(), Box<dyn Error>> {
    let mut schema = Schema::builder();
    let id = schema.add_text_field("id", STRING | STORED);
    let title = schema.add_text_field("title", TEXT);
    let text = schema.add_text_field("text", TEXT);
    let index = Index::create_in_ram(schema.build());
    let mut writer = index.writer(TANTIVY_BYTES)?;
    for document in search::documents(&set.join("documents.ndjson"))? {
        let document = document?;
        let mut fields = TantivyDocument::new();
        fields.add_text(id, &document.id);
        fields.add_text(title, &document.title);
        fields.add_text(text, &document.text);
        writer.add_document(fields)?;
    }
    writer.commit()?;
    let searcher = index.reader()?.searcher();
    let any = QueryParser::for_index(&index, vec![title, text]);
    let mut all = QueryParser::for_index(&index, vec![title, text]);
    all.set_conjunction_by_default();
    for (parser, name) in [(any, "tantivy-any.run"), (all, "tantivy-all.run")] {
        run(set, name, |query| {
            let (query, _faults) = parser.parse_query_lenient(query);
            let found = searcher.search(&query, &TopDocs::with_limit(hits).order_by_score())?;
            let ids = found.into_iter().map(|(_, address)| {
                let stored: TantivyDocument = searcher.doc(address)?;
                let id = stored.get_first(id).and_then(|value| value.as_str());
                Ok(id.unwrap_or_default().to_owned())
            });
            ids.collect()
        })?;
    }
    Ok(())
}
