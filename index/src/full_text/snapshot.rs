//! A state of the index, with what is the same for all searches of it. It is made once for each commit: a search that is
//! answered in a tenth of a millisecond has no time to open columns and to count languages.

use std::sync::Arc;

use tantivy::columnar::ColumnValues;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::{InvertedIndexReader, Searcher, SegmentReader};

use super::analysis::Language;
use super::plan::{io_failed, read_failed};
use super::schema::{Fields, Place, column};
use crate::error::Result;

/// A language of at most one in so many texts is not thought of.
const RARE_LANGUAGE: u64 = 200;

/// A state of the index.
pub(super) struct Snapshot {
    pub(super) searcher: Searcher,
    pub(super) segments: Vec<OpenSegment>,
    /// The languages of the texts, the most frequent first; without those of very few.
    pub(super) languages: Vec<Language>,
    /// Documents, those that were deleted and are still there among them.
    pub(super) documents: u64,
    /// How many tokens a document has in each place, in the order of [`Place::ALL`].
    pub(super) average_lengths: [f32; Place::ALL.len()],
}

/// A segment with its columns and its words open.
pub(super) struct OpenSegment {
    pub(super) reader: SegmentReader,
    /// In the order of [`Place::ALL`].
    words: [Arc<InvertedIndexReader>; Place::ALL.len()],
    /// How long the documents are in each place.
    norms: [FieldNormReader; Place::ALL.len()],
    pub(super) priority: Arc<dyn ColumnValues<u64>>,
    pub(super) modified: Arc<dyn ColumnValues<i64>>,
    pub(super) uri_hash: Arc<dyn ColumnValues<u64>>,
    pub(super) space: Arc<dyn ColumnValues<u64>>,
    pub(super) version: Arc<dyn ColumnValues<u64>>,
    pub(super) acl: Arc<dyn ColumnValues<u64>>,
}

impl Snapshot {
    /// Opens what searches need of all segments.
    pub(super) fn open(searcher: Searcher, fields: &Fields) -> Result<Snapshot> {
        let segments: Vec<OpenSegment> = searcher
            .segment_readers()
            .iter()
            .map(|reader| OpenSegment::open(reader, fields))
            .collect::<Result<_>>()?;
        let documents: u64 =
            segments.iter().map(|segment| u64::from(segment.reader.max_doc())).sum();
        let average_lengths = Place::ALL.map(|place| {
            let lengths = segments.iter().map(|segment| segment.words(place).total_num_tokens());
            let tokens: u64 = lengths.sum();
            (tokens as f32 / documents.max(1) as f32).max(f32::MIN_POSITIVE)
        });
        let languages = languages(&searcher, fields)?;
        Ok(Snapshot { searcher, segments, languages, documents, average_lengths })
    }

    /// Its number among the states of the index.
    pub(super) fn generation(&self) -> u64 {
        self.searcher.generation().generation_id()
    }
}

impl OpenSegment {
    fn open(reader: &SegmentReader, fields: &Fields) -> Result<OpenSegment> {
        let words = |place| reader.inverted_index(fields.of(place)).map_err(read_failed);
        let norms = |place| reader.get_fieldnorms_reader(fields.of(place)).map_err(read_failed);
        let [title, uri_words, text] = Place::ALL;
        Ok(OpenSegment {
            words: [words(title)?, words(uri_words)?, words(text)?],
            norms: [norms(title)?, norms(uri_words)?, norms(text)?],
            priority: column::unsigned(reader, column::PRIORITY)?,
            modified: column::signed(reader, column::MODIFIED)?,
            uri_hash: column::unsigned(reader, column::URI_HASH)?,
            space: column::unsigned(reader, column::SPACE)?,
            version: column::unsigned(reader, column::VERSION)?,
            acl: column::unsigned(reader, column::ACL)?,
            reader: reader.clone(),
        })
    }

    /// The words of a place.
    pub(super) fn words(&self, place: Place) -> &InvertedIndexReader {
        let [title, uri_words, text] = &self.words;
        match place {
            Place::Title => title,
            Place::UriWords => uri_words,
            Place::Text => text,
        }
    }

    /// How long the documents are in a place.
    pub(super) fn norms(&self, place: Place) -> FieldNormReader {
        let [title, uri_words, text] = &self.norms;
        match place {
            Place::Title => title.clone(),
            Place::UriWords => uri_words.clone(),
            Place::Text => text.clone(),
        }
    }
}

/// The languages of the texts, the most frequent first; without those of very few.
pub(super) fn languages(searcher: &Searcher, fields: &Fields) -> Result<Vec<Language>> {
    let mut counts = [0_u64; Language::COUNT as usize];
    for segment in searcher.segment_readers() {
        let index = segment.inverted_index(fields.language).map_err(read_failed)?;
        let mut stream = index.terms().stream().map_err(io_failed)?;
        while stream.advance() {
            // A term of a number is its eight bytes.
            let number = stream.key().last().map_or(usize::MAX, |number| usize::from(*number));
            if let Some(count) = counts.get_mut(number) {
                *count += u64::from(stream.value().doc_freq);
            }
        }
    }
    let all: u64 = counts.iter().sum();
    let mut languages: Vec<(u64, Language)> = (0..)
        .zip(counts)
        .filter(|(_, count)| *count > 0 && count.saturating_mul(RARE_LANGUAGE) >= all)
        .filter_map(|(number, count)| Some((count, Language::of_number(number)?)))
        .collect();
    languages.sort_unstable_by(|a, b| b.cmp(a));
    Ok(languages.into_iter().map(|(_, language)| language).collect())
}
