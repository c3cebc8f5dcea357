//! The prompts of the store: all of them are in memory, since there are few and each is asked for by people.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    Media, Prompt, PromptArgument, PromptCompletion, PromptContent, PromptMessage, PromptSettings,
};
use crate::error::{Error, ErrorKind, Result};
use crate::resource::Role;
use crate::store::codec::{Reader, Writer};
use crate::store::key::meta;
use crate::store::{Cf, Store};

/// Prompts that a store may hold.
pub const PROMPTS_MAX: usize = 1_000;
/// Bytes of all of them: they are kept in memory.
pub const PROMPTS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The prompts of a store, by name. Immutable; a change makes a new one.
#[derive(Debug, Default)]
pub struct PromptCatalog {
    prompts: BTreeMap<String, Arc<Prompt>>,
    bytes: usize,
}

impl PromptCatalog {
    /// The prompts of a store.
    pub(crate) fn load(store: &Store) -> Result<PromptCatalog> {
        let view = store.view();
        let mut scan = view.scan(Cf::Meta, meta::PROMPTS, meta::PROMPTS)?;
        let mut catalog = PromptCatalog::default();
        while let Some((prompt_key, value)) = scan.item()? {
            let mut reader = Reader::new(prompt_key, "prompt key");
            reader.raw(meta::PROMPTS.len())?;
            let prompt = Prompt::new(decode(reader.rest_str()?, value)?)
                .map_err(|fault| Reader::new(value, "prompt").corrupt(&fault.to_string()))?;
            catalog.insert(Arc::new(prompt));
            scan.advance();
        }
        Ok(catalog)
    }

    /// A prompt by name.
    pub fn by_name(&self, name: &str) -> Option<&Arc<Prompt>> {
        self.prompts.get(name)
    }

    /// All of them, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Prompt>> {
        self.prompts.values()
    }

    /// The same prompts with this one, in place of the one with its name.
    ///
    /// # Errors
    /// `LimitExceeded` when there are too many, or they take too much.
    pub(crate) fn with(&self, prompt: &Arc<Prompt>) -> Result<PromptCatalog> {
        let mut catalog = PromptCatalog { prompts: self.prompts.clone(), bytes: self.bytes };
        catalog.insert(Arc::clone(prompt));
        let full = |detail: String| {
            let subject = format!("prompt `{}`", prompt.name());
            Err(Error::new(ErrorKind::LimitExceeded, subject, detail))
        };
        if catalog.prompts.len() > PROMPTS_MAX {
            return full(format!("the store holds {PROMPTS_MAX} prompts already: delete some"));
        }
        if catalog.bytes > PROMPTS_BYTES_MAX {
            return full(format!(
                "with it all prompts would take {} bytes, at most {PROMPTS_BYTES_MAX}: delete some, or put large media into the store and embed them",
                catalog.bytes
            ));
        }
        Ok(catalog)
    }

    /// The same prompts without that one.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) fn without(&self, name: &str) -> Result<PromptCatalog> {
        let mut catalog = PromptCatalog { prompts: self.prompts.clone(), bytes: self.bytes };
        let gone = catalog.prompts.remove(name).ok_or_else(|| {
            let detail = "there is no prompt of this name in the store";
            Error::new(ErrorKind::NotFound, format!("prompt `{name}`"), detail)
        })?;
        catalog.bytes = catalog.bytes.saturating_sub(gone.bytes);
        Ok(catalog)
    }

    fn insert(&mut self, prompt: Arc<Prompt>) {
        self.bytes = self.bytes.saturating_add(prompt.bytes);
        if let Some(replaced) = self.prompts.insert(prompt.name().to_owned(), prompt) {
            self.bytes = self.bytes.saturating_sub(replaced.bytes);
        }
    }
}

const LAYOUT: u8 = 1;

/// What follows of an argument's completion.
mod completion {
    pub(super) const NONE: u8 = 0;
    pub(super) const VALUES: u8 = 1;
    pub(super) const VARIABLE: u8 = 2;
}

/// What follows of a message's content.
mod content {
    pub(super) const TEXT: u8 = 1;
    pub(super) const IMAGE: u8 = 2;
    pub(super) const AUDIO: u8 = 3;
    pub(super) const RESOURCE_LINK: u8 = 4;
    pub(super) const EMBEDDED_RESOURCE: u8 = 5;
}

/// The value of a prompt in the store; its key has the name.
pub(crate) fn encode(settings: &PromptSettings) -> Vec<u8> {
    let mut writer = Writer::default();
    writer
        .u8(LAYOUT)
        .optional(settings.title.as_deref().map(str::as_bytes))
        .optional(settings.description.as_deref().map(str::as_bytes));
    writer.u16(count(settings.arguments.len()));
    for argument in &settings.arguments {
        encode_argument(argument, &mut writer);
    }
    writer.u16(count(settings.messages.len()));
    for message in &settings.messages {
        writer.u8(match message.role {
            Role::User => 0,
            Role::Assistant => 1,
        });
        match &message.content {
            PromptContent::Text(text) => writer.u8(content::TEXT).bytes(text.as_bytes()),
            PromptContent::Image(media) => encode_media(content::IMAGE, media, &mut writer),
            PromptContent::Audio(media) => encode_media(content::AUDIO, media, &mut writer),
            PromptContent::ResourceLink(uri) => {
                writer.u8(content::RESOURCE_LINK).bytes(uri.as_bytes())
            }
            PromptContent::EmbeddedResource(uri) => {
                writer.u8(content::EMBEDDED_RESOURCE).bytes(uri.as_bytes())
            }
        };
    }
    writer.finish()
}

