//! What is left out without being asked: version control, installed dependencies, secrets; and stores, always.

use std::ffi::OsStr;

use memchr::memmem;

use super::beneath::Folder;

/// Folders (or, for worktrees and submodules, files) of version control.
const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".svn", ".jj", ".bzr", ".pijul", "_darcs", ".sl"];

/// Folders that tools fill with what can be installed or computed again.
const DEPENDENCIES: &[&str] = &[
    "node_modules",
    "bower_components",
    "jspm_packages",
    "__pycache__",
    ".venv",
    ".tox",
    ".nox",
    ".eggs",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".gradle",
    ".terraform",
];

/// Folders with an everyday name that are dependencies or build output only beside one of these files.
///
/// `vendor` alone is kept: in a company's documents it is a folder about vendors.
const DEPENDENCIES_BESIDE: &[(&str, &[&str])] = &[
    ("target", &["Cargo.toml", "pom.xml"]),
    ("vendor", &["go.mod", "composer.json", "Cargo.toml", "Gemfile"]),
];

/// Folders that are known by a file inside them: `CVS` may as well be a folder of CVs.
const KNOWN_INSIDE: &[(Option<&str>, &str)] = &[(Some("CVS"), "Entries"), (None, "pyvenv.cfg")];

/// Names of files that usually hold secrets: literal, or with one `*` at an end. Compared in lower case.
const SECRETS: &[&str] = &[
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "*.pem",
    "*.key",
    "*.p8",
    "*.p12",
    "*.pfx",
    "*.ppk",
    "*.jks",
    "*.keystore",
    "*.keytab",
    "*.kdb",
    "*.kdbx",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".htpasswd",
    ".dockercfg",
    ".git-credentials",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "credentials.yml",
    "credentials.yaml",
    "client_secret.json",
    "kubeconfig",
];

/// Settings files that hold secrets only when one of these keys has a value.
const SECRET_SETTINGS: &[(&str, &[&str])] = &[
    (".npmrc", &["_authToken", "_auth", "_password"]),
    (".yarnrc.yml", &["npmAuthToken", "npmAuthIdent"]),
    (".pypirc", &["password"]),
];

/// Base64 characters on one line that make a PEM body a key rather than an example with dots.
const PEM_LINE_CHARACTERS_MIN: usize = 40;

/// Whether `name`, a folder or file of `parent`, belongs to version control.
pub(super) fn is_version_control(name: &str) -> bool {
    VERSION_CONTROL.contains(&name)
}

/// Whether the sub-folder `name` of `parent` is left out: version control or dependencies.
pub(super) fn is_left_out_folder(parent: &Folder, name: &str) -> bool {
    if is_version_control(name) || DEPENDENCIES.contains(&name) {
        return true;
    }
    let beside = DEPENDENCIES_BESIDE
        .iter()
        .any(|(folder, files)| *folder == name && files.iter().any(|file| parent.holds(file)));
    if beside {
        return true;
    }
    let Ok(folder) = parent.open_folder(OsStr::new(name)) else {
        return false;
    };
    KNOWN_INSIDE
        .iter()
        .any(|(known, inside)| known.is_none_or(|known| known == name) && folder.holds(inside))
}

/// Whether the folder holds a store of Pressmark, or is a folder of RocksDB, as a store's inner folder and a copy of one
/// are. Its files are the served documents over again, with those of other spaces and the secret of the cursors.
pub(super) fn is_store(folder: &Folder) -> bool {
    (folder.holds("LOCK") && folder.holds("store/CURRENT"))
        || (folder.holds("CURRENT") && folder.holds("IDENTITY"))
}

/// The rule by which the file `name` usually holds secrets.
pub(super) fn secret_rule(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    SECRETS.iter().copied().find(|rule| {
        if let Some(end) = rule.strip_prefix('*') {
            name.ends_with(end)
        } else if let Some(start) = rule.strip_suffix('*') {
            name.starts_with(start)
        } else {
            name == *rule
        }
    })
}

/// Why these bytes, the content of the file `name`, are a secret.
pub(super) fn secret_content(name: &str, bytes: &[u8]) -> Option<&'static str> {
    if holds_private_key(bytes) {
        return Some("holds a private key");
    }
    let (_, keys) = SECRET_SETTINGS.iter().find(|(file, _)| *file == name)?;
    let sets_secret = bytes
        .split(|&byte| byte == b'\n')
        .any(|line| keys.iter().any(|key| sets(line, key.as_bytes())));
    sets_secret.then_some("holds a token or password")
}

/// Whether a line gives `key` a value of its own; one that names an environment variable is none.
fn sets(line: &[u8], key: &[u8]) -> bool {
    let Some(start) = memmem::find(line, key) else {
        return false;
    };
    let before = line.get(..start).unwrap_or_default();
    if before.iter().any(|byte| matches!(byte, b'#' | b';')) {
        return false;
    }
    let rest = line.get(start + key.len()..).unwrap_or_default().trim_ascii_start();
    let Some((b'=' | b':', value)) = rest.split_first() else {
        return false;
    };
    let value = value.trim_ascii();
    let value = value.strip_prefix(b"\"").unwrap_or(value);
    !value.is_empty() && !value.starts_with(b"$")
}

/// Whether a PEM private key (RFC 7468 section 10 and its older relatives) stands in these bytes.
///
/// A file that begins with the armour is one. Elsewhere, as in JSON or a handbook's page, the armour counts only when
/// a line of a real key's length follows: documentation that shows the shape of a key is served.
fn holds_private_key(bytes: &[u8]) -> bool {
    const BEGIN: &[u8] = b"-----BEGIN ";
    const END: &[u8] = b"PRIVATE KEY-----";
    const LABEL_BYTES_MAX: usize = 32;
    let content_start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    memmem::find_iter(bytes, BEGIN).any(|start| {
        let rest = bytes.get(start..).unwrap_or_default();
        let label = rest.get(BEGIN.len()..).unwrap_or_default();
        let head = label.get(..label.len().min(LABEL_BYTES_MAX)).unwrap_or_default();
        let Some(end) = memmem::find(head, END) else {
            return false;
        };
        let body = label.get(end + END.len()..).unwrap_or_default();
        rest.len() == content_start.len() || begins_with_key_line(body)
    })
}

/// Whether a line of base64 follows, after headers such as `Proc-Type:`; JSON writes line ends as `\n`.
fn begins_with_key_line(body: &[u8]) -> bool {
    const HEADER_BYTES_MAX: usize = 512;
    let head = body.get(..body.len().min(HEADER_BYTES_MAX)).unwrap_or_default();
    let armour_end = memmem::find(head, b"-----").unwrap_or(head.len());
    let head = head.get(..armour_end).unwrap_or_default();
    head.split(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')))
        // A `\n` of JSON leaves its `n` in front, which does not matter to the length.
        .any(|run| run.len() >= PEM_LINE_CHARACTERS_MIN)
}
