//! The prompts that are served: those that are declared, in the configuration or in code, and those that operators put
//! into the store at run time. One that is declared stands before a stored one of its name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arc_swap::ArcSwap;
use pressmark_index::engine::Engine;
use pressmark_index::error::{Error, ErrorKind, Result};
use pressmark_index::prompt::{Prompt, PromptCatalog};

/// The one place that knows all prompts.
pub struct Prompts {
    engine: Arc<Engine>,
    declared: ArcSwap<BTreeMap<String, Arc<Prompt>>>,
}

/// A page of the list.
pub struct PromptPage {
    /// In the order of their names.
    pub prompts: Vec<Arc<Prompt>>,
    /// For the page that follows; `None`: there is none.
    pub next_cursor: Option<String>,
}

// === impl Prompts ===

impl Prompts {
    /// The prompts of a store; nothing is declared yet.
    pub fn new(engine: Arc<Engine>) -> Self {
        Self { engine, declared: ArcSwap::default() }
    }

    /// Puts these in place of all that were declared. Of two with one name the later one counts. Stored ones that are
    /// hidden from now on are returned.
    ///
    /// Whoever calls this tells the subscribers, see [`crate::app::App::declare_prompts`].
    pub fn declare(&self, prompts: impl IntoIterator<Item = Arc<Prompt>>) -> Vec<String> {
        let prompts = prompts.into_iter().map(|prompt| (prompt.name().to_owned(), prompt));
        let declared: BTreeMap<_, _> = prompts.collect();
        let stored = self.engine.prompts();
        let hidden = declared.keys().filter(|name| stored.by_name(name).is_some());
        let hidden = hidden.cloned().collect();
        self.declared.store(Arc::new(declared));
        hidden
    }

    /// Whether exactly these are declared.
    pub fn declares(&self, prompts: &[Arc<Prompt>]) -> bool {
        let named: BTreeMap<_, _> = prompts.iter().map(|prompt| (prompt.name(), prompt)).collect();
        let declared = self.declared.load();
        declared.len() == named.len()
            && named.iter().all(|(name, prompt)| declared.get(*name) == Some(*prompt))
    }

    /// The prompt of that name.
    pub fn named(&self, name: &str) -> Option<Arc<Prompt>> {
        let declared = self.declared.load();
        match declared.get(name) {
            Some(prompt) => Some(Arc::clone(prompt)),
            None => self.engine.prompts().by_name(name).cloned(),
        }
    }

    /// A page of all of them, after `cursor`; it has one prompt at least and ends at `items_max`, or with the prompt that
    /// brings `bytes_of` all to `bytes_max`.
    ///
    /// # Errors
    /// `InvalidCursor`.
    pub fn page(
        &self,
        cursor: Option<&str>,
        items_max: usize,
        bytes_max: usize,
        bytes_of: impl Fn(&Prompt) -> usize,
    ) -> Result<PromptPage> {
        let after = cursor.map(|cursor| self.engine.prompts_after(cursor)).transpose()?;
        let (declared, stored) = (self.declared.load_full(), self.engine.prompts());
        let mut names: BTreeSet<&str> = declared.keys().map(String::as_str).collect();
        names.extend(stored.iter().map(|prompt| prompt.name()));
        let mut rest = names
            .into_iter()
            .filter(|name| after.as_deref().is_none_or(|after| *name > after))
            .filter_map(|name| declared.get(name).or_else(|| stored.by_name(name)))
            .peekable();
        let (mut prompts, mut bytes) = (Vec::new(), 0_usize);
        while prompts.len() < items_max.max(1) && bytes < bytes_max {
            let Some(prompt) = rest.next() else { break };
            bytes = bytes.saturating_add(bytes_of(prompt));
            prompts.push(Arc::clone(prompt));
        }
        let last = prompts.last().filter(|_| rest.peek().is_some());
        let next_cursor = last.map(|last| self.engine.prompts_cursor(last.name()));
        Ok(PromptPage { prompts, next_cursor })
    }

    // === at run time ===

    /// The stored ones, hidden ones included.
    pub fn stored(&self) -> Arc<PromptCatalog> {
        self.engine.prompts()
    }

    /// Stores a prompt, in place of the one with its name; returns whether there was one.
    ///
    /// # Errors
    /// `Conflict` for the name of a declared one, and what [`Engine::put_prompt`] refuses.
    pub fn put(&self, prompt: Prompt) -> Result<bool> {
        self.check_not_declared(prompt.name(), "change it there, or take another name")?;
        self.engine.put_prompt(Arc::new(prompt))
    }

    /// Removes a stored prompt.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` when one of that name is declared and none is stored.
    pub fn remove(&self, name: &str) -> Result<()> {
        if self.engine.prompts().by_name(name).is_none() {
            self.check_not_declared(name, "remove it there")?;
        }
        self.engine.remove_prompt(name)
    }

    fn check_not_declared(&self, name: &str, way_out: &str) -> Result<()> {
        if !self.declared.load().contains_key(name) {
            return Ok(());
        }
        let detail = format!("it is declared by the server's configuration or program: {way_out}");
        Err(Error::new(ErrorKind::Conflict, format!("prompt `{name}`"), detail))
    }
}
