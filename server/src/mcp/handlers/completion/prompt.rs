//! Completion of a prompt's arguments: from a fixed list, or from a variable of a space.

use std::borrow::Cow;
use std::sync::Arc;

use pressmark_index::completion::{Completion, complete_from_list};
use pressmark_index::prompt::{Prompt, PromptCompletion};
use serde_json::value::RawValue;

use super::{Asked, CompletionArguments, argument, chosen_values, has_variable};
use crate::{
    error::Fault,
    mcp::{
        handlers::{Context, prompts, required_string},
        protocol::Params,
    },
};

/// Finds what the argument's completions come from.
pub(super) fn read<'a>(
    context: &Context<'_>,
    params: &Params<'a>,
    prompt_name: Option<&'a RawValue>,
) -> Result<Asked<'a>, Fault> {
    let name = required_string(prompt_name, "ref.name")?;
    let prompt = prompts::named(context, &name)?;
    let (argument, typed) = argument(params)?;
    let found =
        prompt.argument(&argument).ok_or_else(|| prompts::unknown_argument(&prompt, &argument))?;
    match &found.completion {
        PromptCompletion::None => Ok(Asked::Known(nothing())),
        PromptCompletion::Values(values) => Ok(Asked::Known(complete_from_list(values, &typed))),
        PromptCompletion::Variable { space, variable } => {
            let catalog = context.mcp.engine.spaces();
            let visible = catalog.by_name(space).filter(|_| context.mcp.access.sees_space(space));
            // A space that is not there, or that the caller may not use, has no values.
            let Some(space) = visible.filter(|space| has_variable(space, variable)) else {
                return Ok(Asked::Known(nothing()));
            };
            let other_variable = |name: &str| {
                variable_of(&prompt, name, &space.settings.name).filter(|other| other != variable)
            };
            Ok(Asked::Space(CompletionArguments {
                chosen: chosen_values(context, params, other_variable)?,
                space: Arc::clone(space),
                variable: Cow::Owned(variable.clone()),
                typed,
            }))
        }
    }
}

/// The variable of that space that an argument is completed from.
fn variable_of(prompt: &Prompt, argument: &str, in_space: &str) -> Option<String> {
    match &prompt.argument(argument)?.completion {
        PromptCompletion::Variable { space, variable } if space == in_space => {
            Some(variable.clone())
        }
        PromptCompletion::Variable { .. }
        | PromptCompletion::Values(_)
        | PromptCompletion::None => None,
    }
}

fn nothing() -> Completion {
    Completion { total: Some(0), ..Completion::default() }
}
