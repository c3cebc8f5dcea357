//! A tool as the embedding program builds it.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Context, ToolError, ToolResult, arguments};

/// A tool: what is listed of it, and what it does.
#[derive(Clone)]
pub struct Tool {
    pub(super) name: String,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) annotations: ToolAnnotations,
    pub(super) input_schema: Value,
    pub(super) output_schema: Option<Value>,
    pub(super) time_max: Option<Duration>,
    pub(super) client_capabilities: Vec<String>,
    pub(super) logs: bool,
    pub(super) handler: Handler,
}

/// What clients may assume of a tool; absent hints say nothing (`ToolAnnotations` of the schema, from 2025-03-26 on).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// It changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// It may delete or overwrite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it twice with the same arguments does what calling it once does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// It deals with what is outside of this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// The arguments of a tool that takes none.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoArguments {}

/// A call whose arguments were decoded.
pub(super) type Running = Pin<Box<dyn Future<Output = Result<ToolResult, ToolError>> + Send>>;

/// Decodes arguments and makes the call; an error says what is wrong with the arguments.
pub(super) type Handler = Arc<dyn Fn(Context, &str) -> Result<Running, String> + Send + Sync>;

// === impl Tool ===

impl Tool {
    /// A tool that returns content. `name` has 1 to 128 of `[A-Za-z0-9_.-]`; the schema of its arguments is that of `A`,
    /// which must be a struct.
    ///
    /// A handler that needs long for something else than waiting has it done by [`Context::blocking`].
    pub fn new<A, F, R>(name: impl Into<String>, handler: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Fn(Context, A) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ToolResult, ToolError>> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |context, json| {
            let running: Running = Box::pin(handler(context, arguments::decode(json)?));
            Ok(running)
        });
        Self::of(name.into(), arguments::input_schema::<A>().to_value(), handler)
    }

    /// A tool that returns a value, which clients get as structured content with the schema of `T`, and as JSON text.
    pub fn structured<A, T, F, R>(name: impl Into<String>, handler: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        T: Serialize + JsonSchema + Send + 'static,
        F: Fn(Context, A) -> R + Send + Sync + 'static,
        R: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |context, json| {
            let value = handler(context, arguments::decode(json)?);
            let running: Running = Box::pin(async move { ToolResult::structured(&value.await?) });
            Ok(running)
        });
        let tool = Self::of(name.into(), arguments::input_schema::<A>().to_value(), handler);
        Self { output_schema: Some(arguments::output_schema::<T>().to_value()), ..tool }
    }

    fn of(name: String, input_schema: Value, handler: Handler) -> Self {
        Self {
            name,
            title: None,
            description: None,
            annotations: ToolAnnotations::default(),
            input_schema,
            output_schema: None,
            time_max: None,
            client_capabilities: Vec::new(),
            logs: false,
            handler,
        }
    }

    /// What people read.
    #[must_use]
    pub fn title(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// What the model reads to decide whether and how to call it.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        Self { description: Some(description.into()), ..self }
    }

    /// What clients may assume of it.
    #[must_use]
    pub fn annotations(self, annotations: ToolAnnotations) -> Self {
        Self { annotations, ..self }
    }

    /// A schema of the arguments that says more than their type does. It must describe an object; what it refuses and the
    /// type takes is not refused.
    #[must_use]
    pub fn input_schema(self, schema: Value) -> Self {
        Self { input_schema: schema, ..self }
    }

    /// How long a call may take; without it, as long as any request.
    #[must_use]
    pub fn time_max(self, time_max: Duration) -> Self {
        Self { time_max: Some(time_max), ..self }
    }

    /// Refuses calls of clients that do not declare this capability, such as `sampling`, with error -32021. Clients declare
    /// capabilities with each request since 2026-07-28; older ones are not refused.
    #[must_use]
    pub fn requires_client(mut self, capability: impl Into<String>) -> Self {
        self.client_capabilities.push(capability.into());
        self
    }

    /// Declares that it sends log messages ([`Context::log`]): without it they go nowhere. The protocol has called them
    /// deprecated since 2026-07-28; progress is for people, and the log of the process for who operates it.
    #[must_use]
    pub fn logs(self) -> Self {
        Self { logs: true, ..self }
    }
}

// === impl ToolAnnotations ===

impl ToolAnnotations {
    /// Of a tool that only looks at what this server has.
    pub const READS: Self = Self {
        read_only_hint: Some(true),
        destructive_hint: Some(false),
        idempotent_hint: Some(true),
        open_world_hint: Some(false),
    };
}
