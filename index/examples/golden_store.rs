//! Writes the golden store of the current format into a new folder: `cargo run -p pressmark-index --example
//! golden_store FOLDER`. Each format version keeps one under `index/tests/golden/`, made by the program of that time.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::mutation::Mutation;
use pressmark_index::prompt::{
    Media, Prompt, PromptArgument, PromptCompletion, PromptContent, PromptMessage, PromptSettings,
};
use pressmark_index::resource::{Address, Body, Part, RawJson, Resource, Role, SourceMark};
use pressmark_index::space::{AliasClash, ListMode, SpaceSettings};
use pressmark_index::writer::Durability;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("name the folder to write to")?;
    let options = EngineOptions {
        block_cache_bytes: 8 << 20,
        hot_cache_bytes: 0,
        completion_memory_entries: 128 * 1_024,
        completion_cache_bytes: 1 << 20,
        full_text: None,
        durability: Durability::Sync,
        change_log_retention: Duration::from_secs(1 << 40),
        owner: "the golden store".into(),
    };
    let engine = Engine::open(Path::new(&folder), &options)?;
    let mut handbook = SpaceSettings::new("handbook", "docs://handbook/{+path}");
    handbook.title = Some("Handbook".into());
    handbook.list = ListMode::All;
    handbook.alias_clash = AliasClash::Warn;
    engine.put_space(handbook)?;
    engine.put_space(SpaceSettings::new("pypi", "pypi://packages/{name}"))?;
    let mut mutations = vec![full(), plain("docs://handbook/b%20c.md", "B"), large(), restricted()];
    mutations.push(plain("docs://handbook/gone.md", "soon gone"));
    commit(&engine, mutations)?;
    commit(
        &engine,
        vec![
            Mutation::Delete { uri: "docs://handbook/gone.md".into() },
            plain("docs://handbook/b%20c.md", "B, second version"),
            plain("docs://handbook/x%2Fy.md", "an escaped slash"),
        ],
    )?;
    engine.commit_once(b"golden-key", vec![plain("docs://handbook/once.md", "once")])?;
    engine.put_prompt(Arc::new(Prompt::new(every_content())?))?;
    engine.flush()?;
    Ok(())
}

fn commit(engine: &Engine, mutations: Vec<Mutation>) -> Result<(), Box<dyn std::error::Error>> {
    for result in engine.commit(mutations)? {
        result?;
    }
    Ok(())
}

fn plain(uri: &str, text: &str) -> Mutation {
    Mutation::Put(Box::new(Resource::text(
        "handbook",
        Address::Uri(uri.into()),
        "text/markdown",
        text,
    )))
}

/// Every field that a record can have.
fn full() -> Mutation {
    let mut resource = Resource::text(
        "handbook",
        Address::Uri("docs://handbook/full.md".into()),
        "text/markdown",
        "# Full \"title\"\n中文\u{2028}\n",
    );
    resource.name = Some("full".into());
    resource.title = Some("Full \"title\"".into());
    resource.description = Some("Every field".into());
    resource.annotations.audience = vec![Role::User, Role::Assistant];
    resource.annotations.priority = Some(0.75);
    resource.annotations.last_modified = Some(1_736_694_058_000);
    resource.icons = Some(RawJson(r#"[{"src":"data:,"}]"#.into()));
    resource.meta = Some(RawJson(r#"{"k":1}"#.into()));
    resource.pinned = true;
    resource.source = Some(SourceMark { source_id: 42, fingerprint: vec![1, 2, 3] });
    resource.contents.push(Part {
        uri: Some("docs://handbook/full.md#logo".into()),
        mime_type: Some("image/png".into()),
        meta: Some(RawJson(r#"{"part":2}"#.into())),
        body: Body::Blob(vec![0, 127, 255]),
    });
    Mutation::Put(Box::new(resource))
}

fn large() -> Mutation {
    let text: String = (0..10_000).map(|n| format!("line {n}\n")).collect();
    plain("docs://handbook/large.md", &text)
}

fn restricted() -> Mutation {
    let address = Address::Uri("pypi://packages/secret".into());
    let mut resource = Resource::text("pypi", address, "text/plain", "for staff");
    resource.acl = Some(vec!["staff".into(), "board".into()]);
    Mutation::Put(Box::new(resource))
}

/// Every kind of content and completion that a prompt can have.
fn every_content() -> PromptSettings {
    let mut settings = PromptSettings::new("review");
    settings.title = Some("Review".into());
    settings.description = Some("Looks a page over".into());
    let mut tone = PromptArgument::required("tone");
    tone.required = false;
    tone.title = Some("Tone".into());
    tone.description = Some("How to say it".into());
    tone.completion = PromptCompletion::Values(vec!["kind".into(), "dry".into()]);
    let mut page = PromptArgument::required("page");
    page.completion =
        PromptCompletion::Variable { space: "handbook".into(), variable: "path".into() };
    settings.arguments = vec![tone, page, PromptArgument::required("note")];
    let media = |mime_type: &str| Media { mime_type: mime_type.into(), data: vec![0, 127, 255] };
    settings.messages = [
        (Role::User, PromptContent::Text("Review {page}, {tone}: {{{note}}}".into())),
        (Role::User, PromptContent::Image(media("image/png"))),
        (Role::User, PromptContent::Audio(media("audio/wav"))),
        (Role::User, PromptContent::ResourceLink("docs://handbook/{+page}".into())),
        (Role::Assistant, PromptContent::EmbeddedResource("docs://handbook/full.md".into())),
    ]
    .map(|(role, content)| PromptMessage { role, content })
    .into();
    settings
}
