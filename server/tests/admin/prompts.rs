use std::sync::Arc;

use pressmark_index::engine::Engine;
use pressmark_index::prompt::{Prompt, PromptContent as Content, PromptMessage, PromptSettings};
use pressmark_index::resource::Role;
use pressmark_proto::v1;
use pressmark_proto::v1::prompt_argument::Completion;
use pressmark_proto::v1::prompt_message::Content as Sent;
use tonic::Code;

use super::{Plane, options};

fn message(content: Sent) -> v1::PromptMessage {
    v1::PromptMessage { role: v1::Role::User.into(), content: Some(content) }
}

fn prompt(name: &str, contents: Vec<Sent>) -> v1::Prompt {
    v1::Prompt {
        name: name.into(),
        messages: contents.into_iter().map(message).collect(),
        ..v1::Prompt::default()
    }
}

fn text(name: &str, said: &str) -> v1::Prompt {
    prompt(name, vec![Sent::Text(said.into())])
}

/// Every field and kind.
fn full() -> v1::Prompt {
    let media = |mime_type: &str| v1::Media { mime_type: mime_type.into(), data: vec![0, 255] };
    v1::Prompt {
        title: Some("Review".into()),
        description: Some("Looks a page over".into()),
        arguments: vec![
            v1::PromptArgument {
                name: "tone".into(),
                title: Some("Tone".into()),
                description: Some("How to say it".into()),
                required: false,
                completion: Some(Completion::Values(v1::TextList {
                    items: vec!["kind".into(), "dry".into()],
                })),
            },
            v1::PromptArgument {
                name: "page".into(),
                required: true,
                completion: Some(Completion::Variable(v1::SpaceVariable {
                    space: "docs".into(),
                    variable: "path".into(),
                })),
                ..v1::PromptArgument::default()
            },
        ],
        ..prompt(
            "full",
            vec![
                Sent::Text("Be {tone} on {{page}}".into()),
                Sent::Image(media("image/png")),
                Sent::Audio(media("audio/wav")),
                Sent::ResourceLink("docs://h/{+page}".into()),
                Sent::EmbeddedResource("docs://h/{page}".into()),
            ],
        )
    }
}

impl Plane {
    async fn put_prompt(&self, prompt: v1::Prompt) -> Result<bool, tonic::Status> {
        let request = v1::PutPromptRequest { prompt: Some(prompt) };
        self.prompts().put_prompt(request).await.map(|response| response.into_inner().replaced)
    }

    async fn listed(&self) -> Vec<v1::Prompt> {
        let list = self.prompts().list_prompts(v1::ListPromptsRequest {}).await.unwrap();
        let (mut pages, mut all) = (list.into_inner(), Vec::new());
        while let Some(page) = pages.message().await.unwrap() {
            all.extend(page.prompts);
        }
        all
    }

    async fn delete_prompt(&self, name: &str) -> Result<(), tonic::Status> {
        let request = v1::DeletePromptRequest { name: name.into() };
        self.prompts().delete_prompt(request).await.map(drop)
    }
}

#[tokio::test]
async fn prompts_come_and_go_and_stay_in_the_store() {
    let plane = Plane::start().await;
    assert_eq!(plane.listed().await, []);
    assert!(!plane.put_prompt(text("z", "one")).await.unwrap());
    assert!(!plane.put_prompt(full()).await.unwrap());
    assert!(plane.put_prompt(text("z", "two")).await.unwrap());
    assert_eq!(plane.listed().await, [full(), text("z", "two")]);
    plane.delete_prompt("z").await.unwrap();
    assert_eq!(plane.delete_prompt("z").await.unwrap_err().code(), Code::NotFound);
    assert_eq!(plane.listed().await, [full()]);

    let data = plane.folder.path().join("data");
    plane.shutdown.begin();
    let Plane { folder: _folder, prompts, channel, .. } = plane;
    let engine = Arc::downgrade(&prompts);
    drop((prompts, channel));
    while engine.upgrade().is_some() {
        tokio::task::yield_now().await;
    }
    let engine = Engine::open(&data, &options()).unwrap();
    assert!(engine.prompts().by_name("full").is_some());
}

#[tokio::test]
async fn a_prompt_that_cannot_be_is_refused_with_its_field() {
    let plane = Plane::start().await;
    let argument = |name: &str| v1::PromptArgument { name: name.into(), ..Default::default() };
    let nobody = v1::PromptMessage { role: 7, content: Some(Sent::Text("x".into())) };
    let silent = v1::PromptMessage { role: v1::Role::User.into(), content: None };
    let with = |message: v1::PromptMessage| v1::Prompt {
        messages: vec![message],
        ..prompt("p", Vec::new())
    };
    let twice = v1::Prompt { arguments: vec![argument("a"), argument("a")], ..text("p", "x") };
    let image = v1::Media { mime_type: "image/png".into(), data: vec![0; 2 << 20] };
    for (prompt, says) in [
        (text("", "x"), "prompt.name: "),
        (text("a/b", "x"), "prompt.name: "),
        (prompt("p", Vec::new()), "prompt.messages: a prompt needs a message"),
        (with(nobody), "prompt.messages[0].role: 7 is none"),
        (with(silent), "prompt.messages[0].content: "),
        (text("p", "{page}"), "prompt.messages[0].text: `{page}` is no argument"),
        (prompt("p", vec![Sent::ResourceLink("x".into())]), "prompt.messages[0].resource_link: "),
        (twice, "prompt.arguments[1].name: `a` is the name"),
        (prompt("p", vec![Sent::Image(image)]), "prompt.messages: the prompt takes"),
    ] {
        let status = plane.put_prompt(prompt).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{status}");
        assert!(status.message().starts_with(says), "{status}");
    }
    let request = v1::PutPromptRequest { prompt: None };
    let status = plane.prompts().put_prompt(request).await.unwrap_err();
    assert!(status.message().starts_with("prompt:"), "{status}");
    assert_eq!(plane.listed().await, []);
}

#[tokio::test]
async fn a_declared_prompt_wins_and_says_so() {
    let plane = Plane::start().await;
    plane.put_prompt(text("old", "stored")).await.unwrap();
    let declared = |name: &str| {
        let mut settings = PromptSettings::new(name);
        let content = Content::Text("declared".into());
        settings.messages = vec![PromptMessage { role: Role::User, content }];
        Arc::new(Prompt::new(settings).unwrap())
    };
    let hidden = plane.prompts.declare([declared("new"), declared("old")]);
    assert_eq!(hidden, ["old"]);
    assert_eq!(plane.prompts.named("old"), Some(declared("old")));
    for name in ["new", "old"] {
        let status = plane.put_prompt(text(name, "x")).await.unwrap_err();
        assert_eq!(status.code(), Code::FailedPrecondition, "{status}");
        assert!(status.message().contains("declared"), "{status}");
    }
    let status = plane.delete_prompt("new").await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition, "{status}");
    // What is stored and hidden can go.
    plane.delete_prompt("old").await.unwrap();
    assert_eq!(plane.listed().await, []);
    plane.prompts.declare([]);
    assert!(!plane.put_prompt(text("new", "x")).await.unwrap());
}

#[tokio::test]
async fn a_long_list_comes_in_messages_that_any_client_takes() {
    let plane = Plane::start().await;
    let image = || v1::Media { mime_type: "image/png".into(), data: vec![7; 1_900_000] };
    for at in 0..5 {
        plane.put_prompt(prompt(&format!("p{at}"), vec![Sent::Image(image())])).await.unwrap();
    }
    // The generated client takes 4 MiB a message.
    assert_eq!(plane.listed().await.len(), 5);
}
