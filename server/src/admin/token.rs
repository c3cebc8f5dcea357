//! The token that a caller of the plane shows beyond loopback: `authorization: Bearer TOKEN` (RFC 6750).

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use tonic::metadata::AsciiMetadataValue;
use tonic::{Request, Status};

/// What is shorter could be guessed.
const TOKEN_BYTES_MIN: usize = 16;
/// What is longer is another file.
const TOKEN_BYTES_MAX: u64 = 4096;
/// How the token is shown.
const SCHEME: &[u8] = b"Bearer";
/// Bits of a file's mode that let others than its owner look into it.
const OTHERS: u32 = 0o077;

/// Who may call the plane.
#[derive(Clone)]
pub enum Callers {
    /// Whoever reaches it: programs of this machine.
    Anyone,
    /// Who shows the token.
    With(Token),
}

/// A token.
#[derive(Clone)]
pub struct Token {
    /// `Bearer TOKEN`.
    header: AsciiMetadataValue,
    /// Of the token alone.
    hash: blake3::Hash,
}

// === impl Token ===

impl Token {
    /// Reads the token that stands alone in a file.
    ///
    /// # Errors
    /// What is wrong with the file, and what to do about it.
    pub fn read(path: &Path) -> Result<Token, String> {
        let fault = |reason: &str| format!("{}: {reason}", path.display());
        let file = File::open(path).map_err(|error| fault(&error.to_string()))?;
        let metadata = file.metadata().map_err(|error| fault(&error.to_string()))?;
        if !metadata.is_file() {
            return Err(fault("it is no file: the token stands alone in one"));
        }
        if metadata.mode() & OTHERS != 0 {
            return Err(fault("others may read the token: `chmod 600` keeps it"));
        }
        let mut text = String::new();
        file.take(TOKEN_BYTES_MAX)
            .read_to_string(&mut text)
            .map_err(|error| fault(&error.to_string()))?;
        Token::new(text.trim()).map_err(|reason| fault(&reason))
    }

    fn new(token: &str) -> Result<Token, String> {
        let is_plain = |byte: u8| byte.is_ascii_graphic();
        if token.len() < TOKEN_BYTES_MIN || !token.bytes().all(is_plain) {
            return Err(format!(
                "a token has at least {TOKEN_BYTES_MIN} printable ASCII characters and no spaces; `openssl rand -hex 32` makes one"
            ));
        }
        let text = format!("Bearer {token}");
        let header =
            AsciiMetadataValue::try_from(text.as_str()).map_err(|error| error.to_string())?;
        Ok(Token { hash: blake3::hash(token.as_bytes()), header })
    }

    /// What goes into the `authorization` header.
    pub(super) fn header(&self) -> &AsciiMetadataValue {
        &self.header
    }
}

impl Callers {
    /// Lets a request through, or not.
    pub(super) fn admit(&self, request: Request<()>) -> Result<Request<()>, Status> {
        let Callers::With(token) = self else { return Ok(request) };
        let shown = request.metadata().get("authorization").map(AsciiMetadataValue::as_bytes);
        let shown = shown.and_then(shown_token);
        // Hashes are compared in constant time, whatever was shown.
        if shown.is_some_and(|shown| blake3::hash(shown) == token.hash) {
            return Ok(request);
        }
        if shown.is_some() {
            return Err(Status::unauthenticated(
                "the token is not the one of this plane; `pressmark` sends that of --admin-token-file",
            ));
        }
        Err(Status::unauthenticated(
            "this plane wants the header `authorization: Bearer TOKEN`; `pressmark` sends that of --admin-token-file",
        ))
    }
}

/// What follows the scheme, whose name may be in either case (RFC 9110 section 11.1).
fn shown_token(header: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = header.split_at_checked(SCHEME.len())?;
    let rest = scheme.eq_ignore_ascii_case(SCHEME).then_some(rest)?.strip_prefix(b" ")?;
    // There may be several spaces (RFC 9110 section 11.4).
    Some(rest.trim_ascii_start())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_secret_and_long_enough() {
        let folder = tempfile::tempdir().unwrap();
        for (text, mode, reason) in [
            ("0123456789abcdef\n", 0o600, None),
            ("0123456789abcdef", 0o640, Some("others may read")),
            ("short\n", 0o600, Some("at least 16")),
            ("0123456789 abcdef", 0o600, Some("no spaces")),
            ("", 0o600, Some("at least 16")),
        ] {
            let path = folder.path().join("token");
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let said = Token::read(&path).err();
            assert_eq!(said.is_some(), reason.is_some(), "{text:?}: {said:?}");
            assert!(said.unwrap_or_default().contains(reason.unwrap_or_default()), "{text:?}");
        }
        let said = Token::read(folder.path()).err().unwrap();
        assert!(said.contains("it is no file"), "{said}");
        let missing = Token::read(&folder.path().join("none")).err().unwrap();
        assert!(missing.contains("none: "), "{missing}");
    }

    #[test]
    fn only_the_token_lets_in() {
        let callers = Callers::With(Token::new("0123456789abcdef").unwrap());
        for (header, is_let_in) in [
            (Some("Bearer 0123456789abcdef"), true),
            (Some("bearer 0123456789abcdef"), true),
            (Some("BEARER 0123456789abcdef"), true),
            (Some("Basic 0123456789abcdef"), false),
            (Some("Bearer  0123456789abcdef"), true),
            (Some("Bearer0123456789abcdef"), false),
            (Some("Bearer"), false),
            (Some("Bearer 0123456789abcdeg"), false),
            (Some("Bearer 0123456789abcdef "), false),
            (Some("0123456789abcdef"), false),
            (Some(""), false),
            (None, false),
        ] {
            let mut request = Request::new(());
            if let Some(header) = header {
                request.metadata_mut().insert("authorization", header.parse().unwrap());
            }
            assert_eq!(callers.admit(request).is_ok(), is_let_in, "{header:?}");
        }
        assert!(Callers::Anyone.admit(Request::new(())).is_ok());
    }
}
