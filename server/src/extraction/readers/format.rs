//! Which of our readers a MIME type has, and which types are source code.

/// How the text of a resource is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::extraction) enum Format {
    /// The text is the resource itself.
    Plain,
    Html,
    Markdown,
    Json,
    /// A Jupyter notebook.
    Notebook,
    /// XML whose elements are markup around words: drawings.
    Drawing,
    /// XML whose elements are part of what it says.
    Xml,
    Word,
    Slides,
    Sheets,
    OpenDocument,
    Book,
    Pdf,
    /// None of ours.
    Unknown,
}

/// A type without parameters, in lower case.
pub(in crate::extraction) fn essence(mime_type: &str) -> String {
    let end = mime_type.find(';').unwrap_or(mime_type.len());
    mime_type.get(..end).unwrap_or_default().trim().to_ascii_lowercase()
}

const OOXML: &str = "application/vnd.openxmlformats-officedocument.";
const ODF: &str = "application/vnd.oasis.opendocument.";

impl Format {
    /// The format of a type's essence.
    pub(in crate::extraction) fn of(essence: &str) -> Self {
        match essence {
            "text/html" | "application/xhtml+xml" => Self::Html,
            "text/markdown" | "text/mdx" | "text/x-markdown" => Self::Markdown,
            "application/x-ipynb+json" => Self::Notebook,
            "application/json" | "text/json" | "application/json5" | "application/x-ndjson" => {
                Self::Json
            }
            "image/svg+xml" => Self::Drawing,
            "text/xml" | "application/xml" => Self::Xml,
            "application/pdf" => Self::Pdf,
            "application/epub+zip" => Self::Book,
            "application/vnd.ms-word.document.macroenabled.12" => Self::Word,
            "application/vnd.ms-powerpoint.presentation.macroenabled.12" => Self::Slides,
            "application/vnd.ms-excel.sheet.macroenabled.12" => Self::Sheets,
            _ => Self::by_family(essence),
        }
    }

    /// Whether a text of it goes through a parser.
    pub(in crate::extraction) fn is_parsed_as_text(self) -> bool {
        matches!(self, Self::Html | Self::Markdown | Self::Notebook | Self::Drawing)
    }

    /// Whether a blob of it goes through a parser.
    pub(in crate::extraction) fn is_parsed(self) -> bool {
        !matches!(self, Self::Plain | Self::Json | Self::Xml | Self::Unknown)
    }

    /// Whether a text of it is its own text.
    pub(super) fn is_as_stored(self) -> bool {
        !(self.is_parsed_as_text() || matches!(self, Self::Json | Self::Xml))
    }

    fn by_family(essence: &str) -> Self {
        if let Some(kind) = essence.strip_prefix(OOXML) {
            return match kind.split('.').next() {
                Some("wordprocessingml") => Self::Word,
                Some("presentationml") => Self::Slides,
                Some("spreadsheetml") => Self::Sheets,
                _ => Self::Unknown,
            };
        }
        if essence.starts_with(ODF) {
            return Self::OpenDocument;
        }
        if essence.ends_with("+json") {
            return Self::Json;
        }
        if essence.ends_with("+xml") {
            return Self::Xml;
        }
        if essence.starts_with("text/") || is_code(essence) {
            return Self::Plain;
        }
        Self::Unknown
    }
}

/// Types under `text/x-` that are prose all the same.
const PROSE: [&str; 7] = ["bibtex", "diff", "java-properties", "log", "markdown", "rst", "tex"];

/// Types of programs and of settings that `text/x-` does not show.
const CODE: [&str; 16] = [
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/json",
    "application/json5",
    "application/sql",
    "application/toml",
    "application/typescript",
    "application/x-httpd-php",
    "application/x-javascript",
    "application/x-sh",
    "application/yaml",
    "text/css",
    "text/javascript",
    "text/jsx",
    "text/less",
];

/// Whether the words of such a text are mostly identifiers.
pub(super) fn is_code(essence: &str) -> bool {
    match essence.strip_prefix("text/x-") {
        Some(name) => !PROSE.contains(&name),
        None => CODE.contains(&essence),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_lead_to_their_readers() {
        for (mime_type, format, code) in [
            ("text/plain", Format::Plain, false),
            ("Text/HTML; charset=utf-8", Format::Html, false),
            ("text/markdown;variant=GFM", Format::Markdown, false),
            ("text/x-rust", Format::Plain, true),
            ("text/x-rst", Format::Plain, false),
            ("text/csv", Format::Plain, false),
            ("application/sql", Format::Plain, true),
            ("application/geo+json", Format::Json, false),
            ("application/json", Format::Json, true),
            ("application/atom+xml", Format::Xml, false),
            ("image/svg+xml", Format::Drawing, false),
            (
                "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
                Format::Word,
                false,
            ),
            (
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                Format::Sheets,
                false,
            ),
            ("application/vnd.oasis.opendocument.presentation", Format::OpenDocument, false),
            ("application/msword", Format::Unknown, false),
            ("image/png", Format::Unknown, false),
            ("", Format::Unknown, false),
        ] {
            let essence = essence(mime_type);
            assert_eq!((Format::of(&essence), is_code(&essence)), (format, code), "{mime_type}");
        }
    }
}
