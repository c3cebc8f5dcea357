//! `pressmark prompt add|list|remove`.

use std::path::Path;
use std::process::ExitCode;

use pressmark_proto::v1;
use serde::Serialize;

use super::output::{Failure, Out, chain};
use super::target::Target;
use super::{Common, PromptCommand};
use crate::admin::prompts::sent;
use crate::config;
use crate::terminal::one_line;

/// A prompt, as `--json` shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    arguments: Vec<Argument<'a>>,
    message_count: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Argument<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    required: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Added<'a> {
    name: &'a str,
    replaced: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Removed<'a> {
    name: &'a str,
}

pub(super) fn run(common: &Common, command: &PromptCommand) -> Result<ExitCode, Failure> {
    match command {
        PromptCommand::Add { file } => add(common, file),
        PromptCommand::List => list(common),
        PromptCommand::Remove { name } => remove(common, name),
    }
}

/// Reads and checks all of the file before the first one is put.
fn add(common: &Common, file: &Path) -> Result<ExitCode, Failure> {
    let prompts = config::read_prompts(file).map_err(|error| chain(&error))?;
    if prompts.is_empty() {
        return Err(format!("{}: it has no [[prompt]]", file.display()).into());
    }
    let target = Target::make(common, "prompt add")?;
    let mut out = Out::new();
    for (at, prompt) in prompts.iter().enumerate() {
        let name = prompt.name();
        let request = v1::PutPromptRequest { prompt: Some(sent(prompt.settings())) };
        let put = target.wait(target.prompts().put_prompt(request));
        let put = put.map_err(|failure| match failure {
            // Those before it are there.
            Failure::Refused(refusal) if at > 0 => Failure::CutOff(refusal),
            failure => failure,
        });
        let replaced = put?.replaced;
        if common.json {
            out.json(&Added { name, replaced })?;
        } else {
            common.remark(&format!(
                "{} the prompt `{name}`",
                if replaced { "replaced" } else { "added" }
            ));
        }
    }
    out.end()?;
    Ok(ExitCode::SUCCESS)
}

fn list(common: &Common) -> Result<ExitCode, Failure> {
    let target = Target::find(common, "prompt list")?;
    let mut pages = target.wait(target.prompts().list_prompts(v1::ListPromptsRequest {}))?;
    let mut out = Out::new();
    while let Some(page) = target.next(&mut pages)? {
        for prompt in &page.prompts {
            if common.json {
                out.json(&Shown::of(prompt))?;
            } else {
                let arguments: Vec<&str> =
                    prompt.arguments.iter().map(|argument| argument.name.as_str()).collect();
                let title = one_line(prompt.title.as_deref().unwrap_or_default());
                out.line(&format!("{}\t{title}\t{}", prompt.name, arguments.join(" ")))?;
            }
        }
    }
    out.end()?;
    Ok(ExitCode::SUCCESS)
}

fn remove(common: &Common, name: &str) -> Result<ExitCode, Failure> {
    let target = Target::look(common, "prompt remove")?;
    let request = v1::DeletePromptRequest { name: name.to_owned() };
    target.wait(target.prompts().delete_prompt(request))?;
    if common.json {
        let mut out = Out::new();
        out.json(&Removed { name })?;
        out.end()?;
    } else {
        common.remark(&format!("removed the prompt `{name}`"));
    }
    Ok(ExitCode::SUCCESS)
}

impl<'a> Shown<'a> {
    fn of(prompt: &'a v1::Prompt) -> Self {
        let argument = |argument: &'a v1::PromptArgument| Argument {
            name: &argument.name,
            title: argument.title.as_deref(),
            description: argument.description.as_deref(),
            required: argument.required,
        };
        Self {
            name: &prompt.name,
            title: prompt.title.as_deref(),
            description: prompt.description.as_deref(),
            arguments: prompt.arguments.iter().map(argument).collect(),
            message_count: prompt.messages.len(),
        }
    }
}
