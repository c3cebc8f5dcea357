"""Words as runs of letters and digits in lower case, and how people write them otherwise."""

import random
import re

WORD = re.compile(r"[^\W_]+")
HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
ENDINGS = [("ies", "y"), ("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"), ("es", ""), ("s", ""),
           ("y", "ies"), ("", "ing"), ("e", "ing"), ("", "ed"), ("e", "ed"), ("", "s")]


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def name_words(name: str) -> list[str]:
    return [hump.lower() for hump in HUMP.findall(name)]


def mistyped(rng: random.Random, word: str) -> str:
    """One slip behind the first letter: a letter left out, doubled, replaced, or two exchanged."""
    at = rng.randrange(1, len(word) - 1)
    slip = rng.randrange(4)
    if slip == 0:
        return word[:at] + word[at + 1 :]
    if slip == 1:
        return word[:at] + word[at] + word[at:]
    if slip == 2:
        return word[:at] + rng.choice("abcdefghijklmnopqrstuvwxyz") + word[at + 1 :]
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def other_forms(word: str) -> set[str]:
    """The word with another ending of English, whether there is such a word or not."""
    return {word.removesuffix(old) + new for old, new in ENDINGS if word.isalpha() and word.endswith(old)}
