"""Writes the folder that the client tests read: the same files on every run.

More files than one page of `resources/list` holds, text and binary, and names that clients and
servers tend to mangle. usage: make_folder.py FOLDER
"""

import pathlib
import random
import sys

PLAIN_FILE_COUNT = 600
ODD_NAMES = [
    "bug#42 &v=2+rev?.md",
    "100%_done.txt",
    "[draft] {final}.txt",
    "日本語の手引き.md",
    "العربية.txt",
    "Straße & Größe.txt",
    "cafe\u0301-decomposed.txt",
    "caf\u00e9-composed.txt",
    "🦉.txt",
    "a;b,c=d@e!f$g'h(i).txt",
    "back\\slash \"quoted\" <tag> |pipe^`.txt",
]


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    words = "shelf mark reader lamp atlas folio margin index".split()
    chance = random.Random(7)  # the seed makes runs comparable
    for number in range(PLAIN_FILE_COUNT):
        path = folder / f"part-{number % 7}" / f"note-{number:04}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [" ".join(chance.choices(words, k=8)) for _ in range(3)]
        path.write_text(f"note {number}\n" + "\n".join(lines) + "\n", encoding="utf-8")

    odd = folder / "odd names"
    odd.mkdir(exist_ok=True)
    for name in ODD_NAMES:
        (odd / name).write_text(f"this file is called {name}\n", encoding="utf-8")

    nested = folder / "nested" / "one" / "two"
    nested.mkdir(parents=True, exist_ok=True)
    (nested / "deep.md").write_text("---\ntitle: Deep\n---\n# Deep\n", encoding="utf-8")

    lines = [f"line {number} – 行\n" for number in range(1000)]
    (folder / "lines.txt").write_text("".join(lines), encoding="utf-8")
    (folder / "module.ts").write_text("export const answer: number = 42;\n", encoding="utf-8")
    (folder / "bytes.bin").write_bytes(bytes(range(256)) * 16)
    (folder / "latin1.txt").write_bytes("caf\u00e9 na\u00efve".encode("latin-1"))


if __name__ == "__main__":
    main()
