//! Prompts: what may be declared, what values make of them, and that the store keeps them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use common::*;
use pressmark_index::access::Access;
use pressmark_index::backup::{BackupRequest, restore};
use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::error::ErrorKind;
use pressmark_index::prompt::{
    ARGUMENTS_MAX, FillFault, FilledContent, MESSAGES_MAX, Media, PROMPT_BYTES_MAX, PROMPTS_MAX,
    Prompt, PromptArgument, PromptCompletion, PromptContent, PromptMessage, PromptSettings,
    VALUES_MAX,
};
use pressmark_index::resource::Role;
use pressmark_index::space::SpaceSettings;
use pressmark_index::writer::Durability;

fn message(content: PromptContent) -> PromptMessage {
    PromptMessage { role: Role::User, content }
}

/// A prompt with the arguments `a` and `b`.
fn settings(contents: Vec<PromptContent>) -> PromptSettings {
    let mut settings = PromptSettings::new("p");
    settings.arguments = ["a", "b"].map(PromptArgument::required).into();
    settings.messages = contents.into_iter().map(message).collect();
    settings
}

fn text(text: &str) -> PromptContent {
    PromptContent::Text(text.into())
}

fn named(name: &str, said: &str) -> Arc<Prompt> {
    let mut settings = PromptSettings::new(name);
    settings.messages = vec![message(text(said))];
    Arc::new(Prompt::new(settings).unwrap())
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let check = |change: &dyn Fn(&mut PromptSettings), wanted: &str| {
        let mut settings = settings(vec![text("{a} {b}")]);
        change(&mut settings);
        assert_eq!(Prompt::new(settings).unwrap_err().to_string(), wanted);
    };
    let contents = |content: PromptContent| {
        move |settings: &mut PromptSettings| settings.messages.push(message(content.clone()))
    };
    let media =
        |mime_type: &str, data: &[u8]| Media { mime_type: mime_type.into(), data: data.into() };
    check(
        &|p| p.name = "a b".into(),
        "name: \"a b\" is no name; use 1 to 64 of A-Z, a-z, 0-9 and _ . -",
    );
    check(
        &|p| p.arguments[1].name = "a-b".into(),
        "arguments[1].name: \"a-b\" is no name; use 1 to 64 of A-Z, a-z, 0-9 and _",
    );
    check(
        &|p| p.arguments[1].name = "a".into(),
        "arguments[1].name: `a` is the name of an earlier argument",
    );
    check(
        &|p| p.arguments[0].completion = PromptCompletion::Values(vec![String::new()]),
        "arguments[0].values: a value is empty",
    );
    check(
        &|p| p.arguments[0].completion = PromptCompletion::Values(vec!["v".into(); VALUES_MAX + 1]),
        "arguments[0].values: 1001 values, at most 1000; put more into a space and complete from its variable",
    );
    check(
        &|p| {
            p.arguments[0].completion =
                PromptCompletion::Variable { space: "docs".into(), variable: String::new() };
        },
        "arguments[0].variable: names no variable",
    );
    check(
        &|p| {
            let more = (0..ARGUMENTS_MAX).map(|at| PromptArgument::required(format!("c{at}")));
            p.arguments.extend(more);
        },
        "arguments: 66 arguments, at most 64",
    );
    check(&|p| p.messages.clear(), "messages: a prompt needs a message");
    check(
        &|p| p.messages = vec![p.messages[0].clone(); MESSAGES_MAX + 1],
        "messages: 257 messages, at most 256",
    );
    check(
        &contents(text("{c}")),
        "messages[1].text: `{c}` is no argument of the prompt; declare it, or write `{{` and `}}` for braces",
    );
    check(
        &contents(text("{\"json\": 1}")),
        "messages[1].text: `{\"json\": 1}` is no argument of the prompt; declare it, or write `{{` and `}}` for braces",
    );
    check(
        &contents(text("a } b")),
        "messages[1].text: a `}` alone at byte 2; write `}}` for a brace",
    );
    check(
        &contents(PromptContent::ResourceLink("docs://h/{c}".into())),
        "messages[1].resource_link: `{c}` is no argument of the prompt; declare it",
    );
    check(
        &contents(PromptContent::EmbeddedResource("docs://h/{a".into())),
        "messages[1].embedded_resource: docs://h/{a: at byte 9: the expression is not closed with `}`",
    );
    check(
        &contents(PromptContent::EmbeddedResource("handbook".into())),
        "messages[1].embedded_resource: handbook: a URI begins with a scheme",
    );
    check(
        &contents(PromptContent::ResourceLink(String::new())),
        "messages[1].resource_link: it is empty",
    );
    check(
        &contents(PromptContent::Image(media("audio/wav", b"x"))),
        "messages[1].image: mime_type: \"audio/wav\" is no MIME type of `image/`",
    );
    check(
        &contents(PromptContent::Audio(media("audio/", b"x"))),
        "messages[1].audio: mime_type: \"audio/\" is no MIME type of `audio/`",
    );
    check(
        &contents(PromptContent::Audio(media("audio/wav", b""))),
        "messages[1].audio: data: it is empty",
    );
    check(
        &contents(PromptContent::Image(media("image/png", &vec![0; PROMPT_BYTES_MAX]))),
        "messages: the prompt takes 2097222 bytes, at most 2097152; put large media into the store and embed them",
    );
}

