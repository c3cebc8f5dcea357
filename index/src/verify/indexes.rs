//! What the indexes beside the store say, against the store.

use super::Check;
use crate::error::Result;
use crate::full_text;

impl Check<'_> {
    /// The completion indexes say what the list's resources come to.
    pub(super) fn completion(&mut self, checked: Result<(u64, Vec<String>)>) -> Result<()> {
        let result = checked.map(|(compared, faults)| {
            self.report.derived_keys += compared;
            faults.into_iter().for_each(|fault| self.report.fault(format!("completion: {fault}")));
        });
        self.report.caught("completion", result)
    }

    /// The full-text index holds every resource in the version that the store has, and nothing else.
    pub(super) fn full_text(&mut self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        if self.unreadable {
            return Ok(());
        }
        let resources = self.report.resources;
        let mut faults = Vec::new();
        let tick = &mut || progress(resources);
        let compared = full_text::check(self.shared, tick, &mut |fault| faults.push(fault))?;
        self.report.derived_keys += compared;
        faults.into_iter().for_each(|fault| self.report.fault(format!("full text: {fault}")));
        Ok(())
    }
}
