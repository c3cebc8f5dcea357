//! HTML as text: the words that a reader of the page sees, without its menus.
//!
//! A tokenizer does it, and no tree is built: nesting costs a counter, and the time is linear in the page. Elements that
//! are no part of the text (menus, drawings, templates) are taken back when they end, so that one that never ends hides
//! nothing.

use std::rc::Rc;

use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Span, State, Tokenizer, naive_next_state};

use super::html_input::{Input, Progress, TooWide};
use super::text::TextBuilder;
use crate::sources::headline::joins_words;

/// The text of a page, and the language that it declares.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) text: String,
    pub(super) language: Option<String>,
}

/// Reads a page, or any piece of HTML.
pub(super) fn page(html: &str, bytes_max: usize) -> Page {
    let mut reader = Reader::new(TextBuilder::new(bytes_max));
    read(html, &mut reader);
    Page { text: reader.text.finish(), language: reader.language }
}

/// Adds the text of a piece of HTML.
pub(super) fn append(html: &str, text: TextBuilder) -> TextBuilder {
    let mut reader = Reader::new(text);
    read(html, &mut reader);
    reader.text
}

fn read(html: &str, reader: &mut Reader) {
    let (mut tag, mut rest) = (String::new(), html);
    loop {
        let progress = Rc::clone(&reader.progress);
        let input = Input::new(&tag, rest, &progress);
        let mut tokenizer = Tokenizer::new_with_emitter(input, CallbackEmitter::new(&mut *reader));
        let is_wide = loop {
            match tokenizer.next() {
                Some(Ok(Signal::NoMarkup(state))) => tokenizer.set_state(state),
                Some(Err(TooWide)) => break true,
                Some(Ok(Signal::Full)) | None => break false,
            }
        };
        if !is_wide {
            return;
        }
        drop(tokenizer);
        (tag, rest) = progress.after_wide_tag(rest);
    }
}

/// What the tokenizer is told.
enum Signal {
    /// The content of the element that has begun is no markup.
    NoMarkup(State),
    /// Nothing more is needed.
    Full,
}

/// Elements that are no part of the text.
const LEFT_OUT: [&[u8]; 7] =
    [b"nav", b"svg", b"template", b"select", b"object", b"canvas", b"dialog"];

/// Elements whose content is not markup, and no part of the text either.
const RAW: [&[u8]; 9] = [
    b"script",
    b"style",
    b"title",
    b"textarea",
    b"noscript",
    b"iframe",
    b"xmp",
    b"noembed",
    b"noframe",
];

/// Elements that may be left out by an attribute. Those whose end tag is often missing are not among them.
const LEFT_OUT_BY_ATTRIBUTE: [&[u8]; 10] =
    [b"div", b"section", b"aside", b"header", b"footer", b"span", b"ul", b"ol", b"form", b"table"];

/// Elements of which another word begins, on the same line.
const WORDS: [&[u8]; 6] = [b"td", b"th", b"button", b"input", b"option", b"time"];

/// Elements that end the reading of a character in `ruby`.
const BASES: [&[u8]; 5] = [b"ruby", b"rb", b"rbc", b"rp", b"rtc"];

/// Names longer than this are none of ours.
const NAME_BYTES_MAX: usize = 16;

struct Reader {
    text: TextBuilder,
    language: Option<String>,
    tag: Tag,
    /// The element that is being left out, and how deep in it we are.
    left_out: Option<LeftOut>,
    /// Inside how many `pre`.
    verbatim: usize,
    /// Inside an element whose content is not markup.
    is_raw: bool,
    /// Inside a parenthesis for programs that do not know `ruby`.
    is_parenthesis: bool,
    progress: Rc<Progress>,
}

struct LeftOut {
    name: Vec<u8>,
    depth: usize,
    /// The text's length before it.
    place: usize,
}

/// The start tag that is being read.
#[derive(Default)]
struct Tag {
    name: Vec<u8>,
    attribute: Attribute,
    alternative: String,
    is_hidden: bool,
}

/// The attributes that matter.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Attribute {
    #[default]
    Other,
    Alt,
    Lang,
    Role,
    AriaHidden,
}

