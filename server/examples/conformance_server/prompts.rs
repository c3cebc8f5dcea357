//! The prompts that the suite lists and gets. Their names and arguments are the suite's.

use pressmark_index::prompt::{
    Media, PromptArgument, PromptCompletion, PromptContent, PromptMessage, PromptSettings,
};
use pressmark_index::resource::Role;

use crate::resources::PNG;

pub(crate) fn all() -> [PromptSettings; 4] {
    let completed = |name: &str, values: [&str; 2]| PromptArgument {
        description: Some("Any text".to_owned()),
        completion: PromptCompletion::Values(values.map(str::to_owned).into()),
        ..PromptArgument::required(name)
    };
    let resource = PromptArgument {
        description: Some("The URI of the resource to embed".to_owned()),
        ..PromptArgument::required("resourceUri")
    };
    let picture = Media { mime_type: "image/png".to_owned(), data: PNG.to_vec() };
    [
        plain("test_simple_prompt", "This is a simple prompt for testing."),
        prompt(
            "test_prompt_with_arguments",
            [completed("arg1", ["test", "paris"]), completed("arg2", ["test", "rome"])],
            [text("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")],
        ),
        prompt(
            "test_prompt_with_embedded_resource",
            [resource],
            [
                PromptContent::EmbeddedResource("{+resourceUri}".to_owned()),
                text("Please process the embedded resource above."),
            ],
        ),
        prompt(
            "test_prompt_with_image",
            [],
            [PromptContent::Image(picture), text("Please analyze the image above.")],
        ),
    ]
}

/// A prompt without arguments.
pub(crate) fn plain(name: &str, said: &str) -> PromptSettings {
    prompt(name, [], [text(said)])
}

fn text(text: &str) -> PromptContent {
    PromptContent::Text(text.to_owned())
}

fn prompt<const ARGUMENTS: usize, const MESSAGES: usize>(
    name: &str,
    arguments: [PromptArgument; ARGUMENTS],
    messages: [PromptContent; MESSAGES],
) -> PromptSettings {
    PromptSettings {
        description: Some("A prompt of the conformance suite".to_owned()),
        arguments: arguments.into(),
        messages: messages.map(|content| PromptMessage { role: Role::User, content }).into(),
        ..PromptSettings::new(name)
    }
}
