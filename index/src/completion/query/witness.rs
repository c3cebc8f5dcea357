//! Whether some resource has several chosen values together, asked of the store: for combinations that no list has.

use std::cell::Cell;

use super::combinations::candidates_near;
use super::question::Question;
use crate::access::Access;
use crate::catalog::Space;
use crate::completion::plan::{Plan, Term};
use crate::error::Result;
use crate::resource::Binding;
use crate::shared::Shared;
use crate::store::value::read_visibility;
use crate::store::{Cf, View};

/// Resources that are looked at for one combination.
const RESOURCES_MAX: usize = 500;
/// Values of a variable that is not chosen that are tried for one combination.
const OPEN_VALUES_MAX: usize = 64;
/// Ranges of the store that are looked at for one question.
pub(super) const SCANS_MAX: usize = 2_000;

/// Looks for witnesses in one state of the store.
pub(super) struct Witnesses<'a> {
    pub(super) shared: &'a Shared,
    pub(super) view: View<'a>,
    pub(super) space: &'a Space,
    pub(super) access: &'a Access,
    /// Ranges of the store that may still be looked at.
    pub(super) scans_left: Cell<usize>,
}

impl Witnesses<'_> {
    /// Whether the caller sees a resource with all these values; `None` when too many would have to be looked at.
    ///
    /// A variable that is not chosen in front of one that is leaves a wide range of the store: its values that go with
    /// the chosen ones are tried one by one.
    pub(super) fn any(
        &self,
        question: &Question<'_>,
        wanted: &[(usize, &Term)],
    ) -> Result<Option<bool>> {
        let plan = question.plan;
        let is_chosen = |variable: &usize| wanted.iter().any(|(chosen, _)| chosen == variable);
        let open = (0..plan.variable_count()).find(|variable| !is_chosen(variable));
        match open {
            Some(open)
                if wanted.iter().any(|(chosen, _)| *chosen > open)
                    && plan.always_has_one_value(open) =>
            {
                self.with_any_of(question, wanted, open)
            }
            _ => self.in_range(plan, wanted),
        }
    }

    fn with_any_of(
        &self,
        question: &Question<'_>,
        wanted: &[(usize, &Term)],
        open: usize,
    ) -> Result<Option<bool>> {
        let chosen = wanted.iter().map(|(variable, term)| (*variable, Term::clone(term))).collect();
        let values = candidates_near(&question.about(open), &chosen)?;
        let mut found = Some(false);
        if values.is_cut || values.all.len() > OPEN_VALUES_MAX {
            found = None;
        }
        for value in values.all.iter().take(OPEN_VALUES_MAX) {
            let term = Term::from_stored(value.term);
            let mut wanted = wanted.to_vec();
            wanted.push((open, &term));
            match self.any(question, &wanted)? {
                Some(true) => return Ok(Some(true)),
                Some(false) => {}
                None => found = None,
            }
        }
        Ok(found)
    }

    fn in_range(&self, plan: &Plan, wanted: &[(usize, &Term)]) -> Result<Option<bool>> {
        let Some(left) = self.scans_left.get().checked_sub(1) else { return Ok(None) };
        self.scans_left.set(left);
        let Some(prefix) = self.common_prefix(plan, wanted) else { return Ok(Some(false)) };
        let mut scan = self.view.scan(Cf::Contents, prefix.as_bytes(), prefix.as_bytes())?;
        for _ in 0..RESOURCES_MAX {
            let Some((uri, value)) = scan.item()? else { return Ok(Some(false)) };
            let (space, acl) = read_visibility(value)?;
            if let Ok(uri) = std::str::from_utf8(uri)
                && space == self.space.id
                && self.space.allows(uri, self.access)
                && self.shared.acls.passes(acl, self.access)?
                && has_all(plan, self.space, uri, wanted)
            {
                return Ok(Some(true));
            }
            scan.advance();
        }
        Ok(None)
    }

    /// What the URIs of all resources with these values begin with: what expansions have in common, whatever the
    /// variables that are not chosen hold.
    fn common_prefix(&self, plan: &Plan, wanted: &[(usize, &Term)]) -> Option<String> {
        let mut common: Option<String> = None;
        for rest in [Some("a"), Some("b"), None] {
            let bindings: Vec<Binding> = (0..plan.variable_count())
                .filter_map(|variable| match wanted.iter().find(|(other, _)| *other == variable) {
                    Some((_, term)) => plan.binding(variable, term, rest.unwrap_or("c")),
                    None => rest.and_then(|text| plan.any_binding(variable, text)),
                })
                .collect();
            let Ok(uri) = self.space.matcher.expand_canonical(&bindings) else { continue };
            common = Some(match common {
                None => uri,
                Some(before) => {
                    let same = before.char_indices().zip(uri.chars());
                    let end = same.take_while(|((_, a), b)| a == b).last();
                    let end = end.map_or(0, |((at, a), _)| at + a.len_utf8());
                    before.get(..end).unwrap_or_default().to_owned()
                }
            });
        }
        common
    }
}

fn has_all(plan: &Plan, space: &Space, uri: &str, wanted: &[(usize, &Term)]) -> bool {
    let Some(bindings) = space.matcher.match_uri(uri) else { return false };
    let facts = plan.facts(&bindings);
    wanted.iter().all(|(variable, term)| {
        facts
            .terms
            .get(*variable)
            .is_some_and(|terms| terms.iter().any(|other| other.is_same(term)))
    })
}
