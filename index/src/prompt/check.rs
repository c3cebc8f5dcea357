//! What a prompt may be.

use std::fmt;

use super::text::TextTemplate;
use super::{Media, PromptArgument, PromptCompletion, PromptContent, PromptSettings, Template};
use crate::error::{Error, ErrorKind};
use crate::resource::{Binding, Value};
use crate::resource_uri;
use crate::uri_template::UriTemplate;

/// Characters of the name of a prompt or an argument.
pub const NAME_CHARACTERS_MAX: usize = 64;
/// Arguments of a prompt: a form with more is none that a person fills in.
pub const ARGUMENTS_MAX: usize = 64;
/// Messages of a prompt.
pub const MESSAGES_MAX: usize = 256;
/// Values of an argument's fixed list.
pub const VALUES_MAX: usize = 1_000;
/// Bytes of a prompt as it is stored, media included. Below the 4 MiB that clients of gRPC take as a message.
pub const PROMPT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Where in a prompt something is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The prompt itself.
    Prompt,
    /// The argument of that number, from 0.
    Argument(usize),
    /// The message of that number, from 0.
    Message(usize),
}

/// What is wrong with a prompt. `Display`: `messages[2].text: what is wrong`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFault {
    /// Where it is.
    pub place: Place,
    /// The field there, as the admin plane names it.
    pub field: &'static str,
    /// What is wrong with it, and the way out.
    pub reason: String,
}

impl fmt::Display for PromptFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Prompt => {}
            Place::Argument(at) => write!(f, "arguments[{at}].")?,
            Place::Message(at) => write!(f, "messages[{at}].")?,
        }
        write!(f, "{}: {}", self.field, self.reason)
    }
}

impl std::error::Error for PromptFault {}

impl From<PromptFault> for Error {
    fn from(fault: PromptFault) -> Self {
        Error::new(ErrorKind::InvalidRecord, "prompt", fault.to_string())
    }
}

pub(super) fn too_large(bytes: usize) -> PromptFault {
    PromptFault {
        place: Place::Prompt,
        field: "messages",
        reason: format!(
            "the prompt takes {bytes} bytes, at most {PROMPT_BYTES_MAX}; put large media into the store and embed them"
        ),
    }
}

/// Checks all of it; returns what of each message names arguments.
pub(super) fn check(settings: &PromptSettings) -> Result<Vec<Template>, PromptFault> {
    let wrong = |field, reason| PromptFault { place: Place::Prompt, field, reason };
    check_name(&settings.name, b"_.-").map_err(|reason| wrong("name", reason))?;
    if settings.arguments.len() > ARGUMENTS_MAX {
        let reason = format!("{} arguments, at most {ARGUMENTS_MAX}", settings.arguments.len());
        return Err(wrong("arguments", reason));
    }
    for (at, argument) in settings.arguments.iter().enumerate() {
        let earlier = settings.arguments.get(..at).unwrap_or_default();
        check_argument(argument, earlier).map_err(|(field, reason)| PromptFault {
            place: Place::Argument(at),
            field,
            reason,
        })?;
    }
    match settings.messages.len() {
        0 => return Err(wrong("messages", "a prompt needs a message".to_owned())),
        1..=MESSAGES_MAX => {}
        count => {
            return Err(wrong("messages", format!("{count} messages, at most {MESSAGES_MAX}")));
        }
    }
    let templates = settings.messages.iter().enumerate().map(|(at, message)| {
        let place = Place::Message(at);
        template(&message.content, &settings.arguments).map_err(|(field, reason)| PromptFault {
            place,
            field,
            reason,
        })
    });
    templates.collect()
}