impl Callback<Signal, ()> for &mut Reader {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Signal> {
        let mut signal = None;
        if !matches!(
            event,
            CallbackEvent::AttributeName { .. }
                | CallbackEvent::AttributeValue { .. }
                | CallbackEvent::Error(_)
        ) {
            self.progress.emitted();
        }
        match event {
            CallbackEvent::OpenStartTag { name } => self.tag.open(name),
            CallbackEvent::AttributeName { name } => self.attribute(name),
            CallbackEvent::AttributeValue { value } => self.value(value),
            CallbackEvent::CloseStartTag { self_closing } => signal = self.start(self_closing),
            CallbackEvent::EndTag { name } => self.end(name),
            CallbackEvent::String { value } => self.string(value),
            CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
        if self.text.is_full() { Some(Signal::Full) } else { signal }
    }
}

// === impl Reader ===

impl Reader {
    fn new(text: TextBuilder) -> Self {
        Self {
            text,
            language: None,
            tag: Tag::default(),
            left_out: None,
            verbatim: 0,
            is_raw: false,
            is_parenthesis: false,
            progress: Rc::default(),
        }
    }

    fn attribute(&mut self, name: &[u8]) {
        self.tag.attribute = match name {
            b"alt" => Attribute::Alt,
            b"lang" | b"xml:lang" => Attribute::Lang,
            b"role" => Attribute::Role,
            b"aria-hidden" => Attribute::AriaHidden,
            b"hidden" => {
                self.tag.is_hidden = true;
                Attribute::Other
            }
            _ => Attribute::Other,
        };
    }

    fn value(&mut self, value: &[u8]) {
        match self.tag.attribute {
            Attribute::Alt if self.tag.name == b"img" => {
                self.tag.alternative = String::from_utf8_lossy(value).into_owned();
            }
            Attribute::Lang if self.tag.name == b"html" => {
                let language = String::from_utf8_lossy(value).trim().to_owned();
                self.language = Some(language).filter(|language| !language.is_empty());
            }
            Attribute::Role => self.tag.is_hidden |= matches!(value, b"navigation" | b"search"),
            Attribute::AriaHidden => self.tag.is_hidden |= value == b"true",
            Attribute::Other | Attribute::Alt | Attribute::Lang => {}
        }
    }

    /// A start tag has ended. One that closes itself has no content, as XHTML has it: to browsers reading HTML it has, but a
    /// book's `<title/>` must not hide the page.
    fn start(&mut self, self_closing: bool) -> Option<Signal> {
        let name = std::mem::take(&mut self.tag.name);
        self.separate(&name);
        if self_closing && name != b"img" {
            return None;
        }
        self.is_parenthesis = name == b"rp";
        if name == b"rt" {
            self.text.begin_aside();
        } else if BASES.contains(&name.as_slice()) {
            self.text.end_aside();
        }
        let no_markup = naive_next_state(&name);
        if RAW.contains(&name.as_slice()) {
            self.is_raw = true;
        } else if name == b"pre" {
            self.verbatim += 1;
        } else if name == b"img" {
            let alternative = std::mem::take(&mut self.tag.alternative);
            if !alternative.is_empty() {
                self.text.space();
                self.text.push(&alternative);
                self.text.space();
            }
        }
        match &mut self.left_out {
            Some(left_out) if left_out.name == name => left_out.depth += 1,
            Some(_) => {}
            None => {
                let hidden = self.tag.is_hidden && LEFT_OUT_BY_ATTRIBUTE.contains(&name.as_slice());
                if hidden || LEFT_OUT.contains(&name.as_slice()) {
                    self.left_out = Some(LeftOut { name, depth: 1, place: self.text.len() });
                }
            }
        }
        no_markup.map(Signal::NoMarkup)
    }

    fn end(&mut self, name: &[u8]) {
        self.is_raw = false;
        self.is_parenthesis = false;
        if name == b"rt" || name == b"ruby" {
            self.text.end_aside();
        }
        if name == b"pre" {
            self.verbatim = self.verbatim.saturating_sub(1);
        }
        if let Some(left_out) = self.left_out.as_mut().filter(|left_out| left_out.name == name) {
            left_out.depth -= 1;
            if left_out.depth == 0 {
                self.text.truncate(left_out.place);
                self.left_out = None;
            }
        }
        self.separate(name);
    }

    fn separate(&mut self, name: &[u8]) {
        if WORDS.contains(&name) {
            self.text.space();
        } else if !std::str::from_utf8(name).is_ok_and(joins_words) {
            // A reading is within a line.
            self.text.end_aside();
            self.text.line();
        }
    }

