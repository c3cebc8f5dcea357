//! What the indexes beside the store say, against the store.

use super::{Check, FINDINGS_MAX, VerifyReport};
use crate::error::Result;
use crate::faults::Faults;
use crate::full_text;

impl Check<'_> {
    /// The completion indexes say what the list's resources come to.
    pub(super) fn completion(&mut self, checked: Result<(u64, Faults)>) -> Result<()> {
        let result = checked.map(|(compared, faults)| {
            self.report.derived_keys += compared;
            self.report.faults("completion", faults);
        });
        self.report.caught("completion", result)
    }

    /// The full-text index holds every resource in the version that the store has, and nothing else.
    pub(super) fn full_text(&mut self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        if self.unreadable {
            return Ok(());
        }
        let resources = self.report.resources;
        let tick = &mut || progress(resources);
        let (compared, faults) = full_text::check(self.shared, &self.stop, tick)?;
        self.report.derived_keys += compared;
        self.report.faults("full text", faults);
        Ok(())
    }
}

impl VerifyReport {
    /// Faults of an index, which names only some of them.
    fn faults(&mut self, place: &str, faults: Faults) {
        self.fault_count = self.fault_count.saturating_add(faults.count);
        let room = FINDINGS_MAX.saturating_sub(self.findings.len());
        let named = faults.named.into_iter().take(room);
        self.findings.extend(named.map(|fault| format!("{place}: {fault}")));
    }
}
