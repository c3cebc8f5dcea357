"""Makes a judged set of search queries from lists of packages: what is asked is made from a document, which is then the answer.

usage: packages.py OUT REGISTRY=LIST.tsv ...

A list has a head line, the name in its first column and the summary in its last. OUT gets `documents.ndjson` (id, title,
text) and `queries.tsv` (class, query, ids of the right answers). No engine's analysis plays a part. The same lists give the
same set.
"""

import collections
import json
import pathlib
import random
import re
import sys

from spelling import mistyped, name_words, other_forms, words

QUERIES = 200  # of each class
SEED = 20_261_130
SHARED_MAX = 5  # documents that have all words of a query: more would make the one that is sought a matter of luck
COMMON_MIN = 20_000  # documents that have a word that tells nothing
HAN = re.compile(r"[\u4e00-\u9fff]{6,}")


class Packages:
    def __init__(self, lists: list[str]):
        self.ids, self.names, self.summaries = [], [], []
        for registry, path in (each.split("=", 1) for each in lists):
            with open(path, encoding="utf-8") as lines:
                next(lines)
                for line in lines:
                    columns = line.rstrip("\n").split("\t")
                    self.ids.append(f"{registry}/{columns[0]}")
                    self.names.append(columns[0])
                    self.summaries.append(columns[-1])
        self.having = collections.Counter()  # word -> documents that have it
        self.in_names = collections.defaultdict(list)
        self.by_name = collections.defaultdict(list)
        self.by_letters = collections.defaultdict(list)
        self.by_summary = collections.defaultdict(list)
        for at, (name, summary) in enumerate(zip(self.names, self.summaries)):
            self.having.update(set(words(name)) | set(words(summary)))
            self.by_name[name.lower()].append(at)
            self.by_letters["".join(name_words(name))].append(at)
            self.by_summary[summary.lower()].append(at)
            for word in set(name_words(name)):
                self.in_names[word].append(at)


class Maker:
    """Candidates, one of a kind at a time; None where a document gives none."""

    def __init__(self, packages: Packages):
        self.packages = packages
        self.rng = random.Random(SEED)

    def some_words(self, at: int, count: int) -> list[str] | None:
        """Telling words of a summary, in their order."""
        distinct = dict.fromkeys(words(self.packages.summaries[at]))
        telling = [word for word in distinct if len(word) > 3 and self.packages.having[word] < COMMON_MIN]
        if len(telling) < count + 1 or not all(word.isascii() for word in telling):
            return None
        chosen = sorted(self.rng.sample(range(len(telling)), count))
        return [telling[place] for place in chosen]

    def same_summary(self, at: int) -> list[int]:
        return self.packages.by_summary[self.packages.summaries[at].lower()]

    def exact_name(self, at: int):
        name = self.packages.names[at]
        return name, self.packages.by_name[name.lower()], None

    def part_of_name(self, at: int):
        parts = name_words(self.packages.names[at])
        rare = [part for part in parts if len(part) > 3 and len(self.packages.in_names[part]) <= 2 * SHARED_MAX]
        if not rare or len(parts) < 2:
            return None
        part = self.rng.choice(rare)
        return part, self.packages.in_names[part], None

    def summary_words(self, at: int):
        chosen = self.some_words(at, self.rng.randrange(2, 5))
        return chosen and (" ".join(chosen), self.same_summary(at), chosen)

    def one_word_too_many(self, at: int):
        chosen = self.some_words(at, 3)
        other = self.some_words(self.rng.randrange(len(self.packages.ids)), 1)
        if not chosen or not other:
            return None
        mixed = chosen[:]
        mixed.insert(self.rng.randrange(4), other[0])
        return " ".join(mixed), self.same_summary(at), chosen

    def typo_in_name(self, at: int):
        name = self.packages.names[at].lower()
        if not re.fullmatch(r"[a-z]{6,}([-_][a-z]+)*", name):
            return None
        first = re.match(r"[a-z]+", name)[0]
        wrong = mistyped(self.rng, first)
        return None if self.packages.having[wrong] else (wrong + name[len(first) :], self.packages.by_name[name], None)

    def typo_in_summary(self, at: int):
        chosen = self.some_words(at, 3)
        if not chosen:
            return None
        place = max(range(3), key=lambda each: len(chosen[each]))
        wrong = mistyped(self.rng, chosen[place]) if len(chosen[place]) > 5 else ""
        if not wrong or self.packages.having[wrong]:
            return None
        return " ".join(chosen[:place] + [wrong] + chosen[place + 1 :]), self.same_summary(at), chosen

    def name_written_otherwise(self, at: int):
        name = self.packages.names[at]
        parts = name_words(name)
        if len(parts) < 2 or not name.isascii() or any(len(part) < 2 for part in parts):
            return None
        camel = parts[0] + "".join(part.capitalize() for part in parts[1:])
        forms = ["-".join(parts), "_".join(parts), " ".join(parts), ".".join(parts), "".join(parts), camel]
        written = self.rng.choice(forms)
        return None if written.lower() == name.lower() else (written, self.packages.by_letters["".join(parts)], None)

    def inflected(self, at: int):
        chosen = self.some_words(at, 3)
        if not chosen:
            return None
        present = set(words(self.packages.summaries[at])) | set(name_words(self.packages.names[at]))
        changed = [self.other_form(word, present) for word in chosen]
        if sum(form is not None for form in changed) < 2:
            return None
        return " ".join(form or word for form, word in zip(changed, chosen)), self.same_summary(at), chosen

    def other_form(self, word: str, present: set[str]) -> str | None:
        """The commonest word that differs by an ending, if it is a common one."""
        common = [form for form in other_forms(word) - present if len(form) > 3 and self.packages.having[form] >= 100]
        return max(common, key=lambda form: (self.packages.having[form], form), default=None)

    def part_of_chinese(self, at: int):
        runs = HAN.findall(self.packages.summaries[at])
        if not runs:
            return None
        run = self.rng.choice(runs)
        begin = self.rng.randrange(len(run) - 3)
        return run[begin : begin + 4], None, None


