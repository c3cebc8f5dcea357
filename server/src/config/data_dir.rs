//! The data directory when none is named: the same for the same configuration or paths, whatever folder a host starts
//! us in.

use std::path::{Path, PathBuf};

use crate::sources::lexically_absolute;

/// What the default data directory is named after.
#[derive(Debug, Clone, Copy)]
pub struct DataDirSeed<'a> {
    /// What the process found in its environment.
    pub environment: &'a DataDirEnvironment,
    /// The configuration file, if there is one.
    pub config_file: Option<&'a Path>,
    /// The PATHs of the command line; used when there is no configuration file.
    pub paths: &'a [PathBuf],
}

/// What the default data directory takes from the environment; read once at start, so that tests can say it.
#[derive(Debug, Clone, Default)]
pub struct DataDirEnvironment {
    /// `$XDG_DATA_HOME`; a relative one is passed over, as the XDG Base Directory Specification says.
    pub xdg_data_home: Option<PathBuf>,
    /// `$HOME`.
    pub home: Option<PathBuf>,
    /// The folder from which relative paths start.
    pub current_dir: PathBuf,
}

/// Characters of the readable part.
const READABLE_CHARACTERS_MAX: usize = 40;

/// Hexadecimal digits of the hash: 48 bits keep the few directories of one user apart.
const HASH_DIGITS: usize = 12;

/// `$XDG_DATA_HOME/pressmark/<readable>-<hash>`, with `~/.local/share` for the first part; `None` where there is no home
/// either. The current folder would be a place that nobody expects, and another one at each start.
///
/// The hash is of the absolute paths. The order of PATHs does not matter; how they are spelled does, links apart: the
/// file system is not asked.
pub fn default_data_dir(seed: &DataDirSeed<'_>) -> Option<PathBuf> {
    let environment = seed.environment;
    let data_home = data_home(environment)?;
    let absolute = |path: &Path| lexically_absolute(&environment.current_dir, path);
    let (kind, mut paths) = match seed.config_file {
        Some(file) => ("config", vec![absolute(file)]),
        None => ("paths", seed.paths.iter().map(|path| absolute(path)).collect::<Vec<_>>()),
    };
    let readable = match seed.config_file {
        // Most configuration files have the same name; the folder tells them apart.
        Some(_) => paths.first().and_then(|path| path.parent()).map(readable),
        None => paths.first().map(|path| readable(path)),
    };
    paths.sort();
    paths.dedup();
    let mut hasher = blake3::Hasher::new();
    hasher.update(kind.as_bytes());
    for path in &paths {
        hasher.update(&[0]);
        hasher.update(path.as_os_str().as_encoded_bytes());
    }
    let hash = hasher.finalize().to_hex();
    let readable = readable.unwrap_or_else(|| "default".to_owned());
    let short = hash.get(..HASH_DIGITS).unwrap_or(&hash);
    Some(data_home.join("pressmark").join(format!("{readable}-{short}")))
}

fn data_home(environment: &DataDirEnvironment) -> Option<PathBuf> {
    let xdg = environment.xdg_data_home.as_ref().filter(|path| path.is_absolute());
    let home = environment.home.as_ref().filter(|path| path.is_absolute());
    xdg.cloned().or_else(|| home.map(|home| home.join(".local/share")))
}

fn readable(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = crate::sources::slug(&name);
    let end = name.floor_char_boundary(READABLE_CHARACTERS_MAX);
    name.get(..end).unwrap_or(&name).trim_end_matches('-').to_owned()
}
