//! Filters: what the caller may see, and what was asked for beside words. They are part of the search, so that totals and
//! pages are exact.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tantivy::columnar::ColumnValues;
use tantivy::fastfield::AliveBitSet;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, SegmentReader, Term};

use super::asked::AskedFilters;
use super::plan::{io_failed, read_failed};
use super::postings::Gate;
use super::request::{ModifiedRange, SearchRequest};
use super::schema::{Fields, column, essence, path_term, value_term};
use crate::access::Access;
use crate::acl::AclTable;
use crate::catalog::{Space, SpaceCatalog};
use crate::error::{Error, ErrorKind, Result};
use crate::store::value::AclId;

/// Up to this many ACLs it is looked up which of them the caller passes; beyond, each is when it is met.
const ACLS_LISTED_MAX: usize = 64;
/// Up to this many spaces are gone through as lists; of more, each candidate's space is looked at.
const SPACES_LISTED_MAX: usize = 8;
/// A list is gone through when it has at most one document in so many of all; else each candidate is looked at.
const LIST_SHARE: u64 = 8;

/// The filters of a search, before they meet a segment.
pub(super) struct Filters<'a> {
    spaces: SpaceFilter,
    mime_types: Vec<String>,
    modified: Option<ModifiedRange>,
    acls: &'a AclTable,
    access: &'a Access,
}

enum SpaceFilter {
    /// The index has no other spaces than those that are wanted.
    All,
    Of(Vec<SpaceRule>),
}

/// Under which conditions resources of a space are wanted: each of them has one of several terms.
struct SpaceRule {
    space: u64,
    conditions: Vec<Vec<String>>,
}

impl<'a> Filters<'a> {
    /// `spaces` and the like come from the request and from what was typed; both must hold.
    pub(super) fn new(
        catalog: &SpaceCatalog,
        acls: &'a AclTable,
        request: &SearchRequest<'a>,
        typed: &AskedFilters,
    ) -> Result<Filters<'a>> {
        if let Some(name) = request.space {
            let known = catalog.by_name(name).filter(|_| request.access.sees_space(name));
            if known.is_none() {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("space `{name}`"),
                    "there is no such space",
                ));
            }
        }
        let is_wanted = |name: &str| {
            request.access.sees_space(name)
                && request.space.is_none_or(|space| space == name)
                && (typed.spaces.is_empty() || typed.spaces.iter().any(|space| space == name))
        };
        let variables: Vec<&(String, String)> =
            request.variables.iter().chain(&typed.variables).collect();
        let rules: Vec<SpaceRule> = catalog
            .spaces
            .iter()
            .filter(|space| is_wanted(&space.settings.name))
            .filter_map(|space| rule(space, &variables, request.access))
            .collect();
        let is_all = rules.len() == catalog.spaces.len()
            && catalog.removing().is_empty()
            && rules.iter().all(|rule| rule.conditions.is_empty());
        let mime_types = request.mime_type.iter().copied().map(str::to_owned);
        let mime_types = mime_types.chain(typed.mime_types.iter().cloned());
        Ok(Filters {
            spaces: if is_all { SpaceFilter::All } else { SpaceFilter::Of(rules) },
            mime_types: mime_types.map(|mime_type| essence(&mime_type)).collect(),
            modified: request.modified,
            acls,
            access: request.access,
        })
    }

    /// The filters of a segment.
    pub(super) fn open(
        &self,
        segment: &'a SegmentReader,
        fields: &Fields,
    ) -> Result<SegmentFilters<'a>> {
        let opener = Opener { segment, fields };
        let mut filters = SegmentFilters {
            gates: Vec::new(),
            alive: segment.alive_bitset(),
            modified: None,
            spaces: None,
            acl: None,
        };
        self.open_spaces(&opener, &mut filters)?;
        self.open_acls(&opener, &mut filters)?;
        for mime_type in &self.mime_types {
            filters.gates.push(opener.text(fields.mime_type, mime_type)?);
        }
        if let Some(range) = self.modified {
            filters.modified = Some((column::signed(segment, column::MODIFIED)?, range));
        }
        Ok(filters)
    }

    fn open_spaces(&self, opener: &Opener<'_>, filters: &mut SegmentFilters<'a>) -> Result<()> {
        let SpaceFilter::Of(rules) = &self.spaces else { return Ok(()) };
        let is_plain = rules.iter().all(|rule| rule.conditions.is_empty());
        if is_plain && rules.len() > SPACES_LISTED_MAX {
            let spaces = rules.iter().map(|rule| rule.space).collect();
            filters.spaces = Some((column::unsigned(opener.segment, column::SPACE)?, spaces));
            return Ok(());
        }
        let mut gates = Vec::new();
        for rule in rules {
            let mut all = Vec::new();
            for terms in &rule.conditions {
                let any = terms.iter().map(|term| opener.text(opener.fields.binding, term));
                all.push(Gate::Any(any.collect::<Result<_>>()?));
            }
            if all.is_empty() {
                let term = Term::from_field_u64(opener.fields.space, rule.space);
                all.push(opener.list(&term)?);
            }
            gates.push(Gate::All(all));
        }
        let gate = Gate::Any(gates);
        if !is_plain || gate.cost() < u64::from(opener.segment.max_doc()) {
            filters.gates.push(gate);
        }
        Ok(())
    }

    fn open_acls(&self, opener: &Opener<'_>, filters: &mut SegmentFilters<'a>) -> Result<()> {
        if self.access.passes_every_acl() {
            return Ok(());
        }
        let candidates = if self.access.has_groups() { self.acls.len() } else { 0 };
        if candidates <= ACLS_LISTED_MAX {
            let mut gates = Vec::new();
            for number in 0..=u32::try_from(candidates).unwrap_or(0) {
                if self.acls.passes(AclId(number), self.access)? {
                    let term = Term::from_field_u64(opener.fields.acl, u64::from(number));
                    gates.push(opener.list(&term)?);
                }
            }
            let (gate, all) = (Gate::Any(gates), u64::from(opener.segment.max_doc()));
            if gate.cost() == all {
                return Ok(());
            }
            if gate.cost() <= all / LIST_SHARE {
                filters.gates.push(gate);
                return Ok(());
            }
        }
        filters.acl = Some(AclFilter {
            column: column::unsigned(opener.segment, column::ACL)?,
            acls: self.acls,
            access: self.access,
            known: HashMap::new(),
        });
        Ok(())
    }
}