def sharing(packages: Packages, wanted: set[str]) -> dict[str, set[int]]:
    """The documents that have each word."""
    found = {word: set() for word in wanted}
    for at, (name, summary) in enumerate(zip(packages.names, packages.summaries)):
        for word in wanted.intersection(words(name) + words(summary)):
            found[word].add(at)
    return found


def main(out: pathlib.Path, lists: list[str]):
    packages = Packages(lists)
    maker = Maker(packages)
    kinds = [maker.exact_name, maker.part_of_name, maker.name_written_otherwise, maker.typo_in_name, maker.summary_words,
             maker.one_word_too_many, maker.typo_in_summary, maker.inflected, maker.part_of_chinese]
    made = []
    for kind in kinds:
        order = random.Random(SEED).sample(range(len(packages.ids)), len(packages.ids))
        candidates = filter(None, (kind(at) for at in order))
        made += [(kind.__name__, candidate) for _, candidate in zip(range(4 * QUERIES), candidates)]
    found = sharing(packages, {word for _, (_, _, chosen) in made for word in chosen or ()})
    out.mkdir(parents=True, exist_ok=True)
    with open(out / "documents.ndjson", "w", encoding="utf-8") as lines:
        for id, name, summary in zip(packages.ids, packages.names, packages.summaries):
            lines.write(json.dumps({"id": id, "title": name, "text": summary}, ensure_ascii=False) + "\n")
    counts = collections.Counter()
    with open(out / "queries.tsv", "w", encoding="utf-8") as lines:
        for kind, (query, right, chosen) in made:
            right = right or [at for at, text in enumerate(packages.summaries) if query in text]
            shared = set.intersection(*(found[word] for word in chosen)) if chosen else right
            if len(shared) > 2 * SHARED_MAX or (chosen and len(shared) > SHARED_MAX) or counts[kind] == QUERIES:
                continue
            counts[kind] += 1
            lines.write(f"{kind}\t{query}\t{' '.join(packages.ids[at] for at in right)}\n")
    print(len(packages.ids), "documents,", dict(counts))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
