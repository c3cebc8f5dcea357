//! Whether some resource has several chosen values together, asked of the store: for combinations that no list has.

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

/// Looks for witnesses in one state of the store.
pub(super) struct Witnesses<'a> {
    pub(super) shared: &'a Shared,
    pub(super) view: View<'a>,
    pub(super) space: &'a Space,
    pub(super) access: &'a Access,
}

impl Witnesses<'_> {
    /// Whether the caller sees a resource with all these values; `None` when too many would have to be looked at.
    pub(super) fn any(&self, wanted: &[(usize, &Term)]) -> Result<Option<bool>> {
        let plan = &self.space.completion;
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
