//! Filters: what the caller may see, and what was asked for beside words. They are part of the search, so that totals and
//! pages are exact.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tantivy::columnar::ColumnValues;
use tantivy::fastfield::AliveBitSet;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, SegmentReader, Term};

use super::asked::{Asked, ValueRule};
use super::expand;
use super::plan::{io_failed, read_failed};
use super::postings::{Clock, Gate};
use super::query::{Field as AskedField, Value};
use super::request::{ModifiedRange, SearchRequest};
use super::schema::{Fields, essence, path_term, value_term};
use super::snapshot::OpenSegment;
use crate::access::Access;
use crate::acl::AclTable;
use crate::catalog::{Space, SpaceCatalog};
use crate::error::Result;
use crate::resource_uri;
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
    /// Of each the document must have one of several values.
    values: Vec<Vec<RawValue>>,
    excluded: Vec<RawValue>,
    modified: Option<ModifiedRange>,
    acls: &'a AclTable,
    access: &'a Access,
}

/// Documents with a value of a field that is kept as it is.
enum RawValue {
    Text(Field, String),
    /// A value that begins so.
    Beginning(Field, String),
    Number(Field, u64),
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
        (request, asked): (&SearchRequest<'a>, &Asked),
        fields: &Fields,
    ) -> Filters<'a> {
        let is_wanted = |name: &str| {
            request.access.sees_space(name) && request.space.is_none_or(|space| space == name)
        };
        let rules: Vec<SpaceRule> = catalog
            .spaces
            .iter()
            .filter(|space| is_wanted(&space.settings.name))
            .filter_map(|space| rule(space, request.variables, request.access))
            .collect();
        let is_all = rules.len() == catalog.spaces.len()
            && catalog.removing().is_empty()
            && rules.iter().all(|rule| rule.conditions.is_empty());
        let spaces: Vec<&Space> = catalog
            .spaces
            .iter()
            .filter(|space| is_wanted(&space.settings.name))
            .map(|space| space.as_ref())
            .collect();
        let raw = |rules: &[ValueRule]| -> Vec<RawValue> {
            rules.iter().flat_map(|rule| raw_values(rule, &spaces, fields)).collect()
        };
        // A resource has one value of a field: of several that are wanted each will do.
        let mut by_field: Vec<(&AskedField, Vec<RawValue>)> = Vec::new();
        for rule in &asked.values {
            let values = raw(std::slice::from_ref(rule));
            match by_field.iter_mut().find(|(field, _)| **field == rule.field) {
                Some((_, known)) => known.extend(values),
                None => by_field.push((&rule.field, values)),
            }
        }
        let mut values: Vec<Vec<RawValue>> =
            by_field.into_iter().map(|(_, values)| values).collect();
        let mime_type = request.mime_type.map(essence);
        values.extend(mime_type.map(|mime_type| vec![RawValue::Text(fields.mime_type, mime_type)]));
        Filters {
            spaces: if is_all { SpaceFilter::All } else { SpaceFilter::Of(rules) },
            values,
            excluded: raw(&asked.excluded_values),
            modified: request.modified,
            acls,
            access: request.access,
        }
    }

    /// The filters of a segment.
    pub(super) fn open(
        &self,
        open: &'a OpenSegment,
        fields: &Fields,
        clock: &mut Clock,
    ) -> Result<SegmentFilters<'a>> {
        let opener = Opener { segment: &open.reader, fields };
        let mut filters = SegmentFilters {
            gates: Vec::new(),
            excluded: Vec::new(),
            is_cut: false,
            alive: open.reader.alive_bitset(),
            modified: None,
            spaces: None,
            acl: None,
        };
        self.open_spaces(&opener, &open.space, &mut filters)?;
        self.open_acls(&opener, &open.acl, &mut filters)?;
        for values in &self.values {
            let mut any = Vec::new();
            for value in values {
                any.push(opener.raw(value, &mut filters.is_cut, clock)?);
            }
            filters.gates.push(Gate::any(any));
        }
        for value in &self.excluded {
            let gate = opener.raw(value, &mut filters.is_cut, clock)?;
            filters.excluded.push(gate);
        }
        if let Some(range) = self.modified {
            filters.modified = Some((Arc::clone(&open.modified), range));
        }
        Ok(filters)
    }

    fn open_spaces(
        &self,
        opener: &Opener<'_>,
        column: &Arc<dyn ColumnValues<u64>>,
        filters: &mut SegmentFilters<'a>,
    ) -> Result<()> {
        let SpaceFilter::Of(rules) = &self.spaces else { return Ok(()) };
        let all = u64::from(opener.segment.max_doc());
        if rules.len() <= SPACES_LISTED_MAX {
            let gates = rules.iter().map(|rule| opener.rule(rule)).collect::<Result<_>>()?;
            let gate = Gate::any(gates);
            let is_plain = rules.iter().all(|rule| rule.conditions.is_empty());
            if is_plain && gate.cost() == all {
                return Ok(());
            }
            // Where conditions are to be met, each candidate is looked for in their lists anyway.
            if !is_plain || gate.cost() <= all / LIST_SHARE {
                filters.gates.push(gate);
                return Ok(());
            }
        }
        let (mut plain, mut conditioned) = (HashSet::new(), HashMap::new());
        for rule in rules {
            if rule.conditions.is_empty() {
                plain.insert(rule.space);
            } else {
                conditioned.insert(rule.space, opener.rule(rule)?);
            }
        }
        let column = Arc::clone(column);
        filters.spaces = Some(SpaceCheck { column, plain, conditioned });
        Ok(())
    }

    fn open_acls(
        &self,
        opener: &Opener<'_>,
        column: &Arc<dyn ColumnValues<u64>>,
        filters: &mut SegmentFilters<'a>,
    ) -> Result<()> {
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
            let (gate, all) = (Gate::any(gates), u64::from(opener.segment.max_doc()));
            if gate.cost() == all {
                return Ok(());
            }
            if gate.cost() <= all / LIST_SHARE {
                filters.gates.push(gate);
                return Ok(());
            }
        }
        filters.acl = Some(AclFilter {
            column: Arc::clone(column),
            acls: self.acls,
            access: self.access,
            known: HashMap::new(),
        });
        Ok(())
    }
}

