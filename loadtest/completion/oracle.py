#!/usr/bin/env python3
"""Compares completions of a server with what all records together say.

    oracle.py RECORDS.ndjson URL [COUNT]

RECORDS.ndjson is what `pressmark-loadtest tuples` wrote (team, year, name), all of it loaded into
the server at URL (`http://127.0.0.1:7411/mcp`), whose anonymous callers are in no group. COUNT questions of each kind are
asked, with typed texts from all over the collection. The answers are worked out here from the records alone, by the rules
of docs/completion.md: classes 1 and 2, order, total, hasMore; for a name, and for a name with a team chosen.
"""

import bisect
import collections
import heapq
import http.client
import json
import random
import re
import sys
import unicodedata
import urllib.parse

VALUES_MAX = 100
LATER_VALUES_MAX = 1_000
TYPOS_BELOW = 10


def main():
    path, url = sys.argv[1], urllib.parse.urlsplit(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    names, teams = read(path)
    chosen = random.Random(7)
    samples = [chosen.choice(names) for _ in range(count)]
    client = http.client.HTTPConnection(url.hostname, url.port)
    wrong = 0
    for kind, questions in (
        ("names", [(ask[1][: chosen.randrange(7)], None) for ask in samples]),
        ("names with a team", [(ask[1][: chosen.randrange(4)], ask[3]) for ask in samples]),
        ("later words", [(word, None) for word in later_words(samples)]),
    ):
        bad = 0
        for typed, team in questions:
            pool = names if team is None else teams[team]
            wanted = answer(pool, typed)
            found = complete(client, url.path, typed, team)
            if wanted is not None and found != wanted:
                bad += 1
                print(f"{kind}: {typed!r} {team!r}\n  found  {found}\n  wanted {wanted}")
        print(f"{kind}: {len(questions)} asked, {bad} wrong")
        wrong += bad
    sys.exit(wrong > 0)


def read(path):
    """All names, and the names of each team: (folded, name, priority, team), in the order of the folded text."""
    names = []
    for line in open(path, encoding="utf-8"):
        record = json.loads(line)
        if "acl" in record:
            continue
        values = record["variables"]
        priority = record.get("annotations", {}).get("priority", 0.5)
        names.append((fold(values["name"]), values["name"], priority, values["team"]))
    names.sort()
    teams = collections.defaultdict(list)
    for name in names:
        teams[name[3]].append(name)
    return names, teams


def fold(text):
    if text.isascii():
        return text.lower()
    plain = plain_parts(unicodedata.normalize("NFKD", text))
    return plain_parts(unicodedata.normalize("NFKD", plain.upper().lower()))


def plain_parts(text):
    return "".join(part for part in text if not unicodedata.category(part).startswith("M"))


def later_words(samples):
    """Beginnings of words that are not the first one, so long that few values begin so themselves."""
    for _, name, _, _ in samples[: len(samples) // 10]:
        words = re.findall(r"[A-Za-z0-9]+", name)
        if len(words) > 1:
            yield words[-1].lower()[:5]


def answer(pool, typed):
    """values, total and hasMore; None where typos would be looked for."""
    folded = fold(typed)
    start = bisect.bisect_left(pool, (folded,))
    end = bisect.bisect_left(pool, (folded + "\U0010ffff",))

    def place(name):
        return (name[1] != typed, name[0] != folded, -name[2], name[0], name[1])

    values = [name[1] for name in heapq.nsmallest(VALUES_MAX, pool[start:end], key=place)]
    total, cut = end - start, False
    if total < VALUES_MAX:
        later = [name for name in pool if has_later_word(name, folded)]
        later.sort(key=place)
        total += len(later)
        cut = len(later) > LATER_VALUES_MAX
        if cut:
            return None
        if total < TYPOS_BELOW and len(folded) >= 4:
            return None
        values += [name[1] for name in later[: VALUES_MAX - len(values)]]
    return values, total, total > len(values)


def has_later_word(name, folded):
    """Whether a word that is not at the beginning begins so, in a value that does not begin so itself."""
    if name[0].startswith(folded) or folded not in name[0]:
        return False
    raw = name[1]
    for at in range(1, len(raw)):
        before, here, behind = raw[at - 1], raw[at], raw[at + 1 : at + 2]
        hump = before.islower() or before.isnumeric() or (before.isupper() and behind.islower())
        begins = not before.isalnum() or (here.isupper() and hump)
        if begins and fold(raw[at:]).startswith(folded):
            return True
    return False


def complete(client, path, typed, team):
    params = {
        "ref": {"type": "ref/resource", "uri": "docs://{team}/{year}/{name}"},
        "argument": {"name": "name", "value": typed},
    }
    if team is not None:
        params["context"] = {"arguments": {"team": team}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "completion/complete", "params": params})
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2025-11-25",
    }
    client.request("POST", path, body, headers)
    reply = json.loads(client.getresponse().read())
    completion = reply["result"]["completion"]
    return completion["values"], completion.get("total"), completion["hasMore"]


if __name__ == "__main__":
    main()
