//! From the command line to an open engine: configuration, data directory, spaces.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pressmark_index::engine::{Engine, EngineOptions};
use pressmark_index::error::ErrorKind;
use pressmark_index::space::SpaceSettings;
use pressmark_index::uri_template::UriTemplate;
use rustix::fs::Mode;

use super::Common;
use super::output::chain;
use crate::admin::place;
use crate::config::{Config, DataDirEnvironment, DataDirSeed, default_data_dir, line_of_key};
use crate::indexer::{self, Plan};
use crate::sharing::Served;
use crate::sources::{self, FolderSource, SourceError};

/// The file that is taken when none is named and there are no PATHs.
const CONFIG_FILE: &str = "pressmark.toml";

const OWNER_ONLY: u32 = 0o700;

/// How often an index that is being made is asked whether it is.
pub(super) const INDEX_POLL: Duration = Duration::from_millis(20);

/// Nobody wonders about a wait of this long.
const MOMENT: Duration = Duration::from_secs(1);
/// An index that failed for this long is not waited for: the first attempts after a fault come within it.
pub(super) const FAILING_MAX: Duration = Duration::from_secs(3);

/// What a command works with.
#[derive(Clone)]
pub(super) struct Setup {
    pub(super) config: Config,
    pub(super) data_dir: PathBuf,
    /// Spaces of the configuration and of the PATHs.
    pub(super) spaces: Vec<SpaceSettings>,
    pub(super) sources: Vec<FolderSource>,
    /// Whether a configuration or PATHs say which folders there are.
    pub(super) folders_said: bool,
    /// The same, for those who take the store over.
    pub(super) served: Option<Served>,
    /// PATHs that cannot be opened now.
    away: Vec<Away>,
}

/// A PATH that cannot be opened now: a disk that is away, or a mistake.
#[derive(Clone)]
struct Away {
    source_id: u64,
    /// What is wrong with it.
    fault: String,
}

/// Reads the configuration alone: what a command needs of it that asks a server.
pub(super) fn configuration(common: &Common) -> Result<Config, String> {
    read_configuration(common, config_file(common, &[]))
}

/// The file that is named, or implied.
fn config_file<'a>(common: &'a Common, paths: &[PathBuf]) -> Option<&'a Path> {
    let implied = Path::new(CONFIG_FILE);
    match &common.config {
        Some(file) => Some(file.as_path()),
        None => {
            Some(implied).filter(|file| paths.is_empty() && common.data.is_none() && file.is_file())
        }
    }
}

/// `FILE:LINE: ` of a key in the configuration that is read, for faults that show later; empty where it is not found.
pub(super) fn place_of_key(common: &Common, paths: &[PathBuf], table: &str, key: &str) -> String {
    let Some(file) = config_file(common, paths) else { return String::new() };
    let line = std::fs::read_to_string(file).ok().and_then(|text| line_of_key(&text, table, key));
    line.map_or_else(String::new, |line| format!("{}:{line}: ", file.display()))
}

fn read_configuration(common: &Common, file: Option<&Path>) -> Result<Config, String> {
    let read = match (&common.config, file) {
        (_, None) => return Ok(Config::default()),
        (Some(_), Some(file)) => Config::load(file, &check_template),
        // The current folder may be anybody's.
        (None, Some(file)) => Config::load_found(file, &check_template),
    };
    read.map_err(|error| chain(&error))
}

/// Reads the configuration and finds the data directory; opens nothing.
pub(super) fn setup(common: &Common, paths: &[PathBuf]) -> Result<Setup, String> {
    let file = config_file(common, paths);
    let config = read_configuration(common, file)?;
    let folders = sources::folder_spaces(paths).map_err(|error| chain(&error))?;
    let away = paths.iter().zip(&folders).filter_map(|(path, (_, source))| away(path, source));
    let away: Vec<_> = away.collect();
    let mut spaces: Vec<_> = config.spaces.iter().map(|space| space.settings.clone()).collect();
    let mut sources = config.sources.clone();
    for (settings, source) in folders {
        if spaces.iter().any(|space| space.name == settings.name) {
            return Err(format!(
                "{}: the configuration has a space `{}` already; name the folder there as a [[source]]",
                source.root.display(),
                settings.name
            ));
        }
        spaces.push(settings);
        sources.push(source);
    }
    let data_dir = match (&common.data, &config.storage.path) {
        (Some(data), _) => data.clone(),
        (None, Some(path)) => path.clone(),
        (None, None) if file.is_none() && paths.is_empty() => data_of_environment().ok_or(
            "which store? Name it with --data DIR or --config FILE, or a server that runs with --admin ADDRESS",
        )?,
        (None, None) => {
            let environment = environment()?;
            default_data_dir(&DataDirSeed { environment: &environment, config_file: file, paths })
                .ok_or(
                    "where to keep the data? Neither XDG_DATA_HOME nor HOME is set; name a folder with --data DIR",
                )?
        }
    };
    let data_dir = without_detours(&data_dir);
    sources::check_distinct(&sources).map_err(|error| chain(&error))?;
    for source in &mut sources {
        source.data_dir = Some(data_dir.clone());
    }
    if let Some(away) = away.first().filter(|_| !data_dir.join("store").is_dir()) {
        // No store is made for a mistake.
        return Err(away.fault.clone());
    }
    let folders_said = file.is_some() || !paths.is_empty();
    let served = Served::new(&current_dir()?, file, paths);
    Ok(Setup { config, data_dir, spaces, sources, folders_said, served, away })
}

