"""Reads a judged collection in the form of SMART (.I .T .W) or of TREC, and writes what the other programs here read.

usage: judged_collections.py OUT NAME DOCUMENTS QUERIES JUDGEMENTS

The queries are numbered in their order: Cranfield's own numbers are not those of its judgements.
"""

import collections
import json
import pathlib
import re
import sys


def smart(text: str):
    """Each item as a map from its one-letter fields to their texts."""
    for item in re.split(r"(?m)^\.I +(?=\d)", text)[1:]:
        number, _, rest = item.partition("\n")
        fields = collections.defaultdict(str, I=number.strip())
        for field in re.split(r"(?m)^\.(?=[A-Z]\s*$)", rest)[1:]:
            fields[field[0]] += field[1:]
        yield fields


def tagged(text: str, item: str):
    """The same from TREC's tags."""
    letters = {"docno": "I", "num": "I", "title": "T", "text": "W"}
    for inner in re.findall(rf"(?s)<{item}>(.*?)</{item}>", text):
        fields = re.findall(r"(?s)<(docno|num|title|text)>(.*?)</\1>", inner)
        yield collections.defaultdict(str, {letters[tag]: value for tag, value in fields})


def items(path: str, item: str):
    text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    return list(tagged(text, item) if "<" + item + ">" in text else smart(text))


def one_line(text: str) -> str:
    return " ".join(text.split())


def main(out: pathlib.Path, name: str, documents: str, queries: str, judgements: str):
    right = collections.defaultdict(list)
    rows = [line.split()[:4] for line in pathlib.Path(judgements).read_text(encoding="utf-8").splitlines() if line.strip()]
    graded = any(int(row[3]) > 0 for row in rows if row[1] == "0")  # CACM names only what is relevant, with a zero
    for row in rows:
        number, document = (row[0], row[2]) if graded else row[:2]
        if not graded or int(row[3]) > 0:
            right[int(number)].append(f"{name}/{int(document)}")
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "documents.ndjson", "w", encoding="utf-8") as lines:
        for fields in items(documents, "doc"):
            line = {"id": f"{name}/{int(fields['I'])}", "title": one_line(fields["T"]), "text": one_line(fields["W"])}
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")
    with open(out / "queries.tsv", "w", encoding="utf-8") as lines:
        for number, fields in enumerate(items(queries, "top"), 1):
            if right[number]:
                lines.write(f"{name}\t{one_line(fields['W'] or fields['T'])}\t{' '.join(right[number])}\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), *sys.argv[2:])
