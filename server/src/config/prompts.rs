//! `[[prompt]]`: from raw values to prompts. What a prompt may be is the engine's to say; here its faults get their lines.

use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use pressmark_index::prompt::{
    Media, PROMPT_BYTES_MAX, Place, Prompt, PromptArgument, PromptCompletion, PromptContent,
    PromptFault, PromptMessage, PromptSettings,
};
use pressmark_index::resource::Role;
use toml::Spanned;

use super::error::Fault;
use super::raw::{RawMedia, RawPrompt, RawPromptArgument, RawPromptMessage, RawSpaceVariable};
use super::validate::{one_of, value};

const ROLES: [(&str, Role); 2] = [("user", Role::User), ("assistant", Role::Assistant)];

/// Where the parts of a prompt stand in the file.
struct Spans {
    prompt: Range<usize>,
    arguments: Vec<ArgumentSpans>,
    messages: Vec<Range<usize>>,
}

struct ArgumentSpans {
    name: Range<usize>,
    /// Of its values or its variable, where it has one.
    completion: Range<usize>,
}

pub(super) fn prompts(raw: Vec<RawPrompt>, folder: &Path) -> Result<Vec<Arc<Prompt>>, Fault> {
    let mut prompts: Vec<Arc<Prompt>> = Vec::with_capacity(raw.len());
    for raw in raw {
        let spans_of_prompt = raw.name.span();
        let name = value("prompt.name", raw.name, |name| {
            if prompts.iter().any(|known| known.name() == name) {
                return Err(format!(
                    "{name:?} is the name of an earlier prompt; give each its own"
                ));
            }
            Ok(name)
        })?;
        let mut spans =
            Spans { prompt: spans_of_prompt, arguments: Vec::new(), messages: Vec::new() };
        let mut settings = PromptSettings::new(name);
        settings.title = raw.title;
        settings.description = raw.description;
        for raw in raw.argument {
            settings.arguments.push(argument(raw, &mut spans.arguments)?);
        }
        for raw in raw.message {
            settings.messages.push(message(raw, &spans.prompt, folder, &mut spans.messages)?);
        }
        let prompt = Prompt::new(settings).map_err(|fault| spans.fault(fault))?;
        prompts.push(Arc::new(prompt));
    }
    Ok(prompts)
}

fn argument(
    raw: RawPromptArgument,
    spans: &mut Vec<ArgumentSpans>,
) -> Result<PromptArgument, Fault> {
    let name = raw.name.span();
    let (span, completion) = match (raw.values, raw.variable) {
        (None, None) => (name.clone(), PromptCompletion::None),
        (Some(values), None) => (values.span(), PromptCompletion::Values(values.into_inner())),
        (None, Some(variable)) => {
            let span = variable.span();
            let RawSpaceVariable { space, variable } = variable.into_inner();
            (span, PromptCompletion::Variable { space, variable })
        }
        (Some(_), Some(variable)) => {
            return Err(Fault {
                key: "prompt.argument.variable",
                span: variable.span(),
                detail: "the argument has `values` already; keep one of them".to_owned(),
            });
        }
    };
    spans.push(ArgumentSpans { name, completion: span });
    Ok(PromptArgument {
        name: raw.name.into_inner(),
        title: raw.title,
        description: raw.description,
        required: raw.required.unwrap_or(false),
        completion,
    })
}

fn message(
    raw: RawPromptMessage,
    prompt: &Range<usize>,
    folder: &Path,
    spans: &mut Vec<Range<usize>>,
) -> Result<PromptMessage, Fault> {
    let place = raw.role.as_ref().map_or_else(|| prompt.clone(), Spanned::span);
    let role = match raw.role {
        None => Role::User,
        Some(role) => value("prompt.message.role", role, |text| one_of(&text, &ROLES))?,
    };
    let texts = [
        (raw.text, PromptContent::Text as fn(String) -> PromptContent),
        (raw.resource_link, PromptContent::ResourceLink),
        (raw.embedded_resource, PromptContent::EmbeddedResource),
    ];
    let mut contents: Vec<(Range<usize>, PromptContent)> = texts
        .into_iter()
        .filter_map(|(text, content)| text.map(|text| (text.span(), content(text.into_inner()))))
        .collect();
    for (key, raw, content) in [
        ("prompt.message.image", raw.image, PromptContent::Image as fn(Media) -> PromptContent),
        ("prompt.message.audio", raw.audio, PromptContent::Audio),
    ] {
        if let Some(raw) = raw {
            contents.push((raw.span(), content(media(key, raw, folder)?)));
        }
    }
    contents.sort_by_key(|(span, _)| span.start);
    let mut contents = contents.into_iter();
    let wrong =
        |span, detail: &str| Fault { key: "prompt.message", span, detail: detail.to_owned() };
    let (span, content) = contents.next().ok_or_else(|| {
        let detail = format!(
            "message {} says nothing; it needs `text`, `image`, `audio`, `resource_link` or `embedded_resource`",
            spans.len() + 1
        );
        wrong(place, &detail)
    })?;
    if let Some((span, _)) = contents.next() {
        return Err(wrong(span, "a message says one thing; make a second `[[prompt.message]]`"));
    }
    spans.push(span);
    Ok(PromptMessage { role, content })
}

fn media(key: &'static str, raw: Spanned<RawMedia>, folder: &Path) -> Result<Media, Fault> {
    value(key, raw, |RawMedia { mime_type, file, data }| {
        let data = match (file, data) {
            (Some(file), None) => read_file(&folder.join(&file))
                .map_err(|error| format!("{file:?} cannot be read: {error}"))?,
            (None, Some(data)) => base64_simd::STANDARD
                .decode_to_vec(data)
                .map_err(|_| "data: it is no base64 (RFC 4648, with padding)".to_owned())?,
            (None, None) | (Some(_), Some(_)) => {
                return Err("needs `file` or `data`, one of them".to_owned());
            }
        };
        Ok(Media { mime_type, data })
    })
}

/// Reads so much of a file that one which is too large is seen to be.
fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(PROMPT_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    std::fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Spans {
    fn fault(&self, fault: PromptFault) -> Fault {
        let (key, span) = match (fault.place, fault.field) {
            (Place::Argument(at), "name") => {
                ("prompt.argument.name", self.arguments.get(at).map(|spans| &spans.name))
            }
            (Place::Argument(at), "values") => {
                ("prompt.argument.values", self.arguments.get(at).map(|spans| &spans.completion))
            }
            (Place::Argument(at), _) => {
                ("prompt.argument.variable", self.arguments.get(at).map(|spans| &spans.completion))
            }
            (Place::Message(at), "text") => ("prompt.message.text", self.messages.get(at)),
            (Place::Message(at), "image") => ("prompt.message.image", self.messages.get(at)),
            (Place::Message(at), "audio") => ("prompt.message.audio", self.messages.get(at)),
            (Place::Message(at), "resource_link") => {
                ("prompt.message.resource_link", self.messages.get(at))
            }
            (Place::Message(at), _) => ("prompt.message.embedded_resource", self.messages.get(at)),
            (Place::Prompt, "name") => ("prompt.name", None),
            (Place::Prompt, "arguments") => ("prompt.argument", None),
            (Place::Prompt, _) => ("prompt.message", None),
        };
        let span = span.unwrap_or(&self.prompt).clone();
        Fault { key, span, detail: fault.reason }
    }
}
