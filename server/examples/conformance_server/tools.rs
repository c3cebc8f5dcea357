//! The tools that the suite calls. Their names and what they return are the suite's.

use std::sync::Arc;
use std::time::Duration;

use pressmark::tools::{
    Content, Context, LogLevel, NoArguments, Tool, ToolAnnotations, ToolError, ToolResult,
};
use pressmark_index::prompt::Prompt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{prompts, resources::PNG};

/// What the suite asks for between two notifications.
const PAUSE: Duration = Duration::from_millis(50);

/// A hundredth of a second of silence: RIFF WAVE, one channel of 8 bits at 8,000 Hz.
fn wav() -> Vec<u8> {
    const SAMPLES: u8 = 80;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend_from_slice(&(36 + u32::from(SAMPLES)).to_le_bytes());
    bytes.extend_from_slice(
        b"WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1F\0\0\x40\x1F\0\0\x01\0\x08\0data",
    );
    bytes.extend_from_slice(&u32::from(SAMPLES).to_le_bytes());
    bytes.resize(bytes.len() + usize::from(SAMPLES), 0x80);
    bytes
}

pub(crate) fn all() -> Vec<Tool> {
    let mut tools = contents();
    tools.extend(behaviours());
    tools.extend(typed());
    tools
}

/// Tools that return each kind of content.
fn contents() -> Vec<Tool> {
    let simple_text = Tool::new("test_simple_text", async |_: Context, _: NoArguments| {
        Ok(ToolResult::text("This is a simple text response for testing."))
    });
    let image = Tool::new("test_image_content", async |_: Context, _: NoArguments| {
        Ok(ToolResult::new().with(Content::image(PNG, "image/png")))
    });
    let audio = Tool::new("test_audio_content", async |_: Context, _: NoArguments| {
        Ok(ToolResult::new().with(Content::audio(&wav(), "audio/wav")))
    });
    // The one resource is read from the store, the other is given.
    let embedded = Tool::new("test_embedded_resource", async |context: Context, _: NoArguments| {
        Ok(ToolResult::new().with(context.embed("test://embedded-resource").await?))
    });
    let mixed = Tool::new("test_multiple_content_types", async |_: Context, _: NoArguments| {
        let data = json!({"test": "data", "value": 123}).to_string();
        Ok(ToolResult::text("Multiple content types test:")
            .with(Content::image(PNG, "image/png"))
            .with(Content::resource_text(
                "test://mixed-content-resource",
                "application/json",
                &data,
            )))
    });
    [simple_text, image, audio, embedded, mixed]
        .map(|tool| tool.description("Returns fixed content.").annotations(ToolAnnotations::READS))
        .into()
}

/// Tools that fail, and that tell something while they run.
fn behaviours() -> [Tool; 7] {
    [
        Tool::new("test_error_handling", async |_: Context, _: NoArguments| {
            Err(ToolError::failed("This tool intentionally returns an error for testing"))
        })
        .description("Always fails."),
        Tool::new("test_tool_with_progress", progressing).description("Tells how far it is."),
        Tool::new("test_tool_with_logging", logging).description("Sends log messages.").logs(),
        Tool::new("test_logging_tool", logging).description("Sends log messages.").logs(),
        Tool::new("test_missing_capability", async |_: Context, _: NoArguments| {
            Ok(ToolResult::text("The client declares sampling."))
        })
        .description("Needs a client that can sample.")
        .requires_client("sampling"),
        Tool::new("test_streaming_elicitation", progressing)
            .description("Asks its client nothing, and tells how far it is."),
        Tool::new("test_trigger_prompt_change", changing_prompts)
            .description("Stores a prompt, or removes it again."),
    ]
}

/// Stores a prompt where there is none: whoever listens is told.
async fn changing_prompts(context: Context, _: NoArguments) -> Result<ToolResult, ToolError> {
    const NAME: &str = "test_changed_prompt";
    let settings = prompts::plain(NAME, "It comes and goes.");
    let prompt = Prompt::new(settings).map_err(ToolError::failed)?;
    let changed = context.blocking(move |context| {
        let engine = context.engine();
        match engine.prompts().by_name(NAME) {
            Some(_) => engine.remove_prompt(NAME),
            None => engine.put_prompt(Arc::new(prompt)).map(|_| ()),
        }
    });
    changed.await??;
    Ok(ToolResult::text("The list of prompts has changed."))
}

async fn progressing(context: Context, _: NoArguments) -> Result<ToolResult, ToolError> {
    for done in [0.0, 50.0, 100.0] {
        context.progress(done, Some(100.0), None);
        tokio::time::sleep(PAUSE).await;
    }
    Ok(ToolResult::text("All steps are done."))
}

async fn logging(context: Context, _: NoArguments) -> Result<ToolResult, ToolError> {
    for said in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        context.log(LogLevel::Info, Some("conformance"), &said);
        tokio::time::sleep(PAUSE).await;
    }
    Ok(ToolResult::text("Three messages were logged."))
}

/// What to add up.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Summands {
    /// One number.
    a: f64,
    /// The other.
    b: f64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    /// Both together.
    sum: f64,
}

/// Tools with arguments.
fn typed() -> [Tool; 2] {
    let add = Tool::structured("add_numbers", async |_: Context, Summands { a, b }: Summands| {
        Ok(Sum { sum: a + b })
    });
    // A schema that says more than a Rust type can: one of two ways to reach somebody.
    let contact = Tool::new("json_schema_2020_12_tool", async |_: Context, contact: Value| {
        Ok(ToolResult::text(format!("To be reached as {contact}.")))
    });
    [
        add.title("Add").description("Adds two numbers.").annotations(ToolAnnotations::READS),
        contact
            .description("Tool with JSON Schema 2020-12 features")
            .input_schema(contact_schema()),
    ]
}

fn contact_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    })
}