/// Whether something says which store is meant.
pub(super) fn names_a_store(common: &Common, paths: &[PathBuf]) -> bool {
    common.data.is_some()
        || !paths.is_empty()
        || config_file(common, paths).is_some()
        || data_of_environment().is_some()
}

/// The data directory for those who name none.
fn data_of_environment() -> Option<PathBuf> {
    std::env::var_os("PRESSMARK_DATA").filter(|data| !data.is_empty()).map(PathBuf::from)
}

/// The same folder, without `/./` and without `..` behind a folder, as people know it.
fn without_detours(path: &Path) -> PathBuf {
    let components: Vec<_> = path.components().collect();
    let last_up = components.iter().rposition(|part| *part == Component::ParentDir);
    let has_detour = last_up.is_some_and(|at| {
        components.iter().take(at).any(|part| matches!(part, Component::Normal(_)))
    });
    let (Some(last_up), true) = (last_up, has_detour) else {
        let short: PathBuf = components.iter().filter(|part| **part != Component::CurDir).collect();
        return if short.as_os_str().is_empty() { path.to_path_buf() } else { short };
    };
    let (way, rest) = components.split_at(last_up + 1);
    // `..` behind a link leads somewhere else than the text says.
    match way.iter().collect::<PathBuf>().canonicalize() {
        Ok(folder) => folder.join(rest.iter().collect::<PathBuf>()),
        Err(_) => path.to_path_buf(),
    }
}

/// What to work with after taking over the store of an owner that served other folders, and what to say of it: its windows
/// are still there, so that its folders count, and this process's own are for the time when all windows have been closed.
pub(super) fn setup_after(own: &Setup, served: Option<&Served>) -> (Setup, String) {
    let keep_all = |reason: &str| {
        let said =
            format!("documents of folders that are not served any more stay as they are: {reason}");
        // Nothing that is there is forgotten.
        (Setup { folders_said: false, ..own.clone() }, said)
    };
    let Some(served) = served else {
        return keep_all("the process that owned the store did not say which folders it served");
    };
    let common = Common::of_store(served.config.clone(), own.data_dir.clone());
    match setup(&common, &served.paths) {
        Ok(setup) => {
            let said = "this window goes on with the folders of the process that owned the store";
            (setup, said.to_owned())
        }
        Err(reason) => keep_all(&reason),
    }
}

fn current_dir() -> Result<PathBuf, String> {
    std::env::current_dir().map_err(|error| format!("the current folder: {error}"))
}

/// What is wrong with a PATH that cannot be opened.
fn away(path: &Path, source: &FolderSource) -> Option<Away> {
    let SourceError::Open { source: error, .. } = source.setting().err()? else { return None };
    let error = SourceError::Open { path: path.to_path_buf(), source: error };
    Some(Away { source_id: source.source_id(), fault: chain(&error) })
}

fn environment() -> Result<DataDirEnvironment, String> {
    let current_dir = current_dir()?;
    let folder = |name| std::env::var_os(name).map(PathBuf::from);
    Ok(DataDirEnvironment {
        xdg_data_home: folder("XDG_DATA_HOME"),
        home: folder("HOME"),
        current_dir,
    })
}

fn check_template(template: &str) -> Result<(), String> {
    UriTemplate::parse(template)
        .and_then(|template| template.check_scheme().and_then(|()| template.matcher()))
        .map(drop)
        .map_err(|error| error.to_string())
}

impl Setup {
    /// What the indexer works by.
    pub(super) fn plan(&self) -> Plan {
        Plan {
            sources: self.sources.clone(),
            spaces: self.spaces.iter().map(|space| space.name.clone()).collect(),
            folders_said: self.folders_said,
        }
    }
}

/// Opens the store, or makes it, and brings the configured spaces into it.
pub(super) fn open(setup: &Setup, command: &str) -> Result<Arc<Engine>, NotOpened> {
    let engine = open_or_make(setup, command)?;
    put_spaces(setup, &engine)?;
    Ok(engine)
}

/// Why a store was not opened.
#[derive(Debug)]
pub(super) enum NotOpened {
    /// Another process owns it, which the text names.
    Owned(String),
    /// What is wrong.
    Refused(String),
}

impl From<String> for NotOpened {
    fn from(text: String) -> Self {
        Self::Refused(text)
    }
}

impl From<NotOpened> for String {
    fn from(not_opened: NotOpened) -> Self {
        match not_opened {
            NotOpened::Owned(text) | NotOpened::Refused(text) => text,
        }
    }
}