fn fill(content: PromptContent, a: &str) -> Result<String, FillFault> {
    let prompt = Prompt::new(settings(vec![content])).unwrap();
    let filled = prompt.fill(&[("a".to_owned(), a.to_owned())], 1_000)?;
    Ok(match filled.into_iter().next().unwrap().content {
        FilledContent::Text(text)
        | FilledContent::ResourceLink(text)
        | FilledContent::EmbeddedResource(text) => text,
        FilledContent::Image(_) | FilledContent::Audio(_) => unreachable!(),
    })
}

#[test]
fn a_value_stays_one_place_of_a_uri_unless_it_may_be_more() {
    let link = |uri: &str| PromptContent::ResourceLink(uri.into());
    for (uri, value, wanted) in [
        ("docs://h/{a}", "x", "docs://h/x"),
        ("docs://h/{a}", "x y/../{b}?q#f", "docs://h/x%20y%2F..%2F%7Bb%7D%3Fq%23f"),
        ("docs://h/{a}", "é%2F", "docs://h/%C3%A9%252F"),
        ("docs://h/{+a}", "x/y z%2F.md#line=1,2", "docs://h/x/y%20z%2F.md#line=1,2"),
        ("{+a}", "docs://h/x", "docs://h/x"),
        ("docs://h/x{?a,b}", "1&2", "docs://h/x?a=1%262"),
        ("docs://h/{b}", "x", "docs://h/"),
    ] {
        assert_eq!(fill(link(uri), value).as_deref(), Ok(wanted), "{uri} {value}");
    }
    assert_eq!(fill(link("docs://h/{a}"), &"x".repeat(8 * 1_024 + 1)), Err(FillFault::LongUri));
    let often = format!("docs://h/{}", "{+a}/".repeat(1_000));
    assert_eq!(fill(link(&often), &"x".repeat(1_000)), Err(FillFault::LongUri));
}

#[test]
fn a_value_is_put_in_once_and_the_whole_is_bounded() {
    assert_eq!(fill(text("<{a}{b}>"), "{b}{{").as_deref(), Ok("<{b}{{>"));
    assert_eq!(fill(text("{a}{a}"), &"x".repeat(500)).unwrap().len(), 1_000);
    assert_eq!(fill(text("{a}{a}"), &"x".repeat(501)), Err(FillFault::TooLarge));
    let two = Prompt::new(settings(vec![text("{a}"), text("{a}")])).unwrap();
    let values = [("a".to_owned(), "x".repeat(600))];
    assert_eq!(two.fill(&values, 1_000), Err(FillFault::TooLarge));
}

#[test]
fn prompts_are_stored_replaced_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    let commits = Arc::new(AtomicUsize::new(0));
    let told = Arc::clone(&commits);
    engine.on_commit(Box::new(move |_| {
        told.fetch_add(1, Ordering::SeqCst);
    }));
    assert!(!engine.put_prompt(named("b", "one")).unwrap());
    assert!(!engine.put_prompt(named("a", "two")).unwrap());
    assert!(engine.put_prompt(named("b", "three")).unwrap());
    assert_eq!(commits.load(Ordering::SeqCst), 3);
    assert_eq!(engine.log_range().newest, 0, "resources have not changed");
    let error = engine.remove_prompt("c").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    drop(engine);

    let engine = open(folder.path());
    let names: Vec<String> = engine.prompts().iter().map(|p| p.name().to_owned()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(engine.prompts().by_name("b"), Some(&named("b", "three")));
    engine.remove_prompt("a").unwrap();
    check_clean(&engine);
    drop(engine);
    assert!(open(folder.path()).prompts().by_name("a").is_none());
}

