//! The revisions, and what each of them has.

use pressmark_index::contents_fragment::WireFields;

use crate::error::Code;

/// A released revision of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    /// The first.
    V2024_11_05,
    /// Brought Streamable HTTP, batches and tool annotations.
    V2025_03_26,
    /// Brought titles, `_meta`, structured tool results and resource links; took batches away.
    V2025_06_18,
    /// Brought icons, and wrong tool arguments as results that the model reads.
    V2025_11_25,
    /// Stateless: `_meta` on each request, no `initialize`, cache hints.
    V2026_07_28,
}

/// How a request says what it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// By an `initialize` before it.
    Legacy,
    /// By its own `_meta`.
    Modern,
}

// === impl Revision ===

impl Revision {
    /// What an `initialize` is answered with that asks for something else.
    pub const LATEST_LEGACY: Revision = Revision::V2025_11_25;

    /// What a legacy HTTP request without header and session speaks (2025-11-25, transports).
    pub const WITHOUT_HEADER: Revision = Revision::V2025_03_26;

    /// The first revision of the modern era.
    pub const FIRST_MODERN: Revision = Revision::V2026_07_28;

    /// The revisions that a modern request may name; `supported` of the error and of discovery.
    ///
    /// The legacy ones are served too, but a request cannot choose them by its `_meta`.
    pub const MODERN: [Revision; 1] = [Revision::V2026_07_28];

    /// Every revision, oldest first.
    pub const ALL: [Revision; 5] = [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ];

    /// The revision of that name.
    pub fn parse(name: &str) -> Option<Self> {
        let revision = match name {
            "2026-07-28" => Revision::V2026_07_28,
            "2025-11-25" => Revision::V2025_11_25,
            "2025-06-18" => Revision::V2025_06_18,
            "2025-03-26" => Revision::V2025_03_26,
            "2024-11-05" => Revision::V2024_11_05,
            _ => return None,
        };
        Some(revision)
    }

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era it belongs to.
    pub fn era(self) -> Era {
        if self >= Revision::FIRST_MODERN { Era::Modern } else { Era::Legacy }
    }

    /// The optional fields of resources, templates and contents that its schema has.
    pub fn wire_fields(self) -> WireFields {
        WireFields {
            title: self.has_titles(),
            icons: self >= Revision::V2025_11_25,
            meta: self >= Revision::V2025_06_18,
            last_modified: self >= Revision::V2025_06_18,
        }
    }

    /// `title` of implementations, resources, templates and tools.
    pub fn has_titles(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// `annotations` of tools.
    pub fn has_tool_annotations(self) -> bool {
        self >= Revision::V2025_03_26
    }

    /// `outputSchema`, `structuredContent` and resource links.
    pub fn has_structured_content(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// Sounds among the contents of messages and results.
    pub fn has_audio(self) -> bool {
        self >= Revision::V2025_03_26
    }

    /// Structured content that is no object.
    pub fn has_structured_values(self) -> bool {
        self >= Revision::V2026_07_28
    }

    /// `message` of progress.
    pub fn has_progress_messages(self) -> bool {
        self >= Revision::V2025_03_26
    }

    /// The capability `completions`; the first revision has the method without it.
    pub fn declares_completions(self) -> bool {
        self >= Revision::V2025_03_26
    }

    /// `context` of completion: variables that are chosen already.
    pub fn has_completion_context(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// A body may be an array of messages.
    pub fn has_batches(self) -> bool {
        self == Revision::V2025_03_26
    }

    /// The code for a resource that is not there.
    pub fn not_found_code(self) -> Code {
        match self.era() {
            Era::Legacy => Code::ResourceNotFound,
            Era::Modern => Code::InvalidParams,
        }
    }
}
