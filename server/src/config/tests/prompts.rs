//! Prompts as the file declares them.

use pressmark_index::prompt::{Media, PromptCompletion, PromptContent};
use pressmark_index::resource::Role;

use super::{EXAMPLE, parse};
use crate::config::Config;

#[test]
fn the_prompt_of_the_example() {
    let config = parse(EXAMPLE).unwrap();
    let [prompt] = config.prompts.as_slice() else { panic!("{:?}", config.prompts) };
    let settings = prompt.settings();
    assert_eq!(
        (settings.name.as_str(), settings.title.as_deref()),
        ("review", Some("Review a page"))
    );
    let [page, tone] = settings.arguments.as_slice() else { panic!("{settings:?}") };
    let variable = PromptCompletion::Variable { space: "handbook".into(), variable: "path".into() };
    assert_eq!((page.required, &page.completion), (true, &variable));
    let values = PromptCompletion::Values(vec!["friendly".into(), "dry".into()]);
    assert_eq!((tone.required, &tone.completion), (false, &values));
    let media =
        |mime_type: &str, data: &[u8]| Media { mime_type: mime_type.into(), data: data.into() };
    let contents: Vec<_> =
        settings.messages.iter().map(|message| message.content.clone()).collect();
    assert_eq!(
        contents[..4],
        [
            PromptContent::EmbeddedResource("docs://handbook/{+page}".into()),
            PromptContent::ResourceLink("docs://handbook/glossary.md".into()),
            PromptContent::Image(media("image/png", b"\x89PNG\r\n\x1a\n")),
            PromptContent::Audio(media("audio/wav", b"RIFF")),
        ]
    );
    assert!(settings.messages.iter().all(|message| message.role == Role::User));
}

#[test]
fn media_are_read_from_files_beside_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("logo.png"), [1, 2, 3]).unwrap();
    let file = folder.path().join("pressmark.toml");
    let text = "[[prompt]]\nname = 'p'\n[[prompt.message]]\nrole = 'assistant'\nimage = { mime_type = 'image/png', file = 'logo.png' }\n";
    let config = Config::parse(text, &file, &|_| Ok(())).unwrap();
    let message = &config.prompts[0].settings().messages[0];
    let logo = Media { mime_type: "image/png".into(), data: vec![1, 2, 3] };
    assert_eq!((message.role, &message.content), (Role::Assistant, &PromptContent::Image(logo)));
    // One that is too large is not read to its end.
    let large = std::fs::File::create(folder.path().join("logo.png")).unwrap();
    large.set_len(1 << 40).unwrap();
    let error = Config::parse(text, &file, &|_| Ok(())).unwrap_err();
    assert_eq!((error.line(), error.key()), (Some(2), Some("prompt.message")), "{error}");
}
