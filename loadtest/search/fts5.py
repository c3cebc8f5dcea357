"""Answers the queries of a judged set with SQLite's FTS5 as it comes: its own tokenizer, bm25(), every word quoted.

usage: fts5.py SET all|any      (all words wanted, or any of them; writes SET/fts5-all.run or SET/fts5-any.run)
"""

import json
import pathlib
import sqlite3
import sys
import time

HITS = 100


def indexed(documents: pathlib.Path):
    """The index, and the ids by its row numbers."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE texts USING fts5(title, text, content='')")
    ids = []
    with open(documents, encoding="utf-8") as lines:
        for line in lines:
            document = json.loads(line)
            base.execute("INSERT INTO texts(rowid, title, text) VALUES (?, ?, ?)", (len(ids), document["title"], document["text"]))
            ids.append(document["id"])
    return base, ids


def main(judged: pathlib.Path, mode: str):
    began = time.monotonic()
    base, ids = indexed(judged / "documents.ndjson")
    made = time.monotonic()
    joint = {"all": " AND ", "any": " OR "}[mode]
    with open(judged / "queries.tsv", encoding="utf-8") as queries, open(judged / f"fts5-{mode}.run", "w", encoding="utf-8") as run:
        for line in queries:
            words = line.split("\t")[1].split()
            asked = joint.join('"' + word.replace('"', '""') + '"' for word in words)
            found = base.execute("SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT ?", (asked, HITS))
            run.write(" ".join(ids[row] for (row,) in found) + "\n")
    print(f"{len(ids)} documents in {made - began:.1f} s, queries in {time.monotonic() - made:.1f} s")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
