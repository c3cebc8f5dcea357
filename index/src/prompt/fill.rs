//! From a prompt and its arguments to messages.

use super::{Media, Prompt, PromptContent, Template};
use crate::resource::{Binding, Role, Value};
use crate::resource_uri::URI_BYTES_MAX;
use crate::uri_template::UriTemplate;

/// A message with values in place of its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledMessage<'p> {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: FilledContent<'p>,
}

/// What a filled message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilledContent<'p> {
    /// Text.
    Text(String),
    /// An image.
    Image(&'p Media),
    /// A sound.
    Audio(&'p Media),
    /// The URI of a resource that is linked.
    ResourceLink(String),
    /// The URI of a resource whose contents are embedded.
    EmbeddedResource(String),
}

/// Why messages cannot be made of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillFault {
    /// They would take more than was allowed.
    TooLarge,
    /// A URI would be longer than a resource's can be.
    LongUri,
}

impl Prompt {
    /// The messages with these values, by argument's name; nothing stands for an argument without one. Texts, URIs and
    /// media of all messages together take at most `bytes_max`.
    ///
    /// # Errors
    /// They would take more, or a URI would be too long.
    pub fn fill(
        &self,
        values: &[(String, String)],
        bytes_max: usize,
    ) -> Result<Vec<FilledMessage<'_>>, FillFault> {
        let mut left = bytes_max;
        let mut filled = Vec::with_capacity(self.templates.len());
        for (message, template) in self.settings.messages.iter().zip(&self.templates) {
            let content = fill_one(&message.content, template, values, left)?;
            left = left.checked_sub(content.bytes()).ok_or(FillFault::TooLarge)?;
            filled.push(FilledMessage { role: message.role, content });
        }
        Ok(filled)
    }
}

fn fill_one<'p>(
    content: &'p PromptContent,
    template: &Template,
    values: &[(String, String)],
    bytes_max: usize,
) -> Result<FilledContent<'p>, FillFault> {
    let text = match template {
        Template::Text(template) => {
            template.fill(|name| value_of(values, name), bytes_max).ok_or(FillFault::TooLarge)?
        }
        Template::Uri(template) => uri(template, values)?,
        Template::None => String::new(),
    };
    Ok(match content {
        PromptContent::Text(_) => FilledContent::Text(text),
        PromptContent::Image(media) => FilledContent::Image(media),
        PromptContent::Audio(media) => FilledContent::Audio(media),
        PromptContent::ResourceLink(_) => FilledContent::ResourceLink(text),
        PromptContent::EmbeddedResource(_) => FilledContent::EmbeddedResource(text),
    })
}

fn uri(template: &UriTemplate, values: &[(String, String)]) -> Result<String, FillFault> {
    let mut bindings = Vec::new();
    let mut bytes = 0_usize;
    for variable in template.variables() {
        let Some(value) = value_of(values, &variable.name) else { continue };
        // An expansion is at least as long as its values. What is too long is never made.
        bytes = bytes.saturating_add(value.len());
        if bytes > URI_BYTES_MAX {
            return Err(FillFault::LongUri);
        }
        let value = Value::String(value.to_owned());
        bindings.push(Binding { name: variable.name.clone(), value });
    }
    // Only a prefix of a list or a map is refused, and all values are strings.
    template.expand(&bindings).map_err(|_| FillFault::LongUri)
}

fn value_of<'v>(values: &'v [(String, String)], name: &str) -> Option<&'v str> {
    values.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

impl FilledContent<'_> {
    fn bytes(&self) -> usize {
        match self {
            FilledContent::Text(text)
            | FilledContent::ResourceLink(text)
            | FilledContent::EmbeddedResource(text) => text.len(),
            FilledContent::Image(media) | FilledContent::Audio(media) => media.data.len(),
        }
    }
}
