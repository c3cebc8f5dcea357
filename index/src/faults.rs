//! Faults of what is derived from the store, all of which are counted and the first of which are named.

/// Faults that are named.
const NAMED_MAX: usize = 20;

/// Faults that were found.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// How many there are.
    pub(crate) count: u64,
    /// What they are, the first [`NAMED_MAX`] of them.
    pub(crate) named: Vec<String>,
}

impl Faults {
    pub(crate) fn add(&mut self, fault: impl FnOnce() -> String) {
        self.count += 1;
        if self.named.len() < NAMED_MAX {
            self.named.push(fault());
        }
    }

    pub(crate) fn append(&mut self, others: Faults) {
        self.count += others.count;
        let room = NAMED_MAX.saturating_sub(self.named.len());
        self.named.extend(others.named.into_iter().take(room));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }
}
