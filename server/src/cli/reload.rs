//! SIGHUP: `pressmark.toml` is read again, and what it says of spaces and prompts counts from then on.

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use pressmark_index::engine::Engine;
use pressmark_index::prompt::Prompt;
use tokio::signal::unix::{SignalKind, signal};

use super::Common;
use super::open::{Setup, put_spaces, setup};
use super::output::chain;
use crate::shutdown::Shutdown;

/// What is read again, and by whom it counts.
pub(super) struct Reload {
    pub(super) common: Common,
    pub(super) paths: Vec<PathBuf>,
    /// What counts now.
    pub(super) setup: Setup,
    pub(super) engine: Arc<Engine>,
    /// Serves these prompts in place of those that were declared before.
    pub(super) declare_prompts: Box<dyn Fn(Vec<Arc<Prompt>>) + Send>,
}

/// Reads the configuration again whenever the process is told to. A terminal that is closed sends the same signal, and
/// ends the server that was started there.
pub(super) fn on_hangup(mut reload: Reload, shutdown: &Shutdown) -> Result<(), String> {
    let mut hangups = signal(SignalKind::hangup()).map_err(|error| format!("signals: {error}"))?;
    let (had_terminal, ends) = (std::io::stdin().is_terminal(), shutdown.clone());
    shutdown.tasks().spawn(async move {
        loop {
            tokio::select! {
                hangup = hangups.recv() => if hangup.is_none() { return },
                () = ends.begun() => return,
            }
            if had_terminal && !std::io::stdin().is_terminal() {
                ends.begin();
                return;
            }
            let read = tokio::task::spawn_blocking(move || {
                reload.again();
                reload
            });
            match read.await {
                Ok(same) => reload = same,
                Err(error) => {
                    tracing::error!("the configuration is not read again any more: {error}");
                    return;
                }
            }
        }
    });
    Ok(())
}

// === impl Reload ===

impl Reload {
    fn again(&mut self) {
        match self.read() {
            Ok(said) => tracing::info!("the configuration was read again: {said}"),
            Err(reason) => {
                tracing::error!("the configuration stays as it was, nothing has changed: {reason}");
            }
        }
    }

    /// Reads, checks all of it, and only then changes anything.
    fn read(&mut self) -> Result<String, String> {
        let new = setup(&self.common, &self.paths)?;
        if new.data_dir != self.setup.data_dir {
            return Err(format!(
                "storage.path: the store stays in {} until a restart",
                self.setup.data_dir.display()
            ));
        }
        self.check_spaces(&new)?;
        let changed = put_spaces(&new, &self.engine)?;
        let (removed, kept) = self.remove_undeclared(&new)?;
        let mut said = vec![format!("{changed} spaces added or changed, {removed} removed")];
        said.extend(kept.iter().map(|name| {
            format!("`{name}` keeps its resources, `pressmark space remove {name}` removes them")
        }));
        if new.config.prompts != self.setup.config.prompts {
            said.push(format!("{} prompts are declared", new.config.prompts.len()));
            (self.declare_prompts)(new.config.prompts.clone());
        }
        if self.needs_restart(&new) {
            said.push("what else has changed counts after a restart".to_owned());
        }
        self.setup = new;
        Ok(said.join("; "))
    }

    /// What the store would refuse of one space keeps all others from changing too.
    fn check_spaces(&self, new: &Setup) -> Result<(), String> {
        let known = self.engine.spaces();
        for settings in &new.spaces {
            let name = &settings.name;
            if let Some(space) = known.by_name(name)
                && space.settings.uri_template != settings.uri_template
                && space.resource_count() > 0
            {
                return Err(format!(
                    "space `{name}`: its template stays {:?} while it has resources",
                    space.settings.uri_template
                ));
            }
            let other = known.spaces.iter().find(|space| {
                space.settings.name != *name && space.settings.uri_template == settings.uri_template
            });
            if let Some(other) = other {
                return Err(format!(
                    "space `{name}`: the space `{}` has its template already",
                    other.settings.name
                ));
            }
        }
        Ok(())
    }

    /// Removes spaces that are declared no more and hold nothing. Says how many, and which ones hold something: a name that
    /// was mistyped must not cost resources.
    fn remove_undeclared(&self, new: &Setup) -> Result<(usize, Vec<String>), String> {
        let declared: BTreeSet<&str> = new.spaces.iter().map(|space| space.name.as_str()).collect();
        let known = self.engine.spaces();
        let (mut removed, mut kept) = (0, Vec::new());
        for former in &self.setup.spaces {
            let name = former.name.as_str();
            match known.by_name(name) {
                Some(space) if !declared.contains(name) && space.resource_count() == 0 => {
                    self.engine.remove_space(name).map_err(|error| chain(&error))?;
                    removed += 1;
                }
                Some(_) if !declared.contains(name) => kept.push(name.to_owned()),
                Some(_) | None => {}
            }
        }
        Ok((removed, kept))
    }

    fn needs_restart(&self, new: &Setup) -> bool {
        let (before, after) = (&self.setup.config, &new.config);
        before.server != after.server
            || before.storage != after.storage
            || before.full_text != after.full_text
            || before.extract != after.extract
            || before.sources != after.sources
    }
}
