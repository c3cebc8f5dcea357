//! The values of an answer.

use std::fmt;

use super::request::VALUES_MAX;

/// Values in order, their texts one behind the other: an answer has a hundred of them, and many answers are kept.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct CompletionValues {
    texts: String,
    /// Where each ends.
    ends: Vec<usize>,
}

impl CompletionValues {
    /// How many they are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The value at a place.
    pub fn get(&self, at: usize) -> Option<&str> {
        let before = at.checked_sub(1).and_then(|before| self.ends.get(before));
        self.texts.get(before.copied().unwrap_or(0)..*self.ends.get(at)?)
    }

    /// The values in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// Adds a value behind the others.
    pub(crate) fn push(&mut self, value: &str) {
        self.texts.push_str(value);
        self.ends.push(self.texts.len());
    }

    /// About how much memory they take.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.texts.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}

impl<S: AsRef<str>> FromIterator<S> for CompletionValues {
    fn from_iter<I: IntoIterator<Item = S>>(values: I) -> Self {
        let values = values.into_iter();
        let mut all = Self::default();
        all.ends.reserve_exact(values.size_hint().1.unwrap_or(0).min(VALUES_MAX));
        values.for_each(|value| all.push(value.as_ref()));
        all
    }
}

impl fmt::Debug for CompletionValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_in_order() {
        let texts = ["b", "", "größe", "b"];
        let values: CompletionValues = texts.into_iter().collect();
        assert_eq!(values.iter().collect::<Vec<_>>(), texts);
        assert_eq!((values.len(), values.get(2), values.get(4)), (4, Some("größe"), None));
        assert_eq!(format!("{values:?}"), r#"["b", "", "größe", "b"]"#);
        assert!(CompletionValues::default().is_empty() && !values.is_empty());
        assert_ne!(values, texts.into_iter().rev().collect());
    }
}