/// `None`: no resource of the space is wanted.
fn rule(space: &Space, variables: &[&(String, String)], access: &Access) -> Option<SpaceRule> {
    let template = space.matcher.template();
    let mut conditions = Vec::new();
    for (name, value) in variables {
        if !template.variables().any(|variable| variable.name == *name) {
            return None;
        }
        conditions.push(vec![value_term(space.id, name, value), path_term(space.id, name, value)]);
    }
    for required in access.required_in(&space.settings.name) {
        let values = required.values.iter();
        conditions
            .push(values.map(|value| value_term(space.id, &required.variable, value)).collect());
    }
    Some(SpaceRule { space: u64::from(space.id.0), conditions })
}

struct Opener<'s> {
    segment: &'s SegmentReader,
    fields: &'s Fields,
}

impl Opener<'_> {
    fn text(&self, field: Field, text: &str) -> Result<Gate> {
        self.list(&Term::from_field_text(field, text))
    }

    fn list(&self, term: &Term) -> Result<Gate> {
        let index = self.segment.inverted_index(term.field()).map_err(read_failed)?;
        let postings = index.read_postings(term, IndexRecordOption::Basic).map_err(io_failed)?;
        Ok(postings.map_or_else(Gate::nothing, Gate::List))
    }
}

/// The filters of a segment.
pub(super) struct SegmentFilters<'a> {
    /// Lists that a document must be in.
    pub(super) gates: Vec<Gate>,
    alive: Option<&'a AliveBitSet>,
    modified: Option<(Arc<dyn ColumnValues<i64>>, ModifiedRange)>,
    spaces: Option<(Arc<dyn ColumnValues<u64>>, HashSet<u64>)>,
    acl: Option<AclFilter<'a>>,
}

struct AclFilter<'a> {
    column: Arc<dyn ColumnValues<u64>>,
    acls: &'a AclTable,
    access: &'a Access,
    known: HashMap<u64, bool>,
}

impl SegmentFilters<'_> {
    /// Whether a document passes what is not a list.
    #[inline]
    pub(super) fn passes(&mut self, doc: DocId) -> Result<bool> {
        if self.alive.is_some_and(|alive| !alive.is_alive(doc)) {
            return Ok(false);
        }
        if let Some((column, range)) = &self.modified {
            let modified = column.get_val(doc);
            if modified < range.from || modified >= range.until {
                return Ok(false);
            }
        }
        if let Some((column, spaces)) = &self.spaces
            && !spaces.contains(&column.get_val(doc))
        {
            return Ok(false);
        }
        match &mut self.acl {
            Some(acl) => acl.passes(doc),
            None => Ok(true),
        }
    }
}

impl AclFilter<'_> {
    fn passes(&mut self, doc: DocId) -> Result<bool> {
        let number = self.column.get_val(doc);
        if number == 0 {
            return Ok(true);
        }
        if let Some(passes) = self.known.get(&number) {
            return Ok(*passes);
        }
        let acl = AclId(u32::try_from(number).unwrap_or(u32::MAX));
        let passes = self.acls.passes(acl, self.access)?;
        self.known.insert(number, passes);
        Ok(passes)
    }
}
