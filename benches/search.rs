//! Collections for the comparisons of search with other engines: documents in lines of JSON, loaded into a store.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pressmark_index::access::Access;
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::full_text::extract::AsStored;
use pressmark_index::full_text::{FullTextOptions, SearchRequest, SearchSort};
use pressmark_index::mutation::Mutation;
use pressmark_index::resource::{Address, Binding, Resource, Value};
use pressmark_index::space::SpaceSettings;
use pressmark_index::writer::Durability;

/// The space of all documents.
pub const SPACE: &str = "documents";
/// The group that may see the documents that not all may see.
pub const GROUP: &str = "staff";
/// Hits of a page.
pub const HITS: usize = 10;
/// Bytes of a snippet.
pub const SNIPPET_BYTES: usize = 300;
/// No answer shall depend on how fast the machine is.
pub const TIME_MAX: Duration = Duration::from_secs(60);
const URI_TEMPLATE: &str = "documents://{collection}/{name}";
const COMMIT_DOCUMENTS: usize = 2_000;
/// One document in so many is another's MIME type, and one is for the group only.
const OTHER_ONE_IN: usize = 8;

/// A document as it stands in a collection's file.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its collection and its name, with a slash between.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its text.
    pub text: String,
}

/// The documents of a file, in its order.
///
/// # Errors
/// What the file system says; lines that are no documents are errors when they are reached.
pub fn documents(
    file: &Path,
) -> io::Result<impl Iterator<Item = Result<Document, Box<dyn Error>>>> {
    let lines = BufReader::new(File::open(file)?).lines();
    Ok(lines.map(|line| {
        let line: serde_json::Value = serde_json::from_str(&line?)?;
        let field = |name: &str| line.get(name).and_then(serde_json::Value::as_str);
        let (Some(id), Some(title), Some(text)) = (field("id"), field("title"), field("text"))
        else {
            return Err("a document lacks its id, title or text".into());
        };
        Ok(Document { id: id.to_owned(), title: title.to_owned(), text: text.to_owned() })
    }))
}

/// Opens a store, with full text or without.
///
/// # Errors
/// What the engine says.
pub fn open(folder: &Path, full_text: bool) -> Result<Engine, pressmark_index::error::Error> {
    let options = EngineOptions {
        block_cache_bytes: 512 << 20,
        hot_cache_bytes: 0,
        completion_memory_entries: 1 << 20,
        completion_cache_bytes: 1 << 20,
        full_text: full_text.then(|| FullTextOptions {
            memory_bytes: 256 << 20,
            hit_cache_bytes: 32 << 20,
            threads: 2,
            commit_interval: Duration::from_millis(500),
            extract: Arc::new(AsStored),
        }),
        durability: Durability::Interval(Duration::from_millis(200)),
        change_log_retention: Duration::from_secs(3600),
        owner: "a comparison of search".to_owned(),
    };
    Engine::open(folder, &options)
}

/// Commits the documents of a file and gives their number.
///
/// # Errors
/// What the engine or the file system say.
pub fn load(engine: &Engine, file: &Path) -> Result<usize, Box<dyn Error>> {
    engine.put_space(SpaceSettings::new(SPACE, URI_TEMPLATE))?;
    let mut count = 0;
    let mut puts = Vec::with_capacity(COMMIT_DOCUMENTS);
    for document in documents(file)? {
        puts.push(Mutation::Put(Box::new(resource(document?, count))));
        count += 1;
        if puts.len() == COMMIT_DOCUMENTS {
            commit(engine, std::mem::take(&mut puts))?;
        }
    }
    commit(engine, puts)?;
    Ok(count)
}

fn commit(engine: &Engine, puts: Vec<Mutation>) -> Result<(), Box<dyn Error>> {
    for result in engine.commit(puts)? {
        result?;
    }
    Ok(())
}

fn resource(document: Document, number: usize) -> Resource {
    let (collection, name) = document.id.split_once('/').unwrap_or(("", &document.id));
    let binding =
        |name: &str, value: &str| Binding { name: name.into(), value: Value::String(value.into()) };
    let address =
        Address::Variables(vec![binding("collection", collection), binding("name", name)]);
    let mime_type = mime_type(number);
    let mut resource = Resource::text(SPACE, address, mime_type, document.text);
    resource.title = Some(document.title);
    resource.annotations.last_modified = Some(modified(number));
    resource.acl = is_for_group(number).then(|| vec![GROUP.to_owned()]);
    resource
}

/// The MIME type of the document with this number.
pub fn mime_type(number: usize) -> &'static str {
    if number % OTHER_ONE_IN == 1 { "text/markdown" } else { "text/plain" }
}

/// Whether only the group may see the document with this number.
pub fn is_for_group(number: usize) -> bool {
    number % OTHER_ONE_IN == 2
}

/// When the document with this number was changed, in milliseconds.
pub fn modified(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX).saturating_mul(1_000)
}

/// Who may see all documents.
pub fn group_access() -> Access {
    Access::anonymous().with_groups(vec![GROUP.to_owned()])
}

/// Waits until all that was committed can be found.
///
/// # Errors
/// Why the index does not go on.
pub fn wait_until_indexed(engine: &Engine) -> Result<(), Box<dyn Error>> {
    loop {
        let progress =
            engine.full_text_progress().ok_or("the store was opened without full text")?;
        if let Some(failure) = progress.failure {
            return Err(failure.into());
        }
        if progress.rebuilding.is_none() && progress.indexed_through >= progress.newest {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The id of the document with this URI.
pub fn id_of(engine: &Engine, uri: &str) -> Option<String> {
    let spaces = engine.spaces();
    let bindings = spaces.by_name(SPACE)?.matcher.match_uri(uri)?;
    let values = bindings.into_iter().filter_map(|binding| match binding.value {
        Value::String(value) => Some(value),
        Value::List(_) | Value::Map(_) => None,
    });
    Some(values.collect::<Vec<_>>().join("/"))
}

/// A search of ten hits as a host asks it, without conditions.
pub fn request<'a>(query: &'a str, access: &'a Access) -> SearchRequest<'a> {
    SearchRequest {
        query,
        space: None,
        variables: &[],
        mime_type: None,
        modified: None,
        sort: SearchSort::Relevance,
        limit: HITS,
        cursor: None,
        snippet_bytes: SNIPPET_BYTES,
        after_sequence: None,
        time_max: TIME_MAX,
        access,
    }
}
