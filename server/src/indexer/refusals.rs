//! What of a source was refused and why: each refusal is said once, and what is refused for its content is not read
//! again, until the file changes.

use std::collections::BTreeMap;

/// Refusals of a source that are remembered. What is beyond is read at each comparison, and only counted. With paths of
/// 80 bytes they take about 3 MB.
pub(crate) const REFUSALS_MAX: usize = 10_000;

/// Refusals by their escaped paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refusals {
    by_path: BTreeMap<String, Refusal>,
}

/// Why something is not served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// How the file looked; `None` where that does not matter, as for a folder that lies too deep.
    pub(crate) fingerprint: Option<Vec<u8>>,
    pub(crate) reason: String,
    pub(crate) cause: Cause,
}

/// On what a refusal depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// On the file alone: it is refused as long as it looks the same.
    File,
    /// On what else is served at its path.
    Earlier,
    /// On what else the store holds: it is offered to the store again at each comparison.
    Store,
}

// === impl Refusals ===

impl Refusals {
    /// Remembers a refusal if there is room. Whether it is to be said: one that `before` knows was said, and without room
    /// for it one would say it again and again.
    pub(super) fn note(&mut self, path: String, refusal: Refusal, before: &Self) -> bool {
        if self.by_path.len() >= REFUSALS_MAX {
            return false;
        }
        let is_new = before.by_path.get(&path) != Some(&refusal);
        self.by_path.insert(path, refusal);
        is_new
    }

    /// What is known of a file that looks as it did when it was refused.
    pub(super) fn of(&self, path: &str, fingerprint: &[u8]) -> Option<&Refusal> {
        let refusal = self.by_path.get(path)?;
        (refusal.fingerprint.as_deref() == Some(fingerprint)).then_some(refusal)
    }

    /// Puts what a look has found in place of what was known of the paths that it `covered`.
    pub(crate) fn replace(&mut self, found: Self, covered: impl Fn(&str) -> bool) {
        self.by_path.retain(|path, _| !covered(path));
        let room = REFUSALS_MAX.saturating_sub(self.by_path.len());
        self.by_path.extend(found.by_path.into_iter().take(room));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(fingerprint: u8) -> Refusal {
        Refusal {
            fingerprint: Some(vec![fingerprint]),
            reason: "is a private key".to_owned(),
            cause: Cause::File,
        }
    }

    /// Whether a look that finds this says so, `before` being known.
    fn says(before: &mut Refusals, path: &str, refusal: Refusal) -> bool {
        let mut found = Refusals::default();
        let said = found.note(path.to_owned(), refusal, before);
        before.replace(found, |known| known == path);
        said
    }

    #[test]
    fn a_refusal_is_said_again_when_the_file_or_the_reason_is_another() {
        let mut known = Refusals::default();
        assert!(says(&mut known, "a", refusal(1)));
        assert!(!says(&mut known, "a", refusal(1)));
        assert!(says(&mut known, "b", refusal(1)));
        assert!(says(&mut known, "a", refusal(2)));
        assert!(says(&mut known, "a", Refusal { reason: "is too large".to_owned(), ..refusal(2) }));
        assert!(!says(&mut known, "b", refusal(1)), "the others are still known");
        assert_eq!(known.of("b", &[1]), Some(&refusal(1)));
        assert_eq!(known.of("b", &[2]), None);
        known.replace(Refusals::default(), |_| true);
        assert!(says(&mut known, "b", refusal(1)), "it was served meanwhile");
    }

    #[test]
    fn what_there_is_no_room_for_is_not_said_each_time() {
        let (mut found, before) = (Refusals::default(), Refusals::default());
        for number in 0..REFUSALS_MAX {
            assert!(found.note(number.to_string(), refusal(1), &before));
        }
        assert!(!found.note("one more".to_owned(), refusal(1), &before));
        let mut known = Refusals::default();
        known.replace(found.clone(), |_| true);
        known.replace(found, |_| false);
        assert_eq!(known.by_path.len(), REFUSALS_MAX);
    }
}
