//! An immutable piece of the completion index: what a run of commits made of values and pairs of values.
//!
//! A segment states absolutely what its entries have come to (weight, who sees them) and hides what older segments say
//! of them; beside that it says what they were before, so that counts are sums over segments. All segments have the
//! same form: the one of a single commit, in memory, and the one of ten million values, mapped from a file.

mod dictionary;
mod facets;
mod filter;
mod merge;
mod min_tree;
mod pair_list;
mod section;
mod texts;
mod tops;
mod trie;
mod visibility;

use std::fs::File;
use std::path::Path;

pub(crate) use dictionary::{Dictionary, Suffix, Weight};
pub(crate) use facets::{Facet, FacetSums};
pub(crate) use merge::merge;
pub(crate) use pair_list::PairList;
pub(crate) use texts::{TermRef, gallop, partition};
pub(crate) use tops::TopValue;
pub(crate) use trie::{TrieNode, first_char};
pub(crate) use visibility::{Seen, Visibility};

use super::plan::{ListShape, Plan};
use crate::error::{Error, ErrorKind, Result};
use dictionary::{DictionaryBuilder, is_implied, suffix_text};
use pair_list::PairListBuilder;
use section::{ArchiveReader, ArchiveWriter, Checked, SpillFolder};
use texts::Joined;
use visibility::VisibilityBuilder;

/// Dictionaries of all variables and lists of all contexts, as of a sequence number.
#[derive(Clone)]
pub(crate) struct Segment {
    /// The last change that is in it.
    pub(crate) sequence: u64,
    pub(crate) dictionaries: Vec<Dictionary>,
    pub(crate) lists: Vec<PairList>,
    pub(crate) visibility: Visibility,
    /// Of a segment that is mapped from a file.
    checked: Vec<Checked>,
}

impl Segment {
    /// Entries in all dictionaries and lists: what merging costs.
    pub(crate) fn entry_count(&self) -> usize {
        let values: usize = self.dictionaries.iter().map(Dictionary::len).sum();
        values + self.lists.iter().map(PairList::len).sum::<usize>()
    }

    pub(crate) fn dictionary(&self, variable: usize) -> Result<&Dictionary> {
        self.dictionaries.get(variable).ok_or_else(wrong_shape)
    }

    pub(crate) fn list(&self, list: usize) -> Result<&PairList> {
        self.lists.get(list).ok_or_else(wrong_shape)
    }

    /// Writes the segment and brings it to the disk.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        let failed = |source| {
            Error::new(
                ErrorKind::Io,
                path.display().to_string(),
                "the completion index cannot be written: free space on its file system",
            )
            .with_source(source)
        };
        let file = File::create_new(path).map_err(failed)?;
        let mut archive = ArchiveWriter::new(&file, path)?;
        archive.number(self.sequence);
        self.visibility.save(&mut archive);
        for dictionary in &self.dictionaries {
            dictionary.save(&mut archive)?;
        }
        for list in &self.lists {
            list.save(&mut archive)?;
        }
        archive.finish()?;
        file.sync_all().map_err(failed)
    }

    /// Maps a segment of a template with this plan.
    pub(crate) fn open(path: &Path, plan: &Plan) -> Result<Segment> {
        let mut archive = ArchiveReader::open(path)?;
        let sequence = archive.number()?;
        let visibility = Visibility::load(&mut archive)?;
        let dictionaries = (0..plan.variable_count())
            .map(|_| Dictionary::load(&mut archive))
            .collect::<Result<_>>()?;
        let lists =
            plan.lists().iter().map(|_| PairList::load(&mut archive)).collect::<Result<_>>()?;
        let checked = archive.finish();
        Ok(Segment { sequence, dictionaries, lists, visibility, checked })
    }

    /// Whether its file holds what was written, as far as `go_on` lets it look: it reads all of it.
    pub(crate) fn is_whole(&self, go_on: impl Fn() -> bool) -> bool {
        self.checked.iter().all(|section| !go_on() || section.is_whole())
    }
}

fn wrong_shape() -> Error {
    Error::new(ErrorKind::Corrupt, "completion", "a segment belongs to another template")
}

/// A value that a segment is made with.
pub(crate) struct NewValue<'a> {
    pub(crate) term: TermRef<'a>,
    pub(crate) words: &'a [u16],
    pub(crate) weight: Weight,
    /// The ACLs of the resources behind it, sorted: now, and before the changes of this segment.
    pub(crate) after: &'a [u32],
    pub(crate) before: &'a [u32],
    /// What the changes added and took away.
    pub(crate) sums: &'a FacetSums,
}

