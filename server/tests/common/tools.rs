//! Tools of an embedding program, as the tests call them.

use std::time::Duration;

use pressmark::tools::{
    Content, Context, LogLevel, NoArguments, ResourceLink, Tool, ToolAnnotations, ToolError,
    ToolResult,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Greeting {
    /// Whom to greet.
    name: String,
    times: Option<u8>,
}

#[derive(Deserialize, JsonSchema)]
struct Summands {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

/// Tools that answer at once.
pub(crate) fn all() -> Vec<Tool> {
    let mut tools = returning();
    tools.extend(failing());
    tools
}

fn returning() -> Vec<Tool> {
    let greet = async |_: Context, greeting: Greeting| {
        let times = usize::from(greeting.times.unwrap_or(1));
        Ok(ToolResult::text(format!("Hello {}! ", greeting.name).repeat(times)))
    };
    let add = async |_: Context, Summands { a, b }: Summands| {
        let sum = a.checked_add(b).ok_or_else(|| {
            ToolError::WrongArguments("`a` and `b` are too large together".to_owned())
        })?;
        Ok(Sum { sum })
    };
    let pieces = async |context: Context, _: NoArguments| {
        Ok(ToolResult::text("all kinds")
            .with(Content::image(b"a picture", "image/png"))
            .with(Content::audio(b"a sound", "audio/wav"))
            .with(Content::link(ResourceLink {
                uri: "note://shelf/plain".to_owned(),
                name: "plain".to_owned(),
                title: Some("A note".to_owned()),
                ..ResourceLink::default()
            }))
            .with(Content::resource_blob("made://up", "image/png", b"bytes"))
            .with(context.embed("note://shelf/plain#line=1,2").await?))
    };
    vec![
        Tool::new("greet", greet)
            .title("Greet")
            .description("Greets somebody.")
            .annotations(ToolAnnotations::READS),
        Tool::structured("add", add),
        Tool::new("pieces", pieces),
        Tool::structured("words", async |_: Context, _: NoArguments| Ok(vec!["one", "two"])),
    ]
}

fn failing() -> Vec<Tool> {
    let missing = async |context: Context, _: NoArguments| {
        Ok(ToolResult::new().with(context.embed("note://shelf/nowhere").await?))
    };
    let large = async |_: Context, _: NoArguments| Ok(ToolResult::text("x".repeat(2 << 20)));
    let late = async |_: Context, _: NoArguments| std::future::pending().await;
    vec![
        Tool::new("fails", async |_: Context, _: NoArguments| Err(ToolError::failed("no luck"))),
        Tool::new("broken", async |_: Context, _: NoArguments| {
            Err(ToolError::Internal("/var/secret is broken".to_owned()))
        }),
        Tool::new("panics", async |_: Context, _: NoArguments| panic!("/var/secret is broken")),
        Tool::new("missing", missing),
        Tool::new("large", large),
        Tool::new("late", late).time_max(Duration::from_millis(5)),
        Tool::new("samples", async |_: Context, _: NoArguments| Ok(ToolResult::text("sampled")))
            .requires_client("sampling"),
    ]
}

/// Tells of its steps, and logs each.
pub(crate) fn steps() -> Tool {
    let steps = async |context: Context, _: NoArguments| {
        context.log(LogLevel::Debug, None, &"begins");
        // Neither of the last two is higher than what was told.
        for (progress, message) in [(0.5, Some("half")), (1.0, None), (1.0, None), (f64::NAN, None)]
        {
            context.progress(progress, Some(1.0), message);
        }
        context.log(LogLevel::Warning, Some("steps"), &["ends"]);
        Ok(ToolResult::text("done"))
    };
    Tool::new("steps", steps).logs()
}