/// The same, and removes the spaces whose folders are no longer given: only who serves says which folders there are.
pub(super) fn open_to_serve(setup: &Setup, command: &str) -> Result<Arc<Engine>, NotOpened> {
    let engine = open_or_make(setup, command)?;
    let known = engine.source_ids().map_err(|error| chain(&error))?;
    if let Some(away) = setup.away.iter().find(|away| !known.contains(&away.source_id)) {
        // Nothing ever came from there: more likely a mistake than a disk that is away.
        return Err(away.fault.clone().into());
    }
    indexer::remove_dropped_spaces(&engine, &setup.plan()).map_err(|error| chain(&error))?;
    put_spaces(setup, &engine)?;
    Ok(engine)
}

fn open_or_make(setup: &Setup, command: &str) -> Result<Arc<Engine>, NotOpened> {
    for folder in [setup.data_dir.clone(), setup.data_dir.join("store")] {
        make_private(&folder)
            .map_err(|error| format!("{}: the folder cannot be made: {error}", folder.display()))?;
    }
    open_as_it_is(setup, &options(setup, command))
}

/// Brings the configured spaces into the store; returns how many were not as they should be.
pub(super) fn put_spaces(setup: &Setup, engine: &Engine) -> Result<usize, String> {
    let mut changed = 0;
    for settings in &setup.spaces {
        let known = engine.spaces();
        if known.by_name(&settings.name).is_none_or(|space| space.settings != *settings) {
            engine.put_space(settings.clone()).map_err(|error| chain(&error))?;
            changed += 1;
        }
    }
    Ok(changed)
}

/// Makes a folder for nobody but its owner, whatever the umask says: the store holds what the folders' own modes may
/// keep from others. One that is there keeps its mode.
fn make_private(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(OWNER_ONLY).create(folder)?;
    std::fs::set_permissions(folder, Permissions::from_mode(OWNER_ONLY))
}

/// Opens the store with these options; whoever only looks leaves the full-text index out of them.
fn open_as_it_is(setup: &Setup, options: &EngineOptions) -> Result<Arc<Engine>, NotOpened> {
    // Whatever mode the data directory has, what is made in it is for its owner only.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    let engine = Engine::open(&setup.data_dir, options).map_err(|error| match error.kind() {
        ErrorKind::Locked => NotOpened::Owned(chain(&error)),
        _ => NotOpened::Refused(chain(&error)),
    })?;
    place::forget(&setup.data_dir);
    Ok(Arc::new(engine))
}

/// As the configuration says, for a command.
fn options(setup: &Setup, command: &str) -> EngineOptions {
    let owner = format!("`pressmark {command}` (pid {})", std::process::id());
    // What reads documents is this program as a child of itself, also when another version has taken its place on the disk.
    setup.config.engine_options(owner, Some("/proc/self/exe".into()))
}

/// Opens a store that must be there already, and leaves its spaces as they are: to look at a store is not to change it.
/// Its full-text index is left alone.
pub(super) fn open_existing(setup: &Setup, command: &str) -> Result<Arc<Engine>, NotOpened> {
    check_existing(setup)?;
    open_as_it_is(setup, &EngineOptions { full_text: None, ..options(setup, command) })
}

/// The same with its full-text index, which is brought up to date.
pub(super) fn open_to_search(setup: &Setup, command: &str) -> Result<Arc<Engine>, NotOpened> {
    check_existing(setup)?;
    open_as_it_is(setup, &options(setup, command))
}

fn check_existing(setup: &Setup) -> Result<(), String> {
    let folder = setup.data_dir.display();
    match setup.data_dir.join("store").metadata() {
        Ok(store) if store.is_dir() => Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!(
            "{folder}: the data directory cannot be read: {error}; check its path and that this user may read it"
        )),
        Ok(_) | Err(_) => Err(format!(
            "{folder}: there is no store; check --data, or make one: `pressmark serve FOLDER` of files, `pressmark space add` for records"
        )),
    }
}

/// Waits until all changes can be found; the shell can wait, and half an answer helps nobody. Says so when it takes longer
/// than a moment.
///
/// # Errors
/// Why the index stands still. It is tried again in the background, so a fault that passes is waited for.
pub(super) fn wait_for_full_text(engine: &Engine, common: &Common) -> Result<(), String> {
    let begun = Instant::now();
    let mut told = false;
    let mut failing_since = None;
    while let Some(progress) = engine.full_text_progress() {
        let is_behind = progress.rebuilding.is_some() || progress.indexed_through < progress.newest;
        if let Some(failure) = progress.failure {
            let since: &mut Instant = failing_since.get_or_insert_with(Instant::now);
            if since.elapsed() > FAILING_MAX {
                return Err(format!("the full-text index stands still: {failure}"));
            }
        } else {
            failing_since = None;
            if !is_behind {
                return Ok(());
            }
        }
        if !told && begun.elapsed() > MOMENT {
            common.remark("the full-text index is being brought up to date");
            told = true;
        }
        std::thread::sleep(INDEX_POLL);
    }
    Ok(())
}

/// Says why full text cannot be used, to who wants something else.
pub(super) fn remark_if_failing(common: &Common, waited: Result<(), String>) {
    if let Err(failure) = waited {
        common.remark(&failure);
    }
}