/// An entry of a list that a segment is made with.
pub(crate) struct NewPair<'a> {
    pub(crate) context: &'a [u32],
    pub(crate) target: u32,
    pub(crate) resources: u32,
    pub(crate) after: &'a [u32],
    pub(crate) before: &'a [u32],
    pub(crate) sums: &'a FacetSums,
}

/// A segment in the making: all dictionaries in order, then all lists.
pub(crate) struct SegmentBuilder<'a> {
    folder: SpillFolder<'a>,
    visibility: VisibilityBuilder,
    dictionaries: Vec<Dictionary>,
    lists: Vec<PairList>,
}

impl<'a> SegmentBuilder<'a> {
    /// `folder` takes what does not fit into memory while the segment is built; `None`: it is small.
    pub(crate) fn new(folder: Option<&'a Path>) -> Self {
        SegmentBuilder {
            folder,
            visibility: VisibilityBuilder::new(),
            dictionaries: Vec::new(),
            lists: Vec::new(),
        }
    }

    /// Adds the dictionary of the next variable from its values, sorted.
    pub(crate) fn dictionary<'v>(
        &mut self,
        is_path: bool,
        values: impl Iterator<Item = NewValue<'v>>,
    ) -> Result<()> {
        let mut builder = DictionaryBuilder::new(is_path, self.folder);
        let mut suffixes: Vec<(u64, Joined<'v>, Suffix)> = Vec::new();
        for value in values {
            let rank = builder.next_rank();
            let of_value = value.words.iter().map(|offset| Suffix { rank, offset: *offset });
            suffixes.extend(of_value.map(|suffix| {
                let text = suffix_text(value.term.key, suffix.offset, is_path);
                (text.first_bytes(), text, suffix)
            }));
            let after = self.visibility.intern_set(value.after);
            let before = self.visibility.intern_set(value.before);
            let state = self.visibility.intern_state(after, before);
            let own = self.own(state, value.weight, value.sums);
            builder.push(value.term, value.weight, state, own)?;
        }
        suffixes.sort_unstable_by(|(first, text, suffix), (other_first, other_text, other)| {
            first
                .cmp(other_first)
                .then_with(|| text.compare(other_text))
                .then_with(|| suffix.cmp(other))
        });
        let suffixes = suffixes.into_iter().map(|(.., suffix)| suffix);
        self.dictionaries.push(builder.finish(suffixes)?);
        Ok(())
    }

    /// Adds the next list from its entries, sorted by context and target.
    pub(crate) fn list<'v>(
        &mut self,
        shape: &ListShape,
        pairs: impl Iterator<Item = Result<NewPair<'v>>>,
    ) -> Result<()> {
        let mut builder = PairListBuilder::new(shape, self.folder);
        for pair in pairs {
            let pair = pair?;
            let after = self.visibility.intern_set(pair.after);
            let before = self.visibility.intern_set(pair.before);
            let state = self.visibility.intern_state(after, before);
            let weight = Weight { priority: 0, count: pair.resources };
            let own = self.own(state, weight, pair.sums);
            builder.push((pair.context, pair.target), pair.resources, state, own)?;
        }
        let targets = self.dictionaries.get(shape.target).ok_or_else(wrong_shape)?;
        self.lists.push(builder.finish(targets)?);
        Ok(())
    }

    fn own<'s>(&self, state: u32, weight: Weight, sums: &'s FacetSums) -> Option<&'s FacetSums> {
        (!is_implied(self.visibility.so_far(), state, weight, sums)).then_some(sums)
    }

    pub(crate) fn finish(self, sequence: u64) -> Segment {
        Segment {
            sequence,
            dictionaries: self.dictionaries,
            lists: self.lists,
            visibility: self.visibility.finish(),
            checked: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::completion::layers::Layers;
    use crate::completion::new_layer::{FactChange, new_layer};
    use crate::resource::{Binding, Value};
    use crate::uri_template::UriTemplate;

    #[test]
    fn a_changed_byte_in_a_section_is_found() {
        let plan = Plan::new(&UriTemplate::parse("a://{name}").unwrap());
        let value = Value::String("Some-Name".into());
        let facts = plan.facts(&[Binding { name: "name".into(), value }]);
        let added = Some(Facet { acl: 0, priority: 7 });
        let change = FactChange { facts: facts.into(), removed: None, added };
        let segment = new_layer(&plan, &Layers::default(), &[change], 1, None).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.segment");
        segment.save(&path).unwrap();
        assert!(Segment::open(&path, &plan).unwrap().is_whole(|| true));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[10] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let damaged = Segment::open(&path, &plan).unwrap();
        assert!(!damaged.is_whole(|| true));
        assert!(damaged.is_whole(|| false), "who is in a hurry does not look");
    }
}