type FieldFault = (&'static str, String);

fn check_argument(argument: &PromptArgument, earlier: &[PromptArgument]) -> Result<(), FieldFault> {
    check_name(&argument.name, b"_").map_err(|reason| ("name", reason))?;
    if earlier.iter().any(|other| other.name == argument.name) {
        let reason = format!("`{}` is the name of an earlier argument", argument.name);
        return Err(("name", reason));
    }
    match &argument.completion {
        PromptCompletion::None => Ok(()),
        PromptCompletion::Values(values) if values.len() > VALUES_MAX => {
            let reason = format!(
                "{} values, at most {VALUES_MAX}; put more into a space and complete from its variable",
                values.len()
            );
            Err(("values", reason))
        }
        PromptCompletion::Values(values) => match values.iter().find(|value| value.is_empty()) {
            None => Ok(()),
            Some(_) => Err(("values", "a value is empty".to_owned())),
        },
        PromptCompletion::Variable { space, variable } => {
            let missing = [(space, "space"), (variable, "variable")];
            match missing.into_iter().find(|(name, _)| name.is_empty()) {
                None => Ok(()),
                Some((_, what)) => Err(("variable", format!("names no {what}"))),
            }
        }
    }
}

/// A name of letters and digits and these marks.
fn check_name(name: &str, marks: &[u8]) -> Result<(), String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || marks.contains(&byte);
    if (1..=NAME_CHARACTERS_MAX).contains(&name.len()) && name.bytes().all(allowed) {
        return Ok(());
    }
    let marks: Vec<String> = marks.iter().map(|mark| char::from(*mark).to_string()).collect();
    let marks = marks.join(" ");
    Err(format!("{name:?} is no name; use 1 to {NAME_CHARACTERS_MAX} of A-Z, a-z, 0-9 and {marks}"))
}

fn template(content: &PromptContent, arguments: &[PromptArgument]) -> Result<Template, FieldFault> {
    match content {
        PromptContent::Text(text) => {
            let template = TextTemplate::parse(text).map_err(|reason| ("text", reason))?;
            if let Some(name) = unknown(template.arguments(), arguments) {
                let reason = format!(
                    "`{{{name}}}` is no argument of the prompt; declare it, or write `{{{{` and `}}}}` for braces"
                );
                return Err(("text", reason));
            }
            Ok(Template::Text(template))
        }
        PromptContent::Image(media) => {
            check_media(media, "image/").map_err(|reason| ("image", reason))?;
            Ok(Template::None)
        }
        PromptContent::Audio(media) => {
            check_media(media, "audio/").map_err(|reason| ("audio", reason))?;
            Ok(Template::None)
        }
        PromptContent::ResourceLink(uri) => {
            uri_template(uri, arguments).map_err(|reason| ("resource_link", reason))
        }
        PromptContent::EmbeddedResource(uri) => {
            uri_template(uri, arguments).map_err(|reason| ("embedded_resource", reason))
        }
    }
}

/// The first name that is no argument's.
fn unknown<'t>(
    mut named: impl Iterator<Item = &'t str>,
    arguments: &[PromptArgument],
) -> Option<&'t str> {
    named.find(|name| !arguments.iter().any(|argument| argument.name == *name))
}

fn check_media(media: &Media, family: &str) -> Result<(), String> {
    let is_token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte))
    };
    let essence = media.mime_type.split(';').next().unwrap_or_default().trim();
    let has_family = essence.get(..family.len()).is_some_and(|at| at.eq_ignore_ascii_case(family));
    if !has_family || !essence.get(family.len()..).is_some_and(is_token) {
        let mime_type = &media.mime_type;
        return Err(format!("mime_type: {mime_type:?} is no MIME type of `{family}`"));
    }
    if media.data.is_empty() { Err("data: it is empty".to_owned()) } else { Ok(()) }
}

fn uri_template(text: &str, arguments: &[PromptArgument]) -> Result<Template, String> {
    let template = UriTemplate::parse(text).map_err(|error| error.to_string())?;
    let mut named = template.variables().map(|variable| variable.name.as_str());
    if let Some(name) = unknown(&mut named, arguments) {
        return Err(format!("`{{{name}}}` is no argument of the prompt; declare it"));
    }
    drop(named);
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    // Where the scheme is an argument's there is nothing to look at yet.
    if !text.starts_with('{') {
        let sample: Vec<Binding> = arguments
            .iter()
            .map(|argument| Binding {
                name: argument.name.clone(),
                value: Value::String("x".to_owned()),
            })
            .collect();
        let expanded = template.expand(&sample).map_err(|error| error.to_string())?;
        resource_uri::normalise_strict(&expanded).map_err(|error| error.to_string())?;
    }
    Ok(Template::Uri(template))
}
