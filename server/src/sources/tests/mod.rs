//! Generated trees, scanned through the public interface.

mod kinds;
mod media_types;
mod names;
mod patterns;
mod records;
mod selection;
mod spaces;

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use pressmark_index::resource::{Address, Resource, Value};
use tempfile::TempDir;

use super::{FolderSource, ScanReport, Scanned};

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
        .scan(&|_| None, &mut |scanned| {
            all.push(scanned);
            ControlFlow::Continue(())
        })
        .unwrap();
    (all, report)
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
            Scanned::Refused { path, reason } => Some((path, reason)),
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

/// The served paths, one a line, and that `read_one` agrees about each of `asked`.
fn served(source: &FolderSource, asked: &[(&str, &str)]) -> String {
    let records = records(source);
    for (path, _) in asked.iter().filter(|(path, _)| !path.ends_with('/')) {
        let one = source.read_one(Path::new(path));
        let scanned = records
            .values()
            .find(|resource| path_of(resource) == super::uri_path::escape_path(path));
        match scanned {
            Some(resource) => assert_eq!(one, Scanned::Changed(resource.clone()), "{path}"),
            None => assert!(!matches!(one, Scanned::Changed(_)), "{path}: {one:?}"),
        }
    }
    records.into_keys().collect::<Vec<_>>().join("\n")
}
