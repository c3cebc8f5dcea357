//! The completion index on the disk: for each space a folder with its segments and a manifest that names them.
//!
//! The manifest is replaced atomically after the segments it names are on the disk, and names only what the store has
//! on the disk, too. What is not named is deleted when the engine opens.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::layers::Layers;
use super::segment::Segment;
use super::spaces::{LayerInfo, SpaceIndex, Stack};
use crate::error::{Error, ErrorKind, Result};
use crate::store::codec::{Reader, Writer};

const MANIFEST: &str = "manifest";
const LAYOUT: u8 = 1;

/// What a manifest says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The template that the segments are made for.
    template: String,
    /// All changes up to this one are in the segments.
    pub(super) covered: u64,
    /// File number and what lies beneath, oldest first.
    segments: Vec<(u64, u64)>,
}

impl Manifest {
    fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.u8(LAYOUT).bytes(self.template.as_bytes()).u64(self.covered);
        for (file, begins_after) in &self.segments {
            writer.u64(*file).u64(*begins_after);
        }
        let mut bytes = writer.finish();
        let hash = blake3::hash(&bytes);
        bytes.extend_from_slice(hash.as_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Manifest> {
        let damaged =
            || Error::new(ErrorKind::Corrupt, "completion manifest", "its hash is another one");
        let body = bytes.len().checked_sub(blake3::OUT_LEN).ok_or_else(damaged)?;
        let (body, hash) = bytes.split_at_checked(body).ok_or_else(damaged)?;
        if blake3::hash(body).as_bytes() != hash {
            return Err(damaged());
        }
        let mut reader = Reader::new(body, "completion manifest");
        if reader.u8()? != LAYOUT {
            return Err(reader.corrupt("its layout is not known"));
        }
        let (template, covered) = (reader.str()?.to_owned(), reader.u64()?);
        let mut segments = Vec::new();
        while !reader.is_at_end() {
            segments.push((reader.u64()?, reader.u64()?));
        }
        Ok(Manifest { template, covered, segments })
    }
}

fn segment_name(file: u64) -> String {
    format!("{file}.segment")
}

fn failed(path: &Path) -> impl Fn(std::io::Error) -> Error {
    let path = path.display().to_string();
    move |source| {
        let text = "the completion index cannot be written: it is kept in memory for now";
        Error::new(ErrorKind::Io, path.clone(), text).with_source(source)
    }
}

/// Bytes of all files in the folder.
pub(super) fn disk_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len())).sum()
}

/// A number that no segment in the folder has.
pub(super) fn next_file(folder: &Path) -> Result<u64> {
    crate::data_dir::make_private(folder).map_err(failed(folder))?;
    let entries = fs::read_dir(folder).map_err(failed(folder))?;
    let numbers = entries.filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        name.strip_suffix(".segment")?.parse::<u64>().ok()
    });
    Ok(numbers.max().unwrap_or(0).saturating_add(1))
}

/// Deletes a segment while there is no manifest that could name it; one that stays goes with the next manifest.
pub(super) fn delete_without_manifest(folder: &Path, file: u64) {
    if !folder.join(MANIFEST).exists() {
        let _ = fs::remove_file(folder.join(segment_name(file)));
    }
}

/// Takes the manifest away, before an index is made anew.
pub(super) fn forget(folder: &Path) {
    // One that stays is as good or bad as before, and is replaced in the end.
    let _ = fs::remove_file(folder.join(MANIFEST));
}

/// Writes a segment and maps it in place of the one in memory.
pub(super) fn save(
    index: &SpaceIndex,
    segment: &Segment,
    folder: &Path,
    file: u64,
) -> Result<Segment> {
    let path = folder.join(segment_name(file));
    segment.save(&path)?;
    Segment::open(&path, &index.plan)
}

/// Names the layers that are on the disk, from the oldest on. `newest` is the store's last sequence number that is on
/// the disk and in the layers.
pub(super) fn write_manifest(
    index: &SpaceIndex,
    stack: &Stack,
    folder: &Path,
    newest: u64,
) -> Result<()> {
    let saved = stack.infos.iter().take_while(|info| info.file.is_some());
    let segments: Vec<(u64, u64)> =
        saved.filter_map(|info| Some((info.file?, info.begins_after))).collect();
    let covered = stack.infos.get(segments.len()).map_or(newest, |first| first.begins_after);
    let manifest = Manifest { template: index.template.clone(), covered, segments };
    let (path, new_path) = (folder.join(MANIFEST), folder.join("manifest.new"));
    let write = || -> std::io::Result<()> {
        crate::data_dir::make_private(folder)?;
        let mut file = fs::File::create(&new_path)?;
        file.write_all(&manifest.encode())?;
        file.sync_all()?;
        fs::rename(&new_path, &path)?;
        fs::File::open(folder)?.sync_all()
    };
    write().map_err(failed(&path))?;
    delete_others(folder, &manifest);
    Ok(())
}

/// Deletes what the manifest does not name; what is still mapped stays readable until it is let go.
fn delete_others(folder: &Path, manifest: &Manifest) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_named = manifest.segments.iter().any(|(file, _)| *name == *segment_name(*file));
        if !is_named && name != MANIFEST {
            // What cannot be deleted now is deleted after the next manifest.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The layers that the manifest names; an error when there is none, or it is of another template, or they are damaged.
pub(super) fn load(index: &SpaceIndex, folder: &Path) -> Result<(Stack, u64)> {
    let path = folder.join(MANIFEST);
    let bytes = fs::read(&path).map_err(|source| {
        Error::new(ErrorKind::Io, path.display().to_string(), "it cannot be read")
            .with_source(source)
    })?;
    let manifest = Manifest::decode(&bytes)?;
    if manifest.template != index.template {
        let text = "it belongs to another template";
        return Err(Error::new(ErrorKind::Corrupt, path.display().to_string(), text));
    }
    let mut stack = Stack::default();
    let mut segments = Vec::new();
    for (file, begins_after) in &manifest.segments {
        let segment = Segment::open(&folder.join(segment_name(*file)), &index.plan)?;
        segments.push(std::sync::Arc::new(segment));
        stack.infos.push(LayerInfo { begins_after: *begins_after, file: Some(*file) });
    }
    stack.layers = Layers::of(segments);
    delete_others(folder, &manifest);
    Ok((stack, manifest.covered))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_manifest_comes_back_and_damage_is_found(segments: Vec<(u64, u64)>, at: usize) {
            let manifest = Manifest { template: "a://b/{c}".into(), covered: 7, segments };
            let mut bytes = manifest.encode();
            prop_assert_eq!(Manifest::decode(&bytes).unwrap(), manifest);
            let at = at % bytes.len();
            bytes[at] ^= 1;
            prop_assert!(Manifest::decode(&bytes).is_err());
        }
    }
}
