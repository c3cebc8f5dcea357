//! A server put together in code: a store, its spaces, prompts, and tools of the program's own.
//!
//! ```no_run
//! use pressmark::builder::ServerBuilder;
//! use pressmark::tools::{Context, NoArguments, Tool, ToolError, ToolResult};
//! use pressmark_index::space::SpaceSettings;
//!
//! async fn count(context: Context, _: NoArguments) -> Result<ToolResult, ToolError> {
//!     let stats = context.blocking(|context| context.engine().stats()).await??;
//!     Ok(ToolResult::text(format!("{} resources", stats.resources)))
//! }
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let app = ServerBuilder::at("./notes-data")
//!     .space(SpaceSettings::new("notes", "note://shelf/{name}"))
//!     .tool(Tool::new("count", count).description("Counts all notes."))
//!     .build()?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:7411").await?;
//! app.serve_http(listener).await;
//! # Ok(())
//! # }
//! ```
//!
//! [The guide](guide) says more, and `server/examples/conformance_server` uses all of it.

use std::path::PathBuf;
use std::sync::Arc;

use pressmark_index::engine::Engine;
use pressmark_index::error::Error;
use pressmark_index::prompt::{Prompt, PromptFault, PromptSettings};
use pressmark_index::space::SpaceSettings;

use crate::app::App;
use crate::config::Config;
use crate::tools::{Tool, ToolRefused};

/// What a server is made of.
#[must_use = "nothing is opened before `build`"]
pub struct ServerBuilder {
    store: StoreAt,
    config: Config,
    spaces: Vec<SpaceSettings>,
    prompts: Vec<PromptSettings>,
    tools: Vec<Tool>,
}

enum StoreAt {
    Folder(PathBuf),
    Open(Arc<Engine>),
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The store was not opened, or a space was refused.
    #[error(transparent)]
    Store(#[from] Error),
    /// A prompt was refused.
    #[error(transparent)]
    Prompt(#[from] PromptFault),
    /// A tool was refused.
    #[error(transparent)]
    Tool(#[from] ToolRefused),
}

// === impl ServerBuilder ===

impl ServerBuilder {
    /// A server of the store in this folder, which is made where there is none.
    pub fn at(data_dir: impl Into<PathBuf>) -> Self {
        Self::of(StoreAt::Folder(data_dir.into()))
    }

    /// A server of a store that is open. Its own options hold then, and not `[storage]` of the configuration.
    pub fn on(engine: Arc<Engine>) -> Self {
        Self::of(StoreAt::Open(engine))
    }

    fn of(store: StoreAt) -> Self {
        let (spaces, prompts, tools) = (Vec::new(), Vec::new(), Vec::new());
        Self { store, config: Config::default(), spaces, prompts, tools }
    }

    /// Other bounds than the usual ones: `[server]`, `[storage]`, `[full_text]`, commands that extract text, and spaces. The
    /// folders of a configuration are served by the program `pressmark` only.
    pub fn config(self, config: Config) -> Self {
        Self { config, ..self }
    }

    /// Adds a space, or changes the one of that name as it is in the store. A space that is no longer named stays.
    pub fn space(mut self, space: SpaceSettings) -> Self {
        self.spaces.push(space);
        self
    }

    /// Declares a prompt, in place of a declared one of its name; a stored one is hidden. [`App::declare_prompts`] puts others in place of all of them
    /// while the server runs.
    pub fn prompt(mut self, prompt: PromptSettings) -> Self {
        self.prompts.push(prompt);
        self
    }

    /// Adds a tool, listed after those before it and after our own.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Opens the store and puts the protocol in front of it. May wait for the disk for some seconds.
    ///
    /// # Errors
    /// A store that another process owns or that cannot be opened, a space whose template cannot be matched, a prompt
    /// with a fault, a tool that clients would refuse.
    pub fn build(self) -> Result<App, BuildError> {
        let Self { store, config, spaces, prompts, tools } = self;
        let engine = match store {
            StoreAt::Open(engine) => engine,
            StoreAt::Folder(data_dir) => {
                let owner = format!("a server of its own program (pid {})", std::process::id());
                Arc::new(Engine::open(&data_dir, &config.engine_options(owner, None))?)
            }
        };
        let configured = config.spaces.into_iter().map(|space| space.settings);
        for space in configured.chain(spaces) {
            engine.put_space(space)?;
        }
        let prompts: Vec<_> = prompts
            .into_iter()
            .map(|settings| Prompt::new(settings).map(Arc::new))
            .collect::<Result<_, _>>()?;
        let app = App::with_tools(engine, config.server, &config.full_text, tools)?;
        app.declare_prompts(config.prompts.into_iter().chain(prompts));
        Ok(app)
    }
}

#[doc = include_str!("../../docs/builder.md")]
pub mod guide {}
