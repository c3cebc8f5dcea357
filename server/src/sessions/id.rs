//! Ids of sessions: signed, so that a process knows those that were given out before it started.

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::mcp::protocol::Revision;

/// An id of 32 bytes, 64 lower-case hexadecimal digits on the wire: what it says in the clear, and the code that
/// authenticates that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId([u8; ID_BYTES]);

/// What signs ids. It comes from the store, so that it outlives the process.
#[derive(Clone)]
pub struct SessionKey([u8; 32]);

/// What an authentic id says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) revision: Revision,
    /// How long ago the id was given out; nothing where the clock was set back since.
    pub(super) age: Duration,
}

const ID_BYTES: usize = 32;
const MAC_BYTES: usize = 16;
/// Version, revision, time and random bytes.
const CLEAR_BYTES: usize = ID_BYTES - MAC_BYTES;
const RANDOM_BYTES: usize = 7;
const VERSION: u8 = 1;

// === impl SessionKey ===

impl SessionKey {
    /// What the store's secret is derived for.
    pub const PURPOSE: &str = "pressmark 2026-12 ids of sessions";

    /// A key made of a secret that serves nothing else.
    pub fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// A new id.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub(super) fn sign(
        &self,
        revision: Revision,
        now: SystemTime,
    ) -> Result<SessionId, getrandom::Error> {
        let mut random = [0; RANDOM_BYTES];
        getrandom::fill(&mut random)?;
        let mut bytes = Vec::with_capacity(ID_BYTES);
        bytes.push(VERSION);
        bytes.extend_from_slice(&date(revision).to_be_bytes());
        bytes.extend_from_slice(&seconds(now).to_be_bytes());
        bytes.extend_from_slice(&random);
        bytes.extend_from_slice(&self.mac(&bytes));
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&bytes);
        Ok(SessionId(id))
    }

    /// What the id says, if this key signed it.
    pub(super) fn verify(&self, id: &SessionId, now: SystemTime) -> Option<Said> {
        let (clear, given) = id.0.split_first_chunk::<CLEAR_BYTES>()?;
        // Compared without an early end, so that time does not tell how much of a guess is right.
        let difference = self.mac(clear).iter().zip(given).fold(0, |sum, (a, b)| sum | (a ^ b));
        if difference != 0 {
            return None;
        }
        let (&VERSION, rest) = clear.split_first()? else { return None };
        let (revision, rest) = rest.split_first_chunk()?;
        let (issued, _) = rest.split_first_chunk()?;
        let revision = u32::from_be_bytes(*revision);
        let revision = Revision::ALL.into_iter().find(|known| date(*known) == revision)?;
        let age = seconds(now).saturating_sub(u32::from_be_bytes(*issued));
        Some(Said { revision, age: Duration::from_secs(age.into()) })
    }

    fn mac(&self, clear: &[u8]) -> [u8; MAC_BYTES] {
        let mut mac = [0; MAC_BYTES];
        blake3::Hasher::new_keyed(&self.0).update(clear).finalize_xof().fill(&mut mac);
        mac
    }
}

/// A revision's name as a number, such as 20251125: it stays the same when others come.
fn date(revision: Revision) -> u32 {
    revision
        .name()
        .bytes()
        .filter_map(|byte| char::from(byte).to_digit(10))
        .fold(0, |date, digit| date * 10 + digit)
}

/// Seconds since 1970, which fit until 2106.
fn seconds(time: SystemTime) -> u32 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u32::try_from(since.as_secs()).unwrap_or(u32::MAX)
}

// === impl SessionId ===

impl SessionId {
    /// The id that this text spells.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() != 2 * ID_BYTES {
            return None;
        }
        let mut bytes = [0; ID_BYTES];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            for digit in digits {
                let digit = match digit {
                    b'0'..=b'9' => digit - b'0',
                    b'a'..=b'f' => digit - b'a' + 10,
                    _ => return None,
                };
                *byte = *byte << 4 | digit;
            }
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> SessionKey {
        SessionKey::new([byte; 32])
    }

    #[test]
    fn an_id_says_its_revision_and_age_to_the_key_that_signed_it() {
        let issued = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        for revision in Revision::ALL {
            let id = key(1).sign(revision, issued).unwrap();
            for (later, age) in [(90, 90), (0, 0)] {
                let age = Duration::from_secs(age);
                let now = issued + Duration::from_secs(later);
                assert_eq!(key(1).verify(&id, now), Some(Said { revision, age }));
            }
            let before = issued - Duration::from_secs(60);
            assert_eq!(key(1).verify(&id, before).unwrap().age, Duration::ZERO);
            assert_eq!(key(2).verify(&id, issued), None);
        }
    }

    #[test]
    fn no_changed_bit_passes() {
        let now = SystemTime::now();
        let id = key(1).sign(Revision::V2025_11_25, now).unwrap();
        for at in 0..ID_BYTES * 8 {
            let mut changed = id;
            changed.0[at / 8] ^= 1 << (at % 8);
            assert_eq!(key(1).verify(&changed, now), None, "{at}");
        }
    }

    #[test]
    fn ids_are_spelled_in_one_way() {
        let id = key(1).sign(Revision::V2025_11_25, SystemTime::now()).unwrap();
        let text = id.to_string();
        assert_eq!(SessionId::parse(&text), Some(id));
        let upper = text.to_uppercase();
        for wrong in [
            &upper,
            &text[1..],
            "",
            "0123456789abcdef0123456789abcdef",
            &format!("+{}", &text[1..]),
        ] {
            assert!(SessionId::parse(wrong).is_none(), "{wrong}");
        }
    }
}