/// `None`: no resource of the space is wanted.
fn rule(space: &Space, variables: &[(String, String)], access: &Access) -> Option<SpaceRule> {
    let mut conditions = Vec::new();
    for (name, value) in variables {
        if !has_variable(space, name) {
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

/// What a typed value comes to in the spaces that are searched.
fn raw_values(rule: &ValueRule, spaces: &[&Space], fields: &Fields) -> Vec<RawValue> {
    let text = |field, value: &Value| match value {
        Value::Exact(value) => RawValue::Text(field, value.clone()),
        Value::Prefix(beginning) => RawValue::Beginning(field, beginning.clone()),
    };
    match &rule.field {
        AskedField::Uri => match &rule.value {
            Value::Exact(uri) => {
                let normal = resource_uri::normalise(uri).map_or(uri.clone(), Into::into);
                vec![RawValue::Text(fields.uri, normal)]
            }
            beginning @ Value::Prefix(_) => vec![text(fields.uri, beginning)],
        },
        AskedField::MimeType => match &rule.value {
            // A family has a term of its own.
            Value::Prefix(family) if family.ends_with('/') => {
                vec![RawValue::Text(fields.mime_type, format!("{family}*"))]
            }
            value => vec![text(fields.mime_type, value)],
        },
        AskedField::Space => spaces
            .iter()
            .filter(|space| match &rule.value {
                Value::Exact(name) => space.settings.name == *name,
                Value::Prefix(beginning) => space.settings.name.starts_with(beginning),
            })
            .map(|space| RawValue::Number(fields.space, u64::from(space.id.0)))
            .collect(),
        AskedField::Variable(name) => {
            let known = spaces.iter().filter(|space| has_variable(space, name));
            let terms = known.flat_map(|space| {
                let (Value::Exact(value) | Value::Prefix(value)) = &rule.value;
                [value_term(space.id, name, value), path_term(space.id, name, value)]
            });
            terms
                .map(|term| match &rule.value {
                    Value::Exact(_) => RawValue::Text(fields.binding, term),
                    Value::Prefix(_) => RawValue::Beginning(fields.binding, term),
                })
                .collect()
        }
        AskedField::Any | AskedField::Title => Vec::new(),
    }
}

fn has_variable(space: &Space, name: &str) -> bool {
    space.matcher.template().variables().any(|variable| variable.name == name)
}

struct Opener<'s> {
    segment: &'s SegmentReader,
    fields: &'s Fields,
}

impl Opener<'_> {
    /// The documents of a space that meet its conditions.
    fn rule(&self, rule: &SpaceRule) -> Result<Gate> {
        if rule.conditions.is_empty() {
            return self.list(&Term::from_field_u64(self.fields.space, rule.space));
        }
        let conditions = rule.conditions.iter().map(|terms| {
            let any = terms.iter().map(|term| self.text(self.fields.binding, term));
            Ok(Gate::any(any.collect::<Result<_>>()?))
        });
        Ok(Gate::all(conditions.collect::<Result<_>>()?))
    }

    fn text(&self, field: Field, text: &str) -> Result<Gate> {
        self.list(&Term::from_field_text(field, text))
    }

    fn raw(&self, value: &RawValue, is_cut: &mut bool, clock: &mut Clock) -> Result<Gate> {
        match value {
            RawValue::Text(field, text) => self.text(*field, text),
            RawValue::Number(field, number) => self.list(&Term::from_field_u64(*field, *number)),
            RawValue::Beginning(field, beginning) => {
                let (bits, cut) = expand::beginning(self.segment, *field, beginning, clock)?;
                *is_cut |= cut;
                Ok(Gate::Bits(bits))
            }
        }
    }

    fn list(&self, term: &Term) -> Result<Gate> {
        let index = self.segment.inverted_index(term.field()).map_err(read_failed)?;
        let postings = index.read_postings(term, IndexRecordOption::Basic).map_err(io_failed)?;
        Ok(postings.map_or_else(Gate::nothing, |postings| Gate::List(Box::new(postings))))
    }
}

/// The filters of a segment.
pub(super) struct SegmentFilters<'a> {
    /// Lists that a document must be in.
    pub(super) gates: Vec<Gate>,
    /// Lists that it must not be in.
    excluded: Vec<Gate>,
    /// Some beginning stands for more values than were looked at.
    pub(super) is_cut: bool,
    alive: Option<&'a AliveBitSet>,
    modified: Option<(Arc<dyn ColumnValues<i64>>, ModifiedRange)>,
    spaces: Option<SpaceCheck>,
    acl: Option<AclFilter<'a>>,
}