#[test]
fn a_copy_has_the_prompts() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(&folder.path().join("data"));
    engine.put_prompt(named("a", "said")).unwrap();
    let copy = folder.path().join("copy");
    let request = BackupRequest { folder: &copy, previous: None };
    engine.backup(&request, &mut |_| {}).unwrap();
    let again = folder.path().join("again");
    restore(&copy, &again, &mut |_| {}).unwrap();
    assert_eq!(open(&again).prompts().by_name("a"), Some(&named("a", "said")));
}

#[test]
fn a_store_holds_so_many() {
    let folder = tempfile::tempdir().unwrap();
    let durability = Durability::Interval(Duration::from_secs(3_600));
    let engine = Engine::open(folder.path(), &EngineOptions { durability, ..options() }).unwrap();
    let large = |name: String| {
        let mut settings = PromptSettings::new(name);
        settings.messages = vec![message(PromptContent::Image(Media {
            mime_type: "image/png".into(),
            data: vec![7; PROMPT_BYTES_MAX - 1_000],
        }))];
        Arc::new(Prompt::new(settings).unwrap())
    };
    for at in 0..32 {
        engine.put_prompt(large(format!("large{at}"))).unwrap();
    }
    let error = engine.put_prompt(large("one-more".into())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
    assert!(engine.put_prompt(large("large0".into())).unwrap(), "in place of another it fits");
    for at in 0..32 {
        engine.remove_prompt(&format!("large{at}")).unwrap();
    }
    for at in 0..PROMPTS_MAX {
        engine.put_prompt(named(&format!("p{at}"), "x")).unwrap();
    }
    let error = engine.put_prompt(named("one-more", "x")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{error}");
    assert!(engine.put_prompt(named("p0", "y")).unwrap());
}

#[test]
fn descriptors_are_given_within_the_callers_access() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    engine.put_space(SpaceSettings::new("docs", "docs://h/{+path}")).unwrap();
    put(&engine, common::text("docs", "docs://h/open/a%2Fb.md", "text")).unwrap();
    let mut secret = common::text("docs", "docs://h/closed/c.md", "text");
    secret.acl = Some(vec!["staff".into()]);
    put(&engine, secret).unwrap();
    let fields = pressmark_index::contents_fragment::WireFields {
        title: true,
        icons: true,
        meta: true,
        last_modified: true,
    };
    let described = |uri: &str, access: &Access| {
        engine.descriptor(uri, access).map(|descriptor| {
            let mut out = Vec::new();
            descriptor.write_after_uri(fields, &mut out);
            String::from_utf8(out).unwrap()
        })
    };
    let anonymous = Access::anonymous();
    let staff = Access::anonymous().with_groups(["staff"]);
    let one = r#","name":"a/b.md","mimeType":"text/plain","size":4"#;
    for uri in ["docs://h/open/a%2Fb.md", "docs://h/open/a/b.md", "docs://h/open/a%2fb.md#line=0,1"]
    {
        assert_eq!(described(uri, &anonymous).unwrap(), one, "{uri}");
    }
    let folder = r#","name":"open","mimeType":"inode/directory""#;
    assert_eq!(described("docs://h/open", &anonymous).unwrap(), folder);
    assert!(described("docs://h/closed/c.md", &staff).is_ok());
    assert!(described("docs://h/closed/", &staff).is_ok());
    for hidden in ["docs://h/closed/c.md", "docs://h/closed/c.md#line=0,1", "docs://h/closed/"] {
        let error = described(hidden, &anonymous).unwrap_err();
        let absent = described(&hidden.replace("closed", "absent"), &anonymous).unwrap_err();
        assert_eq!((error.kind(), error.detail()), (absent.kind(), absent.detail()), "{hidden}");
    }
    let error = described("docs://h/open/a%2Fb.md#page=1", &anonymous).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidFragment);
}

#[test]
fn a_cursor_of_prompts_is_of_no_other_list() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open(folder.path());
    let cursor = engine.prompts_cursor("name");
    assert_eq!(engine.prompts_after(&cursor).unwrap(), "name");
    let bounds = pressmark_index::list::PageBounds { items_max: 1, bytes_max: 1_000 };
    assert!(engine.list(Some(&cursor), &Access::anonymous(), bounds).is_err());
    assert_eq!(engine.prompts_after("bogus").unwrap_err().kind(), ErrorKind::InvalidCursor);
}
