//! Prompts come, change and go. Nothing but themselves follows from them.

use std::sync::Arc;

use super::Transaction;
use crate::error::Result;
use crate::prompt::{self, Prompt};
use crate::store::Cf;
use crate::store::key::meta;

impl Transaction<'_, '_> {
    /// Stores a prompt in place of the one with its name; returns whether there was one.
    pub(crate) fn put_prompt(&mut self, prompt: &Arc<Prompt>) -> Result<bool> {
        let prompts = self.state.prompts.with(prompt)?;
        let value = prompt::encode(prompt.settings());
        self.batch.put(Cf::Meta, &meta::prompt(prompt.name()), &value)?;
        let replaced = self.state.prompts.by_name(prompt.name()).is_some();
        self.state.prompts = Arc::new(prompts);
        Ok(replaced)
    }

    /// Forgets a prompt.
    pub(crate) fn remove_prompt(&mut self, name: &str) -> Result<()> {
        let prompts = self.state.prompts.without(name)?;
        self.batch.delete(Cf::Meta, &meta::prompt(name))?;
        self.state.prompts = Arc::new(prompts);
        Ok(())
    }
}
