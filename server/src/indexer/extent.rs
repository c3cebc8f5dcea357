//! Which stored URIs of a source lie in the scope of a scan.

use std::path::Path;

use pressmark_index::catalog::Space;
use pressmark_index::engine::Engine;
use pressmark_index::error::Error;
use pressmark_index::resource_uri::escape_path;

use super::pass::uri_of;
use crate::sources::Scope;

/// URIs by name, and by what they begin with.
pub(super) struct Extent {
    exact: Vec<String>,
    prefixes: Vec<String>,
}

impl Extent {
    /// Names that are not UTF-8 stand in no URI.
    pub(super) fn new(space: &Space, scope: Scope<'_>) -> Self {
        let mut extent = Self { exact: Vec::new(), prefixes: Vec::new() };
        match scope {
            Scope::Whole => extent.prefixes.extend(prefix_of(space, "")),
            Scope::Entries(entries) => {
                for (folder, names) in entries {
                    for name in names {
                        extent.add(space, &folder.join(name));
                    }
                }
            }
        }
        extent
    }

    /// The file at `path`, and all beneath the folder at `path`.
    fn add(&mut self, space: &Space, path: &Path) {
        let Some(path) = path.to_str().map(escape_path) else { return };
        self.exact.extend(uri_of(space, &path));
        self.prefixes.extend(prefix_of(space, &format!("{path}/")));
    }

    /// Calls `visit` with each URI in it that came from the source.
    pub(super) fn each_known(
        &self,
        engine: &Engine,
        source_id: u64,
        visit: &mut dyn FnMut(&str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for uri in &self.exact {
            if engine.source_fingerprint(source_id, uri)?.is_some() {
                visit(uri)?;
            }
        }
        for prefix in &self.prefixes {
            engine.each_of_source_beneath(source_id, prefix, &mut *visit)?;
        }
        Ok(())
    }
}

/// What the URIs of all paths that begin with `path` have in common: a template may go on after the path, so it is what
/// the URIs of two such paths share.
fn prefix_of(space: &Space, path: &str) -> Option<String> {
    let (one, other) = (uri_of(space, &format!("{path}A"))?, uri_of(space, &format!("{path}B"))?);
    let shared = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one.get(..shared).map(str::to_owned)
}