/// Spaces by their numbers: those of which all is wanted, and those of which only some is.
struct SpaceCheck {
    column: Arc<dyn ColumnValues<u64>>,
    plain: HashSet<u64>,
    conditioned: HashMap<u64, Gate>,
}

struct AclFilter<'a> {
    column: Arc<dyn ColumnValues<u64>>,
    acls: &'a AclTable,
    access: &'a Access,
    known: HashMap<u64, bool>,
}

impl SegmentFilters<'_> {
    /// Whether every document passes what is not a list.
    pub(super) fn let_all_through(&self) -> bool {
        self.excluded.is_empty()
            && self.alive.is_none()
            && self.modified.is_none()
            && self.spaces.is_none()
            && self.acl.is_none()
    }

    /// Whether a document passes what is not a list.
    #[inline]
    pub(super) fn passes(&mut self, doc: DocId, clock: &mut Clock) -> Result<bool> {
        if self.excluded.iter_mut().any(|gate| gate.seek(doc, clock) == doc) {
            return Ok(false);
        }
        if self.alive.is_some_and(|alive| !alive.is_alive(doc)) {
            return Ok(false);
        }
        if let Some((column, range)) = &self.modified {
            let modified = column.get_val(doc);
            if modified < range.from || modified >= range.until {
                return Ok(false);
            }
        }
        if let Some(spaces) = &mut self.spaces
            && !spaces.passes(doc, clock)
        {
            return Ok(false);
        }
        match &mut self.acl {
            Some(acl) => acl.passes(doc),
            None => Ok(true),
        }
    }
}

impl SpaceCheck {
    fn passes(&mut self, doc: DocId, clock: &mut Clock) -> bool {
        let space = self.column.get_val(doc);
        self.plain.contains(&space)
            || self.conditioned.get_mut(&space).is_some_and(|gate| gate.seek(doc, clock) == doc)
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
