//! `pressmark verify`: every derived key against the truth, in both directions, over one snapshot.

mod beside;
mod indexes;

use std::collections::BTreeMap;
use std::rc::Rc;

use beside::Beside;

use crate::change_log::Entry;
use crate::completion;
use crate::contents_fragment::descriptor::Descriptor;
use crate::contents_fragment::json_text;
use crate::contents_fragment::part::{StoredBody, StoredPart};
use crate::error::{Error, ErrorKind, Result};
use crate::prepare::content_hash;
use crate::resource_uri;
use crate::shared::Shared;
use crate::space::SpaceId;
use crate::stop::Stop;
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
    stop: Stop,
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

/// What is derived from every resource, walked beside the resources.
struct Derived<'v> {
    descriptors: Beside<'v>,
    list: Beside<'v>,
    tombstones: Beside<'v>,
}

impl<'v> Derived<'v> {
    fn of(view: &'v View<'_>) -> Result<Derived<'v>> {
        Ok(Derived {
            descriptors: Beside::new(view, Cf::Descriptors)?,
            list: Beside::new(view, Cf::List)?,
            tombstones: Beside::new(view, Cf::Tombstones)?,
        })
    }
}

pub(crate) fn run(
    shared: &Shared,
    stop: &Stop,
    progress: &mut dyn FnMut(u64),
) -> Result<VerifyReport> {
    let stop = stop.or(&shared.closing);
    let store = shared.store();
    let mut check = Check {
        shared,
        stop: stop.clone(),
        view: Rc::new(store.view()),
        report: VerifyReport::default(),
        counted: BTreeMap::new(),
        chunks: 0,
        listed: 0,
        aliased: 0,
        sourced: 0,
        unreadable: false,
    };
    // Completion is checked beside the rest: it reads the list, not the contents.
    let completion = std::thread::scope(|scope| {
        let completion = scope.spawn(|| completion::check(shared, &stop));
        check.store(progress)?;
        completion.join().map_err(|_| {
            Error::new(ErrorKind::Corrupt, "completion", "its check panicked: the log says where")
        })
    })?;
    check.completion(completion)?;
    let result = check.full_text(progress);
    check.report.caught("full text", result)?;
    progress(check.report.resources);
    Ok(check.report)
}

impl Check<'_> {
    /// Everything but completion.
    fn store(&mut self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let result = self.resources(progress);
        self.report.caught("contents", result)?;
        type Step<'a> = fn(&mut Check<'a>) -> Result<()>;
        let steps: [(&str, Step<'_>); 8] = [
            ("descriptors", Check::descriptors),
            ("list", Check::lists),
            ("chunks", Check::chunks),
            ("aliases", Check::aliases),
            ("sources", Check::sources),
            ("tombstones", Check::tombstones),
            ("change log", Check::changes),
            ("counters", Check::counters),
        ];
        for (place, step) in steps {
            let result = step(self);
            self.report.caught(place, result)?;
        }
        Ok(())
    }

    /// From the truth to what follows from it.
    fn resources(&mut self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        let view = Rc::clone(&self.view);
        let mut scan = view.pass(Cf::Contents, b"", b"")?;
        let mut derived = Derived::of(&view)?;
        let mut last = Vec::new();
        loop {
            self.stop.check()?;
            match scan.item() {
                Ok(None) => return Ok(()),
                Ok(Some((found, value))) => {
                    let uri = String::from_utf8_lossy(found).into_owned();
                    last.clear();
                    last.extend_from_slice(found);
                    let result = self.resource(&uri, value, &mut derived);
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
            self.stop.check()?;
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

    fn resource(&mut self, uri: &str, value: &[u8], derived: &mut Derived<'_>) -> Result<()> {
        let mut reader = Reader::new(value, "contents value");
        let head = Head::read(&mut reader)?;
        let parts_value = value.get(value.len() - reader.left()..).unwrap_or_default();
        if resource_uri::normalise_strict(uri).ok().as_deref() != Some(uri) {
            self.report.fault(format!("{uri}: the key is not a normalised URI"));
        }
        let chunks = self.parts(uri, &head, &mut reader)?;
        match derived.descriptors.value(uri.as_bytes())? {
            None => self.report.fault(format!("{uri}: no descriptor")),
            Some(stored) => self.descriptor_of(uri, &head, stored, (parts_value, &chunks))?,
        }
        let list_key = key::list(head.space, head.order, uri);
        match derived.list.value(&list_key)? {
            None => self.report.fault(format!("{uri}: not in the list")),
            Some(value) if decode_list_acl(value)? != head.acl => {
                self.report.fault(format!("{uri}: the list has another ACL"));
            }
            Some(_) => self.listed += 1,
        }
        self.alias_of(uri)?;
        self.source_of(uri, &head)?;
        if derived.tombstones.value(uri.as_bytes())?.is_some() {
            self.report.fault(format!("{uri}: stands there and has a tombstone"));
        }
        let counts = self.counted.entry(head.space).or_default();
        counts.resources += 1;
        counts.restricted += u64::from(head.acl != AclId::NONE);
        Ok(())
    }

    fn descriptor_of(
        &mut self,
        uri: &str,
        head: &Head,
        stored: &[u8],
        (parts_value, chunks): (&[u8], &[Vec<u8>]),
    ) -> Result<()> {
        let descriptor = Descriptor::from_stored(stored.to_vec())?;
        if descriptor.visibility()? != (head.space, head.acl) {
            self.report.fault(format!("{uri}: the descriptor has another space or ACL"));
        }
        let acl = self.shared.acls.groups(head.acl)?;
        let chunks = chunks.iter().map(Vec::as_slice);
        let hash =
            content_hash(&descriptor, parts_value, chunks, acl.as_deref(), head.order.pinned)?;
        if hash != head.hash {
            self.report.fault(format!("{uri}: the content hash is another one"));
        }
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
        let mut scan = view.pass(Cf::Chunks, b"", b"")?;
        let mut count = 0;
        while let Some((chunk_key, _)) = scan.item()? {
            self.stop.check()?;
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
        let mut scan = self.view.pass(Cf::Aliases, b"", b"")?;
        let mut count = 0_u64;
        while let Some((_, value)) = scan.item()? {
            self.stop.check()?;
            count += u64::try_from(decode_alias(value)?.len()).unwrap_or(u64::MAX);
            scan.advance();
        }
        drop(scan);
        self.same("aliases", count, self.aliased);
        Ok(())
    }

    fn count(&self, cf: Cf) -> Result<u64> {
        let mut scan = self.view.pass(cf, b"", b"")?;
        let mut count = 0;
        while scan.item()?.is_some() {
            self.stop.check()?;
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
        let mut scan = self.view.pass(Cf::Tombstones, b"", b"")?;
        while let Some((uri, value)) = scan.item()? {
            self.stop.check()?;
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
        let mut scan = view.pass(Cf::Changes, b"", b"")?;
        while let Some((change_key, value)) = scan.item()? {
            self.stop.check()?;
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