fn encode_argument(argument: &PromptArgument, writer: &mut Writer) {
    writer
        .bytes(argument.name.as_bytes())
        .optional(argument.title.as_deref().map(str::as_bytes))
        .optional(argument.description.as_deref().map(str::as_bytes))
        .u8(u8::from(argument.required));
    match &argument.completion {
        PromptCompletion::None => {
            writer.u8(completion::NONE);
        }
        PromptCompletion::Values(values) => {
            writer.u8(completion::VALUES).u16(count(values.len()));
            for value in values {
                writer.bytes(value.as_bytes());
            }
        }
        PromptCompletion::Variable { space, variable } => {
            writer.u8(completion::VARIABLE).bytes(space.as_bytes()).bytes(variable.as_bytes());
        }
    }
}

fn encode_media<'w>(kind: u8, media: &Media, writer: &'w mut Writer) -> &'w mut Writer {
    writer.u8(kind).bytes(media.mime_type.as_bytes()).bytes(&media.data)
}

/// What is counted is bounded far below, see `check`.
fn count(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

fn decode(name: &str, value: &[u8]) -> Result<PromptSettings> {
    let mut reader = Reader::new(value, "prompt");
    if reader.u8()? != LAYOUT {
        return Err(reader.corrupt("its layout is not known"));
    }
    let mut settings = PromptSettings::new(name);
    settings.title = reader.optional_str()?.map(str::to_owned);
    settings.description = reader.optional_str()?.map(str::to_owned);
    for _ in 0..reader.u16()? {
        settings.arguments.push(decode_argument(&mut reader)?);
    }
    for _ in 0..reader.u16()? {
        settings.messages.push(decode_message(&mut reader)?);
    }
    reader.finish()?;
    Ok(settings)
}

fn decode_argument(reader: &mut Reader<'_>) -> Result<PromptArgument> {
    Ok(PromptArgument {
        name: reader.str()?.to_owned(),
        title: reader.optional_str()?.map(str::to_owned),
        description: reader.optional_str()?.map(str::to_owned),
        required: reader.u8()? != 0,
        completion: match reader.u8()? {
            completion::NONE => PromptCompletion::None,
            completion::VALUES => {
                let count = reader.u16()?;
                let values = (0..count).map(|_| reader.str().map(str::to_owned));
                PromptCompletion::Values(values.collect::<Result<_>>()?)
            }
            completion::VARIABLE => PromptCompletion::Variable {
                space: reader.str()?.to_owned(),
                variable: reader.str()?.to_owned(),
            },
            other => return Err(reader.corrupt(&format!("completion {other}"))),
        },
    })
}

fn decode_message(reader: &mut Reader<'_>) -> Result<PromptMessage> {
    let role = match reader.u8()? {
        0 => Role::User,
        1 => Role::Assistant,
        other => return Err(reader.corrupt(&format!("role {other}"))),
    };
    let media = |reader: &mut Reader<'_>| -> Result<Media> {
        Ok(Media { mime_type: reader.str()?.to_owned(), data: reader.bytes()?.to_vec() })
    };
    let content = match reader.u8()? {
        content::TEXT => PromptContent::Text(reader.str()?.to_owned()),
        content::IMAGE => PromptContent::Image(media(reader)?),
        content::AUDIO => PromptContent::Audio(media(reader)?),
        content::RESOURCE_LINK => PromptContent::ResourceLink(reader.str()?.to_owned()),
        content::EMBEDDED_RESOURCE => PromptContent::EmbeddedResource(reader.str()?.to_owned()),
        other => return Err(reader.corrupt(&format!("content {other}"))),
    };
    Ok(PromptMessage { role, content })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn every_field() -> PromptSettings {
        let mut settings = PromptSettings::new("review");
        settings.title = Some("Review".into());
        settings.description = Some("Looks a page over".into());
        settings.arguments = vec![
            PromptArgument {
                name: "tone".into(),
                title: Some("Tone".into()),
                description: Some("How to say it".into()),
                required: false,
                completion: PromptCompletion::Values(vec!["kind".into(), "dry".into()]),
            },
            PromptArgument {
                completion: PromptCompletion::Variable {
                    space: "docs".into(),
                    variable: "path".into(),
                },
                ..PromptArgument::required("page")
            },
        ];
        let media = |mime_type: &str| Media { mime_type: mime_type.into(), data: vec![0, 255] };
        settings.messages = [
            PromptContent::Text("Be {tone}".into()),
            PromptContent::Image(media("image/png")),
            PromptContent::Audio(media("audio/wav")),
            PromptContent::ResourceLink("docs://h/{+page}".into()),
            PromptContent::EmbeddedResource("docs://h/{page}".into()),
        ]
        .into_iter()
        .zip([Role::User, Role::Assistant].into_iter().cycle())
        .map(|(content, role)| PromptMessage { role, content })
        .collect();
        settings
    }

    #[test]
    fn a_prompt_comes_back() {
        let settings = every_field();
        assert_eq!(decode("review", &encode(&settings)).unwrap(), settings);
        assert!(Prompt::new(settings).is_ok());
    }

    #[test]
    fn a_value_that_ends_early_or_late_is_corrupt() {
        let value = encode(&every_field());
        for end in 0..value.len() {
            let error = decode("review", value.get(..end).unwrap()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{end}");
        }
        assert!(decode("review", &[value, vec![0]].concat()).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_give_settings_or_an_error(bytes: Vec<u8>) {
            let _ = decode("x", &bytes);
        }
    }
}
