//! Answers that are asked often, kept: people type the same first letters all day. And the values that go with chosen
//! ones: who types into a field asks the same ones at every key.
//!
//! Both are functions of the layers that were asked, of what was asked, and of what the caller may see. The layers have a
//! number that no other state has, so what is of another state is recognised, and nothing has to be forgotten when
//! something changes. `quick_cache` admits by S3-FIFO: what is asked once leaves before what is asked again.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::query::GroupValues;
use super::request::{Completion, CompletionRequest};
use crate::space::SpaceId;

/// Answers beyond this are not kept, nor are questions: few ask them.
const ANSWER_BYTES_MAX: usize = 16 * 1024;
const QUESTION_BYTES_MAX: usize = 2 * 1024;
/// What an entry takes beside its texts: the table's slot and two allocations.
const ENTRY_BYTES: usize = 160;
/// About what an answer takes, from which the size of the table is guessed.
const USUAL_BYTES: usize = 1024;

/// The cache.
pub(crate) struct Answers {
    cache: Cache<Box<[u8]>, Kept, ByBytes>,
    bytes_max: usize,
}

/// Something, and of which state of the layers it is.
#[derive(Clone)]
struct Kept {
    state: u64,
    what: What,
}

#[derive(Clone)]
enum What {
    Answer(Arc<Completion>),
    Group(Arc<GroupValues>),
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Box<[u8]>, Kept> for ByBytes {
    fn weight(&self, question: &Box<[u8]>, kept: &Kept) -> u64 {
        let bytes = match &kept.what {
            What::Answer(completion) => completion.values.heap_bytes(),
            What::Group(group) => group.bytes(),
        };
        let bytes = ENTRY_BYTES.saturating_add(question.len()).saturating_add(bytes);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

/// All that an answer depends on beside the layers, as bytes: first what the values depend on among which it is looked
/// for, then what is typed.
pub(crate) struct AskedBytes {
    bytes: Vec<u8>,
    /// Where the first part ends. No first part is all of another question, since the end of each part is known from what
    /// is in it.
    group_end: usize,
}

impl AskedBytes {
    /// `None`: the answer is not one to keep.
    ///
    /// Callers who must have certain values are few, and what they see is not a function of their groups alone.
    pub(crate) fn of(
        space: SpaceId,
        variable: usize,
        request: &CompletionRequest<'_>,
    ) -> Option<AskedBytes> {
        if request.access.required_in(request.space).next().is_some() {
            return None;
        }
        let mut asked = AskedBytes { bytes: Vec::with_capacity(160), group_end: 0 };
        asked.bytes.extend_from_slice(&space.0.to_be_bytes());
        asked.number(variable);
        asked.number(request.context.len());
        for (name, value) in request.context {
            asked.text(name);
            asked.text(value);
        }
        match request.access.groups() {
            None => asked.bytes.push(0),
            Some(groups) => {
                asked.bytes.push(1);
                asked.number(groups.len());
                groups.iter().for_each(|group| asked.text(group));
            }
        }
        asked.group_end = asked.bytes.len();
        asked.number(request.count_max);
        asked.text(request.typed);
        (asked.bytes.len() <= QUESTION_BYTES_MAX).then_some(asked)
    }

    /// What the values depend on among which the answer is looked for.
    fn group(&self) -> &[u8] {
        self.bytes.get(..self.group_end).unwrap_or_default()
    }

    fn number(&mut self, number: usize) {
        self.bytes.extend_from_slice(&number.to_be_bytes());
    }

    /// With its length in front, so that no two questions have the same bytes.
    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

impl Answers {
    /// A cache of at most `bytes_max`; of none when that is 0.
    pub(crate) fn new(bytes_max: usize) -> Answers {
        let capacity = u64::try_from(bytes_max).unwrap_or(u64::MAX);
        let cache = Cache::with_weighter((bytes_max / USUAL_BYTES).max(1), capacity, ByBytes);
        Answers { cache, bytes_max }
    }

    pub(crate) fn are_kept(&self) -> bool {
        self.bytes_max > 0
    }

    /// The answer of this state of the layers, if it is kept.
    pub(crate) fn get(&self, state: u64, asked: &AskedBytes) -> Option<Arc<Completion>> {
        match self.of_state(state, &asked.bytes)? {
            What::Answer(completion) => Some(completion),
            What::Group(_) => None,
        }
    }

    pub(crate) fn keep(&self, state: u64, asked: AskedBytes, completion: &Arc<Completion>) {
        if completion.values.heap_bytes() <= ANSWER_BYTES_MAX {
            let what = What::Answer(Arc::clone(completion));
            self.cache.insert(asked.bytes.into(), Kept { state, what });
        }
    }

    /// The values among which the answer is looked for, if they are kept.
    pub(crate) fn group(&self, state: u64, asked: &AskedBytes) -> Option<Arc<GroupValues>> {
        match self.of_state(state, asked.group())? {
            What::Group(group) => Some(group),
            What::Answer(_) => None,
        }
    }

    pub(crate) fn keep_group(&self, state: u64, asked: &AskedBytes, group: &Arc<GroupValues>) {
        let what = What::Group(Arc::clone(group));
        self.cache.insert(asked.group().into(), Kept { state, what });
    }

    fn of_state(&self, state: u64, key: &[u8]) -> Option<What> {
        let kept = self.cache.get(key)?;
        (kept.state == state).then_some(kept.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Access, RequiredValue};

    fn asked(typed: &str, context: &[(&str, &str)], access: &Access) -> Option<AskedBytes> {
        let request = CompletionRequest {
            space: "docs",
            variable: "name",
            typed,
            context,
            access,
            count_max: 100,
        };
        AskedBytes::of(SpaceId(1), 0, &request)
    }

    fn answer(value: String) -> Arc<Completion> {
        let values = [value].into_iter().collect();
        Arc::new(Completion { values, total: Some(1), has_more: false })
    }

    #[test]
    fn an_answer_is_that_of_its_state_question_and_caller() {
        let anonymous = Access::anonymous();
        let answers = Answers::new(1 << 20);
        let given = answer("a".to_owned());
        answers.keep(7, asked("a", &[], &anonymous).unwrap(), &given);
        let get = |state, typed, context: &[(&str, &str)], access: &Access| {
            answers.get(state, &asked(typed, context, access).unwrap())
        };
        assert_eq!(get(7, "a", &[], &anonymous), Some(given));
        assert_eq!(get(8, "a", &[], &anonymous), None);
        assert_eq!(get(7, "b", &[], &anonymous), None);
        assert_eq!(get(7, "a", &[("team", "x")], &anonymous), None);
        assert_eq!(get(7, "a", &[], &Access::operator()), None);
        assert_eq!(get(7, "a", &[], &Access::anonymous().with_groups(["x"])), None);
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let anonymous = Access::anonymous();
        let bytes = |context: &[(&str, &str)]| asked("", context, &anonymous).unwrap().bytes;
        assert_ne!(bytes(&[("a", "bc")]), bytes(&[("ab", "c")]));
        let with = |groups: &[&str]| {
            let access = Access::anonymous().with_groups(groups.iter().copied());
            asked("", &[], &access).unwrap().bytes
        };
        assert_ne!(with(&["a", "b"]), with(&["ab"]));
        assert_ne!(with(&[""]), with(&[]));
    }

    #[test]
    fn what_is_special_or_large_is_not_kept() {
        let required = RequiredValue {
            space: "docs".to_owned(),
            variable: "name".to_owned(),
            values: ["x".to_owned()].into(),
        };
        let bound = Access::anonymous().with_required_value(required);
        assert!(asked("", &[], &bound).is_none());
        assert!(asked(&"x".repeat(QUESTION_BYTES_MAX), &[], &Access::anonymous()).is_none());
        let answers = Answers::new(1 << 20);
        let keep = |n: usize, bytes| {
            let asked = asked(&n.to_string(), &[], &Access::anonymous()).unwrap();
            answers.keep(1, asked, &answer("x".repeat(bytes)));
        };
        keep(0, ANSWER_BYTES_MAX + 1);
        assert_eq!(answers.cache.weight(), 0);
        (0..10_000).for_each(|n| keep(n, 1_000));
        let bytes = answers.cache.weight();
        assert!((1..=1 << 20).contains(&bytes), "{bytes}");
    }
}
