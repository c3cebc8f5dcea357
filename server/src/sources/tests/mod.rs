//! Generated trees, scanned through the public interface.

mod ignore_files;
mod kinds;
mod media_types;
mod names;
mod patterns;
mod projections;
mod records;
mod secrets;
mod selection;
mod spaces;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use pressmark_index::resource::{Address, Resource, Value};
use tempfile::TempDir;

use super::{Entries, FolderSource, Remembered, ScanReport, Scanned, Scope};

/// A folder with these files; a path that ends in `/` is an empty folder.
fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, content) in files {
        put(folder.path(), path, content.as_bytes());
    }
    folder
}

fn put(root: &Path, path: &str, content: &[u8]) {
    let full = root.join(path);
    if path.ends_with('/') {
        return fs::create_dir_all(full).unwrap();
    }
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, content).unwrap();
}

fn source(root: &Path) -> FolderSource {
    FolderSource::new("docs", root)
}

/// What a scan with nothing known says, in its order.
fn scan_all(source: &FolderSource) -> (Vec<Scanned>, ScanReport) {
    let mut all = Vec::new();
    let report = source
        .scan(Scope::Whole, &Remembered::NOTHING, &mut |scanned| {
            if !matches!(scanned, Scanned::Folder { .. }) {
                all.push(scanned);
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    (all, report)
}

/// What a scan says of one path when it is asked for nothing else.
fn scan_one(source: &FolderSource, path: &Path) -> Vec<Scanned> {
    let mut all = Vec::new();
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return all };
    let entries = Entries::from([(folder.to_path_buf(), BTreeSet::from([name.to_os_string()]))]);
    source
        .scan(Scope::Entries(&entries), &Remembered::NOTHING, &mut |scanned| {
            all.push(scanned);
            ControlFlow::Continue(())
        })
        .unwrap();
    all
}

/// The records of a scan by their escaped paths.
fn records(source: &FolderSource) -> BTreeMap<String, Resource> {
    scan_all(source)
        .0
        .into_iter()
        .filter_map(|scanned| match scanned {
            Scanned::Changed(resource) => Some((path_of(&resource), resource)),
            _ => None,
        })
        .collect()
}

/// The reasons of a scan by their escaped paths.
fn refusals(source: &FolderSource) -> BTreeMap<String, String> {
    scan_all(source)
        .0
        .into_iter()
        .filter_map(|scanned| match scanned {
            Scanned::Refused { path, reason, .. } => Some((path, reason)),
            _ => None,
        })
        .collect()
}

fn path_of(resource: &Resource) -> String {
    let Address::Variables(bindings) = &resource.address else { panic!("{resource:?}") };
    match bindings.as_slice() {
        [binding] if binding.name == "path" => match &binding.value {
            Value::String(path) => path.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

/// The served paths, one a line, and that each of `asked` is the same when it is asked for alone.
fn served(source: &FolderSource, asked: &[(&str, &str)]) -> String {
    let records = records(source);
    for (path, _) in asked.iter().filter(|(path, _)| !path.ends_with('/')) {
        let one = scan_one(source, Path::new(path));
        let scanned = records
            .values()
            .find(|resource| path_of(resource) == super::uri_path::escape_path(path));
        match scanned {
            Some(resource) => assert_eq!(one, [Scanned::Changed(resource.clone())], "{path}"),
            None => assert!(!matches!(one[..], [Scanned::Changed(_), ..]), "{path}: {one:?}"),
        }
    }
    records.into_keys().collect::<Vec<_>>().join("\n")
}
