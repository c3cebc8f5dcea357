//! Jupyter notebooks: the cells' sources and what they printed, without pictures.

use std::borrow::Cow;

use serde::Deserialize;

use super::text::TextBuilder;

#[derive(Deserialize)]
struct Notebook<'a> {
    #[serde(borrow)]
    cells: Vec<Cell<'a>>,
}

#[derive(Deserialize)]
struct Cell<'a> {
    #[serde(borrow)]
    source: Lines<'a>,
    #[serde(borrow, default)]
    outputs: Vec<Output<'a>>,
}

/// What a cell left behind: printed text, or data by type of which the plain text is taken.
#[derive(Deserialize)]
struct Output<'a> {
    #[serde(borrow)]
    text: Option<Lines<'a>>,
    #[serde(borrow)]
    data: Option<Data<'a>>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow, rename = "text/plain")]
    plain: Option<Lines<'a>>,
}

/// A text in one piece or by lines; the format allows both.
#[derive(Deserialize)]
#[serde(untagged)]
enum Lines<'a> {
    One(#[serde(borrow)] Cow<'a, str>),
    Many(#[serde(borrow)] Vec<Cow<'a, str>>),
}

/// The text of a notebook; `None` when it is none.
pub(super) fn text(json: &str, bytes_max: usize) -> Option<String> {
    let notebook: Notebook<'_> = serde_json::from_str(json).ok()?;
    let mut text = TextBuilder::new(bytes_max);
    for cell in &notebook.cells {
        cell.source.append(&mut text);
        for output in &cell.outputs {
            let plain = output.data.as_ref().and_then(|data| data.plain.as_ref());
            for lines in output.text.iter().chain(plain) {
                lines.append(&mut text);
            }
        }
    }
    Some(text.finish())
}

// === impl Lines ===

impl Lines<'_> {
    fn append(&self, text: &mut TextBuilder) {
        match self {
            Self::One(piece) => text.push_verbatim(piece),
            Self::Many(lines) => lines.iter().for_each(|line| text.push_verbatim(line)),
        }
        text.line();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_and_printed_text_are_read() {
        let notebook = r##"{"nbformat": 4, "metadata": {}, "cells": [
            {"cell_type": "markdown", "source": "# Title \u00e9"},
            {"cell_type": "code", "source": ["import x\n", "x.run()"], "outputs": [
                {"output_type": "stream", "text": ["done\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBORw", "text/plain": "<Figure>"}}
            ]}]}"##;
        let found = text(notebook, 1000);
        assert_eq!(found.as_deref(), Some("# Title é\nimport x\nx.run()\ndone\n<Figure>"));
        assert_eq!(text("{\"cells\": 7}", 1000), None);
    }
}
