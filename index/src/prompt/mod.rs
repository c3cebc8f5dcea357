//! Prompts: templates of messages that people choose in their hosts.
//!
//! [`PromptSettings`] are what is said of a prompt, [`Prompt`] is one that has been checked and whose texts are parsed:
//! everything that takes a prompt takes that. Values stand in for `{argument}` in one pass, so that a brace in a value is
//! a brace. A text may have `{{` and `}}` for braces. A URI is an RFC 6570 template: `{argument}` is encoded so that the
//! value stays within its place, `{+argument}` keeps slashes and the like, as the variables of folders have them.

mod catalog;
mod check;
mod fill;
mod text;

pub use catalog::{PROMPTS_BYTES_MAX, PROMPTS_MAX, PromptCatalog};
pub use check::{
    ARGUMENTS_MAX, MESSAGES_MAX, NAME_CHARACTERS_MAX, PROMPT_BYTES_MAX, Place, PromptFault,
    VALUES_MAX,
};
pub use fill::{FillFault, FilledContent, FilledMessage};

pub(crate) use catalog::encode;

use crate::resource::Role;
use crate::uri_template::UriTemplate;
use text::TextTemplate;

/// What is said of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptSettings {
    /// 1 to 64 of `[A-Za-z0-9_.-]`.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// One line of what it does.
    pub description: Option<String>,
    /// What a person fills in.
    pub arguments: Vec<PromptArgument>,
    /// What the model gets.
    pub messages: Vec<PromptMessage>,
}

/// An argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptArgument {
    /// 1 to 64 of `[A-Za-z0-9_]`: it stands in texts and URIs.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// One line of what to fill in.
    pub description: Option<String>,
    /// Whether it must be given.
    pub required: bool,
    /// Where its completions come from.
    pub completion: PromptCompletion,
}

/// Where the completions of an argument come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptCompletion {
    /// It has none.
    None,
    /// A fixed list, the best first.
    Values(Vec<String>),
    /// A variable of a space's template.
    Variable {
        /// The space's name. One that is not there, or that a caller may not use, completes nothing.
        space: String,
        /// The variable's name.
        variable: String,
    },
}

/// A message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptMessage {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: PromptContent,
}

/// What a message says; texts and URIs may name arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptContent {
    /// Text.
    Text(String),
    /// An image.
    Image(Media),
    /// A sound.
    Audio(Media),
    /// A link to a resource of the store, by its URI.
    ResourceLink(String),
    /// The contents of a resource of the store, by its URI.
    EmbeddedResource(String),
}

/// Bytes of a MIME type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// E.g. `image/png`.
    pub mime_type: String,
    /// The bytes themselves.
    pub data: Vec<u8>,
}

/// A prompt that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    settings: PromptSettings,
    /// One for each message.
    templates: Vec<Template>,
    /// Bytes that it takes in the store.
    bytes: usize,
}

/// What of a message's content names arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Template {
    Text(TextTemplate),
    Uri(UriTemplate),
    /// Media have nothing to fill in.
    None,
}

impl PromptSettings {
    /// A prompt without arguments and messages.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            arguments: Vec::new(),
            messages: Vec::new(),
        }
    }
}

impl PromptArgument {
    /// An argument that must be given, without completions.
    pub fn required(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            required: true,
            completion: PromptCompletion::None,
        }
    }
}

impl Prompt {
    /// Checks a prompt and parses its texts and URIs.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with its place.
    pub fn new(settings: PromptSettings) -> Result<Prompt, PromptFault> {
        let templates = check::check(&settings)?;
        let bytes = settings.name.len() + catalog::encode(&settings).len();
        if bytes > PROMPT_BYTES_MAX {
            return Err(check::too_large(bytes));
        }
        Ok(Prompt { settings, templates, bytes })
    }

    /// What is said of it.
    pub fn settings(&self) -> &PromptSettings {
        &self.settings
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.settings.name
    }

    /// Bytes that it takes in the store.
    pub fn stored_bytes(&self) -> usize {
        self.bytes
    }

    /// The argument of that name.
    pub fn argument(&self, name: &str) -> Option<&PromptArgument> {
        self.settings.arguments.iter().find(|argument| argument.name == name)
    }
}
