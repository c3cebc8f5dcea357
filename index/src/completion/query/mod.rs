//! Answers: from a request to the best values.
//!
//! Where a list has the context (none, one chosen value, a leading run), the answer is a range of it: its count is a
//! sum over states, its best come from a tree of minima. Other contexts, and required values of which a caller has
//! several, are answered from candidates that are judged one by one, within bounds.

mod classes;
mod combinations;
mod conditions;
mod group;
mod judged;
mod later_words;
mod question;
mod streams;
mod typos;
mod within;
mod witness;

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) use self::group::GroupValues;

use self::classes::Found;
use self::conditions::Conditions;
use self::question::{Question, TypedText};
use self::within::{Within, within};
use self::witness::{SCANS_MAX, Witnesses};
use super::answers::AskedBytes;
use super::layers::Layers;
use super::request::{Completion, CompletionRequest, TYPED_BYTES_MAX, VALUES_MAX};
use crate::catalog::Space;
use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;
use crate::store::value::AclId;

/// Up to this many entries of a list are looked at one by one; of more, the best are looked for.
const FEW_ENTRIES_MAX: usize = 512;

/// Values that go with chosen ones are kept from this part of so many on.
const FEW_TO_KEEP: usize = 8;

/// How much may be done for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Some microseconds, or there is no answer.
    Little,
    /// What it takes, within the bounds.
    Full,
}

impl Shared {
    pub(crate) fn complete(&self, request: &CompletionRequest<'_>) -> Result<Arc<Completion>> {
        let found = self.complete_with(request, Effort::Full)?;
        // With full effort there is always an answer.
        Ok(found.unwrap_or_default())
    }

    /// The answer, if it is kept, or the caller sees the whole space and the best stand ready since many values begin as
    /// typed, or there are few values to look at: what a picker asks first and most.
    pub(crate) fn complete_at_once(
        &self,
        request: &CompletionRequest<'_>,
    ) -> Result<Option<Arc<Completion>>> {
        self.complete_with(request, Effort::Little)
    }

