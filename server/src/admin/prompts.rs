//! `PromptsService`.

use std::pin::Pin;
use std::sync::Arc;

use pressmark_index::prompt::{
    Media, Prompt, PromptArgument, PromptCompletion, PromptContent, PromptFault, PromptMessage,
    PromptSettings,
};
use pressmark_index::resource::Role;
use pressmark_proto::v1;
use pressmark_proto::v1::prompts_service_server::PromptsService;
use tokio_stream::Stream;
use tonic::{Request, Response, Status, async_trait};

use super::{Plane, status};

/// Bytes of the media in a message of a list, about: with one more prompt it is below what clients take.
const PAGE_BYTES_MAX: usize = 1024 * 1024;

type Pages = Pin<Box<dyn Stream<Item = Result<v1::ListPromptsResponse, Status>> + Send>>;

#[async_trait]
impl PromptsService for Plane {
    async fn put_prompt(
        &self,
        request: Request<v1::PutPromptRequest>,
    ) -> Result<Response<v1::PutPromptResponse>, Status> {
        let prompt = request.into_inner().prompt;
        let prompt = prompt.ok_or_else(|| Status::invalid_argument("prompt: it is missing"))?;
        let prompt = settings(prompt).and_then(|settings| {
            Prompt::new(settings).map_err(|fault: PromptFault| fault.to_string())
        });
        let prompt = prompt.map_err(|text| Status::invalid_argument(format!("prompt.{text}")))?;
        let prompts = Arc::clone(&self.prompts);
        let replaced = self.blocking.run(move || prompts.put(prompt)).await?;
        let replaced = replaced.map_err(|error| status::of(&error))?;
        Ok(Response::new(v1::PutPromptResponse { replaced }))
    }

    type ListPromptsStream = Pages;

    async fn list_prompts(
        &self,
        _request: Request<v1::ListPromptsRequest>,
    ) -> Result<Response<Pages>, Status> {
        let stored: Vec<Arc<Prompt>> = self.prompts.stored().iter().cloned().collect();
        let mut rest = stored.into_iter();
        // Made one after the other as the client takes them.
        let pages = std::iter::from_fn(move || {
            let mut prompts = Vec::new();
            let mut bytes = 0_usize;
            while bytes < PAGE_BYTES_MAX {
                let Some(prompt) = rest.next() else { break };
                bytes = bytes.saturating_add(prompt.stored_bytes());
                prompts.push(sent(prompt.settings()));
            }
            (!prompts.is_empty()).then_some(Ok(v1::ListPromptsResponse { prompts }))
        });
        Ok(Response::new(Box::pin(tokio_stream::iter(pages))))
    }

    async fn delete_prompt(
        &self,
        request: Request<v1::DeletePromptRequest>,
    ) -> Result<Response<v1::DeletePromptResponse>, Status> {
        let name = request.into_inner().name;
        let prompts = Arc::clone(&self.prompts);
        let removed = self.blocking.run(move || prompts.remove(&name)).await?;
        removed.map_err(|error| status::of(&error))?;
        Ok(Response::new(v1::DeletePromptResponse {}))
    }
}

// === to a prompt ===

/// What is sent as a prompt; the error begins with the field.
fn settings(prompt: v1::Prompt) -> Result<PromptSettings, String> {
    let messages = prompt.messages.into_iter().enumerate().map(|(at, message)| {
        self::message(message).map_err(|fault| format!("messages[{at}].{fault}"))
    });
    Ok(PromptSettings {
        name: prompt.name,
        title: prompt.title,
        description: prompt.description,
        arguments: prompt.arguments.into_iter().map(argument).collect(),
        messages: messages.collect::<Result<_, _>>()?,
    })
}

fn argument(argument: v1::PromptArgument) -> PromptArgument {
    use v1::prompt_argument::Completion as Sent;
    PromptArgument {
        name: argument.name,
        title: argument.title,
        description: argument.description,
        required: argument.required,
        completion: match argument.completion {
            None => PromptCompletion::None,
            Some(Sent::Values(list)) => PromptCompletion::Values(list.items),
            Some(Sent::Variable(v1::SpaceVariable { space, variable })) => {
                PromptCompletion::Variable { space, variable }
            }
        },
    }
}

fn message(message: v1::PromptMessage) -> Result<PromptMessage, String> {
    use v1::prompt_message::Content as Sent;
    let role = match v1::Role::try_from(message.role) {
        Ok(v1::Role::User) => Role::User,
        Ok(v1::Role::Assistant) => Role::Assistant,
        Ok(v1::Role::Unspecified) | Err(_) => {
            return Err(format!("role: {} is none: ROLE_USER or ROLE_ASSISTANT", message.role));
        }
    };
    let content = match message.content {
        Some(Sent::Text(text)) => PromptContent::Text(text),
        Some(Sent::Image(media)) => PromptContent::Image(self::media(media)),
        Some(Sent::Audio(media)) => PromptContent::Audio(self::media(media)),
        Some(Sent::ResourceLink(uri)) => PromptContent::ResourceLink(uri),
        Some(Sent::EmbeddedResource(uri)) => PromptContent::EmbeddedResource(uri),
        None => return Err("content: a message says something".to_owned()),
    };
    Ok(PromptMessage { role, content })
}

fn media(media: v1::Media) -> Media {
    Media { mime_type: media.mime_type, data: media.data }
}

// === from a prompt ===

/// A prompt as it is sent.
pub(crate) fn sent(settings: &PromptSettings) -> v1::Prompt {
    v1::Prompt {
        name: settings.name.clone(),
        title: settings.title.clone(),
        description: settings.description.clone(),
        arguments: settings.arguments.iter().map(sent_argument).collect(),
        messages: settings.messages.iter().map(sent_message).collect(),
    }
}

fn sent_argument(argument: &PromptArgument) -> v1::PromptArgument {
    use v1::prompt_argument::Completion as Sent;
    v1::PromptArgument {
        name: argument.name.clone(),
        title: argument.title.clone(),
        description: argument.description.clone(),
        required: argument.required,
        completion: match &argument.completion {
            PromptCompletion::None => None,
            PromptCompletion::Values(values) => {
                Some(Sent::Values(v1::TextList { items: values.clone() }))
            }
            PromptCompletion::Variable { space, variable } => {
                let (space, variable) = (space.clone(), variable.clone());
                Some(Sent::Variable(v1::SpaceVariable { space, variable }))
            }
        },
    }
}

fn sent_message(message: &PromptMessage) -> v1::PromptMessage {
    use v1::prompt_message::Content as Sent;
    let media =
        |media: &Media| v1::Media { mime_type: media.mime_type.clone(), data: media.data.clone() };
    let content = match &message.content {
        PromptContent::Text(text) => Sent::Text(text.clone()),
        PromptContent::Image(image) => Sent::Image(media(image)),
        PromptContent::Audio(audio) => Sent::Audio(media(audio)),
        PromptContent::ResourceLink(uri) => Sent::ResourceLink(uri.clone()),
        PromptContent::EmbeddedResource(uri) => Sent::EmbeddedResource(uri.clone()),
    };
    let role = match message.role {
        Role::User => v1::Role::User,
        Role::Assistant => v1::Role::Assistant,
    };
    v1::PromptMessage { role: role.into(), content: Some(content) }
}
