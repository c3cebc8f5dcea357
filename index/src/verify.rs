//! `pressmark verify`: every derived key against the truth, in both directions, over one snapshot.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::change_log::Entry;
use crate::completion;
use crate::contents_fragment::descriptor::Descriptor;
use crate::contents_fragment::json_text;
use crate::contents_fragment::part::{StoredBody, StoredPart};
use crate::error::{ErrorKind, Result};
use crate::full_text;
use crate::prepare::content_hash;
use crate::resource_uri;
use crate::shared::Shared;
use crate::space::SpaceId;
use crate::store::codec::Reader;
use crate::store::value::{AclId, Counts, Head, Tombstone, decode_alias, decode_list_acl};
use crate::store::{Cf, Scan, View, key, key::meta};

/// Findings beyond this many are only counted.
pub const FINDINGS_MAX: usize = 1_000;
/// `progress` is called each time this many resources were checked.
const PROGRESS_STEP: u64 = 1_000;

/// What a check of the whole store found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Resources that were checked.
    pub resources: u64,
    /// Derived keys that were checked.
    pub derived_keys: u64,
    /// How many faults there are.
    pub fault_count: u64,
    /// What they are, up to [`FINDINGS_MAX`] of them.
    pub findings: Vec<String>,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.fault_count == 0
    }

    fn fault(&mut self, finding: String) {
        self.fault_count += 1;
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }

    /// A fault in stored bytes is a finding; anything else ends the check.
    fn caught(&mut self, place: &str, result: Result<()>) -> Result<()> {
        match result {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::Corrupt => {
                self.fault(format!("{place}: {}", error.with_cause()));
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

struct Check<'a> {
    shared: &'a Shared,
    view: Rc<View<'a>>,
    report: VerifyReport,
    counted: BTreeMap<SpaceId, Counts>,
    chunks: u64,
    listed: u64,
    aliased: u64,
    sourced: u64,
    /// Some resources cannot be read: what is derived from them cannot be counted.
    unreadable: bool,
}

pub(crate) fn run(shared: &Shared, progress: &mut dyn FnMut(u64)) -> Result<VerifyReport> {
    let store = shared.store();
    let mut check = Check {
        shared,
        view: Rc::new(store.view()),
        report: VerifyReport::default(),
        counted: BTreeMap::new(),
        chunks: 0,
        listed: 0,
        aliased: 0,
        sourced: 0,
        unreadable: false,
    };
    let result = check.resources(progress);
    check.report.caught("contents", result)?;
    type Step<'a> = fn(&mut Check<'a>) -> Result<()>;
    let steps: [(&str, Step<'_>); 10] = [
        ("descriptors", Check::descriptors),
        ("list", Check::lists),
        ("chunks", Check::chunks),
        ("aliases", Check::aliases),
        ("sources", Check::sources),
        ("tombstones", Check::tombstones),
        ("change log", Check::changes),
        ("counters", Check::counters),
        ("completion", Check::completion),
        ("full text", Check::full_text),
    ];
    for (place, step) in steps {
        let result = step(&mut check);
        check.report.caught(place, result)?;
    }
    progress(check.report.resources);
    Ok(check.report)
}

impl Check<'_> {
    /// From the truth to what follows from it.
    fn resources(&mut self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let view = Rc::clone(&self.view);
        let mut scan = view.scan(Cf::Contents, b"", b"")?;
        let mut last = Vec::new();
        loop {
            match scan.item() {
                Ok(None) => return Ok(()),
                Ok(Some((found, value))) => {
                    let uri = String::from_utf8_lossy(found).into_owned();
                    last = found.to_vec();
                    let result = self.resource(&uri, value);
                    self.unreadable |= result.is_err();
                    self.report.caught(&uri, result)?;
                }
                Err(error) if error.kind() == ErrorKind::Corrupt => {
                    self.unreadable = true;
                    match self.pass_damage(&mut scan, &last)? {
                        Some(passed) => last = passed,
                        None => return Ok(()),
                    }
                    continue;
                }
                Err(error) => return Err(error),
            }
            self.report.resources += 1;
            if self.report.resources.is_multiple_of(PROGRESS_STEP) {
                progress(self.report.resources);
            }
            scan.advance();
        }
    }

    /// Goes on behind what cannot be read: the descriptors tell which resources there are. Returns the last of
    /// those that were passed; `None` when no other can be read.
    fn pass_damage(&mut self, scan: &mut Scan<'_>, last: &[u8]) -> Result<Option<Vec<u8>>> {
        let view = Rc::clone(&self.view);
        let mut known = view.scan(Cf::Descriptors, b"", last)?;
        let mut passed = last.to_vec();
        while let Some((uri, _)) = known.item()? {
            if uri > last {
                scan.seek(uri);
                match scan.item() {
                    Err(error) if error.kind() == ErrorKind::Corrupt => {
                        let uri = String::from_utf8_lossy(uri);
                        self.report.fault(format!("{uri}: {}", error.with_cause()));
                    }
                    result => return result.map(|_| Some(passed)),
                }
                passed = uri.to_vec();
            }
            known.advance();
        }
        Ok(None)
    }

    fn resource(&mut self, uri: &str, value: &[u8]) -> Result<()> {
        let mut reader = Reader::new(value, "contents value");
        let head = Head::read(&mut reader)?;
        let parts_value = value.get(value.len() - reader.left()..).unwrap_or_default();
        if resource_uri::normalise_strict(uri).ok().as_deref() != Some(uri) {
            self.report.fault(format!("{uri}: the key is not a normalised URI"));
        }
        let chunks = self.parts(uri, &head, &mut reader)?;
        let acl = self.shared.acls.groups(head.acl)?;
        match self.view.get(Cf::Descriptors, uri.as_bytes())? {
            None => self.report.fault(format!("{uri}: no descriptor")),
            Some(descriptor) => {
                let stored = Descriptor::from_stored(descriptor.to_vec())?;
                if stored.visibility()? != (head.space, head.acl) {
                    self.report.fault(format!("{uri}: the descriptor has another space or ACL"));
                }
                let chunks = chunks.iter().map(Vec::as_slice);
                let hash = content_hash(
                    &descriptor,
                    parts_value,
                    chunks,
                    acl.as_deref(),
                    head.order.pinned,
                )?;
                if hash != head.hash {
                    self.report.fault(format!("{uri}: the content hash is another one"));
                }
            }
        }
        let list_key = key::list(head.space, head.order, uri);
        match self.view.get(Cf::List, &list_key)? {
            None => self.report.fault(format!("{uri}: not in the list")),
            Some(value) if decode_list_acl(&value)? != head.acl => {
                self.report.fault(format!("{uri}: the list has another ACL"));
            }
            Some(_) => self.listed += 1,
        }
        self.alias_of(uri)?;
        self.source_of(uri, &head)?;
        if self.view.has(Cf::Tombstones, uri.as_bytes())? {
            self.report.fault(format!("{uri}: stands there and has a tombstone"));
        }
        let counts = self.counted.entry(head.space).or_default();
        counts.resources += 1;
        counts.restricted += u64::from(head.acl != AclId::NONE);
        Ok(())
    }

    /// Checks the parts and returns the chunks of all of them.
    fn parts(&mut self, uri: &str, head: &Head, reader: &mut Reader<'_>) -> Result<Vec<Vec<u8>>> {
        let mut all = Vec::new();
        let count = reader.u16()?;
        for part_number in 0..count {
            let part = StoredPart::read(reader)?;
            let chunks = match &part.body {
                StoredBody::Chunks(chunks) => chunks,
                StoredBody::Inline(bytes) => {
                    if raw_length(part.blob, bytes) != Some(part.raw_bytes) {
                        self.report.fault(format!(
                            "{uri}: part {part_number} does not decode to its size"
                        ));
                    }
                    continue;
                }
            };
            for (number, chunk) in (0_u32..).zip(chunks) {
                let chunk_key = key::chunk(uri, head.version, part_number, number);
                match self.view.get(Cf::Chunks, &chunk_key)? {
                    Some(bytes) if bytes.len() == chunk.bytes => all.push(bytes.to_vec()),
                    Some(bytes) => self.report.fault(format!(
                        "{uri}: chunk {number} of part {part_number} has {} bytes, not {}",
                        bytes.len(),
                        chunk.bytes
                    )),
                    None => self
                        .report
                        .fault(format!("{uri}: chunk {number} of part {part_number} is missing")),
                }
                self.chunks += 1;
            }
        }
        reader.finish()?;
        if head.chunked == all.is_empty() {
            self.report.fault(format!("{uri}: the head is wrong about chunks"));
        }
        Ok(all)
    }

    fn alias_of(&mut self, uri: &str) -> Result<()> {
        let Some(alias) = resource_uri::alias_of(uri) else {
            return Ok(());
        };
        let uris = match self.view.get(Cf::Aliases, alias.as_bytes())? {
            Some(value) => decode_alias(&value)?,
            None => Vec::new(),
        };
        if uris.iter().any(|other| other == uri) {
            self.aliased += 1;
        } else {
            self.report.fault(format!("{uri}: its alias `{alias}` does not lead to it"));
        }
        Ok(())
    }

    fn source_of(&mut self, uri: &str, head: &Head) -> Result<()> {
        let Some(mark) = &head.source else {
            return Ok(());
        };
        let stored = self.view.get(Cf::Sources, &key::source(mark.source_id, uri))?;
        if stored.as_deref() == Some(mark.fingerprint.as_slice()) {
            self.sourced += 1;
        } else {
            self.report.fault(format!("{uri}: its source entry is missing or another one"));
        }
        Ok(())
    }

    // === from what is derived back to the truth: as many as were found from there ===

    fn descriptors(&mut self) -> Result<()> {
        let count = self.count(Cf::Descriptors)?;
        self.same("descriptors", count, self.report.resources);
        Ok(())
    }

    fn lists(&mut self) -> Result<()> {
        let count = self.count(Cf::List)?;
        self.same("list entries", count, self.listed);
        Ok(())
    }

    fn chunks(&mut self) -> Result<()> {
        let view = Rc::clone(&self.view);
        let mut scan = view.scan(Cf::Chunks, b"", b"")?;
        let mut count = 0;
        while let Some((chunk_key, _)) = scan.item()? {
            let (uri, _) = key::decode_chunk(chunk_key)?;
            if !view.has(Cf::Contents, uri.as_bytes())? {
                self.report.fault(format!("{uri}: a chunk without its resource"));
            }
            count += 1;
            scan.advance();
        }
        self.same("chunks", count, self.chunks);
        Ok(())
    }

    fn sources(&mut self) -> Result<()> {
        let count = self.count(Cf::Sources)?;
        self.same("source entries", count, self.sourced);
        Ok(())
    }

    fn aliases(&mut self) -> Result<()> {
        let mut scan = self.view.scan(Cf::Aliases, b"", b"")?;
        let mut count = 0_u64;
        while let Some((_, value)) = scan.item()? {
            count += u64::try_from(decode_alias(value)?.len()).unwrap_or(u64::MAX);
            scan.advance();
        }
        drop(scan);
        self.same("aliases", count, self.aliased);
        Ok(())
    }

    fn count(&self, cf: Cf) -> Result<u64> {
        let mut scan = self.view.scan(cf, b"", b"")?;
        let mut count = 0;
        while scan.item()?.is_some() {
            count += 1;
            scan.advance();
        }
        Ok(count)
    }

    fn same(&mut self, what: &str, found: u64, wanted: u64) {
        self.report.derived_keys += found;
        if found != wanted && !self.unreadable {
            self.report.fault(format!("{found} {what} are stored, {wanted} belong to resources"));
        }
    }

    fn tombstones(&mut self) -> Result<()> {
        let newest = self.newest()?;
        let mut faults = Vec::new();
        let mut scan = self.view.scan(Cf::Tombstones, b"", b"")?;
        while let Some((uri, value)) = scan.item()? {
            if Tombstone::decode(value)?.sequence > newest {
                faults.push(format!(
                    "{}: its tombstone is from the future",
                    String::from_utf8_lossy(uri)
                ));
            }
            scan.advance();
        }
        drop(scan);
        faults.into_iter().for_each(|fault| self.report.fault(fault));
        Ok(())
    }

    /// The log has no gap and ends at the last sequence number.
    fn changes(&mut self) -> Result<()> {
        let newest = self.newest()?;
        let mut faults = Vec::new();
        let mut expected = None;
        let view = Rc::clone(&self.view);
        let mut scan = view.scan(Cf::Changes, b"", b"")?;
        while let Some((change_key, value)) = scan.item()? {
            let sequence = key::decode_sequence(change_key)?;
            if expected.is_some_and(|expected| expected != sequence) {
                faults.push(format!("change log: change {sequence} follows a gap"));
            }
            if let Err(error) = Entry::decode(value) {
                faults.push(format!("change {sequence}: {error}"));
            }
            expected = Some(sequence + 1);
            self.report.derived_keys += 1;
            scan.advance();
        }
        drop(scan);
        if let Some(end) = expected.filter(|end| *end != newest + 1) {
            faults.push(format!("change log: it ends at {}, the store is at {newest}", end - 1));
        }
        faults.into_iter().for_each(|fault| self.report.fault(fault));
        Ok(())
    }

    /// The completion indexes are those that the resources make.
    fn completion(&mut self) -> Result<()> {
        if self.unreadable {
            return Ok(());
        }
        let mut faults = Vec::new();
        let compared = completion::check(self.shared, &mut |fault| faults.push(fault))?;
        self.report.derived_keys += compared;
        faults.into_iter().for_each(|fault| self.report.fault(format!("completion: {fault}")));
        Ok(())
    }

    /// The full-text index holds every resource in the version that the store has, and nothing else.
    fn full_text(&mut self) -> Result<()> {
        if self.unreadable {
            return Ok(());
        }
        let mut faults = Vec::new();
        let compared = full_text::check(self.shared, &mut |fault| faults.push(fault))?;
        self.report.derived_keys += compared;
        faults.into_iter().for_each(|fault| self.report.fault(format!("full text: {fault}")));
        Ok(())
    }

    fn newest(&self) -> Result<u64> {
        match self.view.get(Cf::Meta, meta::SEQUENCE)? {
            Some(value) => Reader::new(&value, "sequence number").u64(),
            None => Ok(0),
        }
    }

    fn counters(&mut self) -> Result<()> {
        for space in self.shared.catalog().everything() {
            let stored = match self.view.get(Cf::Meta, &meta::counts(space.id))? {
                Some(value) => Counts::decode(&value)?,
                None => Counts::default(),
            };
            let counted = self.counted.remove(&space.id).unwrap_or_default();
            if stored != counted && !self.unreadable {
                self.report.fault(format!(
                    "space `{}`: counted {} resources, the counter says {}",
                    space.settings.name, counted.resources, stored.resources
                ));
            }
        }
        let strays: Vec<_> = std::mem::take(&mut self.counted).into_iter().collect();
        for (space, counts) in strays {
            self.report.fault(format!(
                "{} resources belong to space {}, which is not there",
                counts.resources, space.0
            ));
        }
        Ok(())
    }
}

/// Size of what an inline body decodes to; `None` when it does not decode.
fn raw_length(blob: bool, encoded: &[u8]) -> Option<u64> {
    let length = if blob {
        base64_simd::STANDARD.decode_to_vec(encoded).ok()?.len()
    } else {
        json_text::unescape(encoded)?.len()
    };
    u64::try_from(length).ok()
}