    fn string(&mut self, value: &[u8]) {
        if self.is_raw || self.is_parenthesis {
            return;
        }
        let piece = String::from_utf8_lossy(value);
        if self.verbatim > 0 {
            self.text.push_verbatim(&piece);
        } else {
            self.text.push(&piece);
        }
    }
}

// === impl Tag ===

impl Tag {
    fn open(&mut self, name: &[u8]) {
        self.name.clear();
        self.name.extend(name.iter().take(NAME_BYTES_MAX));
        self.attribute = Attribute::Other;
        self.alternative.clear();
        self.is_hidden = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, expected: &str) {
        assert_eq!(page(html, 1 << 20).text, expected, "{html}");
    }

    #[test]
    fn words_are_kept_and_blocks_part_them() {
        for (html, expected) in [
            ("<p>one</p><p>two</p>", "one\ntwo"),
            ("<b>fo</b>o <i>bar</i>", "foo bar"),
            ("a<br>b<div>c</div>d", "a\nb\nc\nd"),
            ("<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc"),
            ("<ul><li>a<li>b</ul>", "a\nb"),
            (
                "caf&eacute; &lt;b&gt; &#x65e5;&#26412; a&nbsp;b &amp;c &bogus;",
                "café <b> 日本 a b &c &bogus;",
            ),
            ("<pre>  let x = 1;\n  let y;\n</pre>after  it", "  let x = 1;\n  let y;\nafter it"),
            ("x <img src=a alt='a chart'> y<img alt=\"\">z", "x a chart yz"),
            ("<my-element>own</my-element>next", "own\nnext"),
            ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢 kan"),
            (
                "<p>a<ruby>東<rt>とう</rt>京<rt>きょう</ruby>都<ruby>庁<rt>ちょう</ruby>b</p><p>c",
                "a東京都庁b とう きょう ちょう\nc",
            ),
            ("<ruby>x<rt>never<p>text", "x never\ntext"),
            ("Donau<wbr>dampf<br>schiff", "Donaudampf\nschiff"),
            ("plain text", "plain text"),
            ("", ""),
        ] {
            check(html, expected);
        }
    }

    #[test]
    fn what_is_no_text_is_left_out() {
        for (html, expected) in [
            (
                "<head><title>T</title><style>p{}</style></head><body>b<script>if (a<b) {}</script>c",
                "b\nc",
            ),
            ("a<!-- c --><nav>menu <nav>in</nav> menu</nav>b", "a\nb"),
            ("a<svg><text>s</text></svg>b<svg/>c", "a\nb\nc"),
            ("<div role=navigation>m<div>n</div></div><div hidden>h</div>text", "text"),
            ("<span aria-hidden=true>x</span>text<p hidden>y", "text\ny"),
            ("<select><option>a<option>b</select>text", "text"),
            ("<noscript><img alt=x>no</noscript>text", "text"),
            ("<head><title/><script src='x'/></head>text", "text"),
        ] {
            check(html, expected);
        }
    }

    #[test]
    fn what_never_ends_hides_nothing() {
        for (html, expected) in [
            ("<nav>menu<p>text", "menu\ntext"),
            ("<nav><nav>a</nav><p>text", "a\ntext"),
            ("</nav></pre>text", "text"),
            ("a < b and <3", "a < b and <3"),
            ("a <b", "a"),
            ("text<script>x", "text"),
        ] {
            check(html, expected);
        }
    }

    #[test]
    fn tags_of_any_width_are_read() {
        for (attribute, count) in [("b=\"c\" ", 200_000), ("b=\"&amp;\"", 50_000), ("b='c' ", 100)]
        {
            let wide = attribute.repeat(count);
            check(
                &format!("one <i {wide}>two</i> <p {wide}>three</p {wide}>four"),
                "one two\nthree\nfour",
            );
            check(&format!("<script {wide}>a<b</script><b {wide}/>text"), "text");
            check(&format!("kept<p {wide}"), "kept");
        }
    }

    #[test]
    fn the_declared_language_is_told() {
        let language = |html: &str| page(html, 100).language;
        assert_eq!(language("<html lang=\"de-AT\">"), Some("de-AT".to_owned()));
        assert_eq!(language("<html><p lang=fr>"), None);
    }

    #[test]
    fn reading_ends_when_the_text_is_full() {
        let text = page(&"<p>word</p>".repeat(1000), 22).text;
        assert_eq!(text, "word\nword\nword\nword\nwo");
    }
}