    fn complete_with(
        &self,
        request: &CompletionRequest<'_>,
        effort: Effort,
    ) -> Result<Option<Arc<Completion>>> {
        let catalog = self.catalog();
        let space = catalog.by_name(request.space);
        let Some(space) = space.filter(|_| request.access.sees_space(request.space)) else {
            let subject = format!("space `{}`", request.space);
            return Err(Error::new(ErrorKind::NotFound, subject, "there is no such space"));
        };
        let plan = &space.completion;
        let variable = plan.variable(request.variable).ok_or_else(|| {
            Error::new(
                ErrorKind::NotFound,
                format!("variable `{}`", request.variable),
                format!("the template `{}` has no such variable", space.settings.uri_template),
            )
        })?;
        if request.typed.len() > TYPED_BYTES_MAX {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("variable `{}`", request.variable),
                format!("{} bytes are typed; at most {TYPED_BYTES_MAX}", request.typed.len()),
            ));
        }
        let Some(layers) = self.completions.layers(space.id) else {
            // They are being made anew: there may be more, and how many is not known.
            let unknown = Completion { has_more: true, ..Completion::default() };
            return Ok(Some(Arc::new(unknown)));
        };
        let answers = &self.completions.answers;
        let asked = answers.are_kept().then(|| AskedBytes::of(space.id, variable, request));
        let asked = asked.flatten();
        if let Some(kept) = asked.as_ref().and_then(|asked| answers.get(layers.state, asked)) {
            return Ok(Some(kept));
        }
        if effort == Effort::Little && !may_be_little(space, request) {
            return Ok(None);
        }
        let Some(typed) =
            TypedText::new(request.typed, plan.is_path(variable), plan.spelling(variable))
        else {
            let nothing = Completion { total: Some(0), ..Completion::default() };
            return Ok(Some(Arc::new(nothing)));
        };
        let seen = self.seen(&layers, request)?;
        let few = self.few_entries_max();
        let question = Question { plan, layers: &layers, variable, typed, seen, few };
        let answered = self.answer(&question, space, (request, asked.as_ref()), effort)?;
        let Some(Answered { completion, asked_store }) = answered else { return Ok(None) };
        let completion = Arc::new(completion);
        if let Some(asked) = asked.filter(|_| !asked_store) {
            answers.keep(layers.state, asked, &completion);
        }
        Ok(Some(completion))
    }

    /// With little memory for new entries the bound is low, too: so tests reach both ways with few values.
    fn few_entries_max(&self) -> usize {
        (self.completions.memory_entries() / 8).min(FEW_ENTRIES_MAX)
    }

    /// What the caller sees, by layer; each ACL is looked at once.
    fn seen(
        &self,
        layers: &Layers,
        request: &CompletionRequest<'_>,
    ) -> Result<Vec<super::segment::Seen>> {
        let mut known: HashMap<u32, bool> = HashMap::new();
        let mut passes = |acl: u32| -> Result<bool> {
            if let Some(passes) = known.get(&acl) {
                return Ok(*passes);
            }
            let passes = self.acls.passes(AclId(acl), request.access)?;
            known.insert(acl, passes);
            Ok(passes)
        };
        layers.segments.iter().map(|segment| segment.visibility.seen(&mut passes)).collect()
    }

    fn answer(
        &self,
        question: &Question<'_>,
        space: &Space,
        (request, asked): (&CompletionRequest<'_>, Option<&AskedBytes>),
        effort: Effort,
    ) -> Result<Option<Answered>> {
        let conditions = conditions::conditions(
            question.plan,
            question.layers,
            question.variable,
            request.context,
            (request.space, request.access),
        )?;
        let store = self.store();
        // Most questions need no look into the store.
        let witnesses = || Witnesses {
            shared: self,
            view: store.view(),
            space,
            access: request.access,
            scans_left: Cell::new(SCANS_MAX),
        };
        let count_max = request.count_max.min(VALUES_MAX);
        let found = match conditions {
            Conditions::Nothing => Some(Found::default()),
            Conditions::All(chosen) if chosen.is_empty() => {
                classes::answer(question, &Within::Everything, effort)?
            }
            Conditions::All(chosen) => match within(question, &chosen)? {
                Some(within) => {
                    if let Some(group) = self.group(question, &within, asked, effort)? {
                        return Ok(Some(Answered::new(&group.answer(question), count_max)));
                    }
                    classes::answer(question, &within, effort)?
                }
                None if effort == Effort::Little => None,
                None => Some(combinations::of_combination(question, &chosen, &witnesses())?),
            },
            _ if effort == Effort::Little => None,
            Conditions::OneOf(alternatives) => {
                Some(combinations::one_of(question, &alternatives, &witnesses())?)
            }
            Conditions::Target(allowed, chosen) => {
                Some(combinations::of_allowed(question, &allowed, &chosen, &witnesses())?)
            }
        };
        Ok(found.map(|found| Answered::new(&found, count_max)))
    }

    /// The values that go with the chosen ones, side by side: kept ones, or read now where that takes little enough.
    fn group(
        &self,
        question: &Question<'_>,
        within: &Within<'_>,
        asked: Option<&AskedBytes>,
        effort: Effort,
    ) -> Result<Option<Arc<GroupValues>>> {
        let (Within::Group(groups), Some(asked)) = (within, asked) else { return Ok(None) };
        let entries = groups.entry_count();
        // Of very few values each is looked at where it is.
        if !(question.few / FEW_TO_KEEP + 1..=group::GROUP_ENTRIES_MAX).contains(&entries) {
            return Ok(None);
        }
        let (answers, state) = (&self.completions.answers, question.layers.state);
        if let Some(group) = answers.group(state, asked) {
            return Ok(Some(group));
        }
        // With nothing typed the best are found without looking at all.
        if question.typed.raw.is_empty() || (effort == Effort::Little && entries > question.few) {
            return Ok(None);
        }
        let group = GroupValues::read(question, groups)?.map(Arc::new);
        if let Some(group) = &group {
            answers.keep_group(state, asked, group);
        }
        Ok(group)
    }
}

/// An answer, and whether the store had a say, which may be newer than the layers.
struct Answered {
    completion: Completion,
    asked_store: bool,
}

impl Answered {
    fn new(found: &Found<'_>, count_max: usize) -> Answered {
        Answered { completion: found.completion(count_max), asked_store: found.asked_store }
    }
}

/// Whether what the caller may see makes no difference.
fn may_be_little(space: &Space, request: &CompletionRequest<'_>) -> bool {
    let sees_all = !space.has_restricted() || request.access.passes_every_acl();
    sees_all && request.access.required_in(request.space).next().is_none()
}
