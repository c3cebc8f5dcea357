//! The registry: our tools and those of the embedding program, in the order in which they are listed.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Semaphore;

use super::Tool;
use crate::{json_rpc::write, mcp::protocol::Revision};

/// Calls of tools of the embedding program that run at a time.
const CALLS_MAX: usize = 1_024;

/// Threads on which such tools wait for the disk or compute.
const THREADS_MAX: usize = 16;

/// The most characters of a tool's name.
const NAME_CHARS_MAX: usize = 128;

/// Puts an argument into a header of HTTP, which this server does not compare with the body.
const HEADER_KEYWORD: &str = "x-mcp-header";

/// The tools that there are; made once.
pub(crate) struct ToolSet {
    tools: Vec<(Definition, Callee)>,
    pub(crate) places: Arc<Semaphore>,
    pub(crate) threads: Arc<Semaphore>,
}

/// What is listed of a tool. Schemas and annotations are JSON.
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) input_schema: String,
    pub(crate) output_schema: Option<OutputSchema>,
    pub(crate) annotations: String,
}

/// The schema of structured content.
pub(crate) struct OutputSchema {
    pub(crate) json: String,
    /// Revisions before 2026-07-28 have no other structured content than objects.
    pub(crate) of_object: bool,
}

/// What answers a call.
pub(crate) enum Callee {
    /// The tool `search`, while there is an index.
    Search,
    /// The tool `fetch`.
    Fetch,
    /// A tool of the embedding program.
    Own(OwnTool),
}

/// What calling one takes.
pub(crate) struct OwnTool {
    pub(super) tool: Tool,
}

/// Why a tool is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolRefused {
    /// Clients would refuse its name.
    #[error("the tool's name `{0}` must have 1 to 128 of A-Z, a-z, 0-9, `_`, `-` and `.`")]
    Name(String),
    /// There is one of that name.
    #[error("there is a tool `{0}` already: take another name")]
    NameTaken(String),
    /// Arguments come by name.
    #[error("the arguments of the tool `{0}` must be an object: take a struct with named fields")]
    ArgumentsNoObject(String),
    /// A schema of the output that is none.
    #[error("the output schema of the tool `{0}` must be an object: `true` says nothing")]
    OutputSchema(String),
    /// A header that would have to be checked.
    #[error(
        "the tool `{0}` has `x-mcp-header` in its schema, which this server does not check: leave it out"
    )]
    HeaderArgument(String),
}

// === impl ToolSet ===

impl ToolSet {
    /// Only our own.
    pub(crate) fn new(built_in: impl IntoIterator<Item = (Definition, Callee)>) -> Self {
        Self {
            tools: built_in.into_iter().collect(),
            places: Arc::new(Semaphore::new(CALLS_MAX)),
            threads: Arc::new(Semaphore::new(THREADS_MAX)),
        }
    }

    /// Adds a tool of the embedding program.
    pub(crate) fn add(&mut self, tool: Tool) -> Result<(), ToolRefused> {
        let name = tool.name.clone();
        let of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if name.is_empty() || name.len() > NAME_CHARS_MAX || !name.bytes().all(of_name) {
            return Err(ToolRefused::Name(name));
        }
        if self.get(&name).is_some() {
            return Err(ToolRefused::NameTaken(name));
        }
        if !is_of_object(&tool.input_schema) {
            return Err(ToolRefused::ArgumentsNoObject(name));
        }
        if has_keyword(&tool.input_schema, HEADER_KEYWORD) {
            return Err(ToolRefused::HeaderArgument(name));
        }
        if tool.output_schema.as_ref().is_some_and(|schema| !schema.is_object()) {
            return Err(ToolRefused::OutputSchema(name));
        }
        let definition = Definition::of(&tool);
        self.tools.push((definition, Callee::Own(OwnTool { tool })));
        Ok(())
    }

    /// All tools, in the order in which they came.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Definition, Callee)> {
        self.tools.iter()
    }

    /// What answers calls of that name.
    pub(crate) fn get(&self, name: &str) -> Option<&Callee> {
        self.tools.iter().find(|(known, _)| known.name == name).map(|(_, callee)| callee)
    }

    /// Whether a tool sends log messages.
    pub(crate) fn logs(&self) -> bool {
        self.tools.iter().any(|(_, callee)| matches!(callee, Callee::Own(own) if own.tool.logs))
    }
}

fn is_of_object(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

fn has_keyword(schema: &Value, keyword: &str) -> bool {
    match schema {
        Value::Object(members) => {
            members.iter().any(|(name, value)| name == keyword || has_keyword(value, keyword))
        }
        Value::Array(values) => values.iter().any(|value| has_keyword(value, keyword)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

// === impl OwnTool ===

impl OwnTool {
    /// What a client must declare to call it.
    pub(crate) fn client_capabilities(&self) -> &[String] {
        &self.tool.client_capabilities
    }
}

// === impl Definition ===

impl Definition {
    fn of(tool: &Tool) -> Self {
        let output_schema = tool.output_schema.as_ref().map(|schema| OutputSchema {
            json: schema.to_string(),
            of_object: is_of_object(schema),
        });
        Self {
            name: tool.name.clone(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.to_string(),
            output_schema,
            annotations: serde_json::to_string(&tool.annotations).unwrap_or_default(),
        }
    }

    /// Appends a `Tool` of the revision's schema.
    pub(crate) fn write(&self, revision: Revision, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"name\":");
        write::string(&self.name, out);
        let title = self.title.as_deref().filter(|_| revision.has_titles());
        for (member, text) in
            [(&b",\"title\":"[..], title), (b",\"description\":", self.description.as_deref())]
        {
            if let Some(text) = text {
                out.extend_from_slice(member);
                write::string(text, out);
            }
        }
        out.extend_from_slice(b",\"inputSchema\":");
        out.extend_from_slice(self.input_schema.as_bytes());
        let output_schema = self.output_schema.as_ref().filter(|schema| {
            revision.has_structured_content()
                && (schema.of_object || revision.has_structured_values())
        });
        if let Some(schema) = output_schema {
            out.extend_from_slice(b",\"outputSchema\":");
            out.extend_from_slice(schema.json.as_bytes());
        }
        if revision.has_tool_annotations() && self.annotations != "{}" {
            out.extend_from_slice(b",\"annotations\":");
            out.extend_from_slice(self.annotations.as_bytes());
        }
        out.push(b'}');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Context, NoArguments, ToolError, ToolResult};

    fn tool(name: &str) -> Tool {
        Tool::new(name, async |_: Context, NoArguments {}| {
            Ok::<_, ToolError>(ToolResult::text("done"))
        })
    }

    #[test]
    fn tools_that_clients_would_refuse_are_refused_first() {
        let mut set = ToolSet::new([]);
        assert_eq!(set.add(tool("a-tool_1.x")), Ok(()));
        for (tool, said) in [
            (tool(""), "name ``"),
            (tool("a tool"), "name `a tool`"),
            (tool(&"x".repeat(129)), "1 to 128"),
            (tool("a-tool_1.x"), "already"),
            (tool("b").input_schema(serde_json::json!({"type": "string"})), "must be an object"),
            (
                tool("b").input_schema(serde_json::json!({
                    "type": "object",
                    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}
                })),
                "x-mcp-header",
            ),
        ] {
            let refused = set.add(tool).unwrap_err().to_string();
            assert!(refused.contains(said), "{refused}");
        }
    }
}
