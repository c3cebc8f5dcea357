//! The column families, by what they hold. Key and value bytes: `docs/storage-format.md`.

/// A column family of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Cf {
    /// Store-wide values: format version, secrets, counters, checkpoints.
    Meta,
    /// URI -> head and contents fragment: the truth, with `Chunks`.
    Contents,
    /// URI, version, part, chunk -> escaped text of a large part.
    Chunks,
    /// URI -> the encoded `Resource` of lists.
    Descriptors,
    /// Space, list order, URI -> ACL id: the order of `resources/list`.
    List,
    /// Undone spelling -> the stored URIs that a host may mean by it.
    Aliases,
    /// Space id -> settings.
    Spaces,
    /// ACL id -> group names.
    Acls,
    /// Sequence number -> what changed.
    Changes,
    /// URI -> the version at which it was deleted.
    Tombstones,
    /// Source id, URI -> fingerprint of the original.
    Sources,
    /// Idempotency key -> the sequence numbers that its commit got.
    Idempotency,
}

impl Cf {
    /// All of them, in the order in which they are opened.
    pub(crate) const ALL: [Cf; 12] = [
        Cf::Meta,
        Cf::Contents,
        Cf::Chunks,
        Cf::Descriptors,
        Cf::List,
        Cf::Aliases,
        Cf::Spaces,
        Cf::Acls,
        Cf::Changes,
        Cf::Tombstones,
        Cf::Sources,
        Cf::Idempotency,
    ];

    /// The name in the store; `meta` is RocksDB's own default family.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Cf::Meta => "default",
            Cf::Contents => "contents",
            Cf::Chunks => "chunks",
            Cf::Descriptors => "descriptors",
            Cf::List => "list",
            Cf::Aliases => "aliases",
            Cf::Spaces => "spaces",
            Cf::Acls => "acls",
            Cf::Changes => "changes",
            Cf::Tombstones => "tombstones",
            Cf::Sources => "sources",
            Cf::Idempotency => "idempotency",
        }
    }
}
