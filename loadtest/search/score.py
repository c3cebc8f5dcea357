"""Scores runs over a judged set, by class of query.

usage: score.py SET RUN ...

A run has one line a query: the ids that an engine answered, best first. Printed in per cent: S@1 (the first is right), S@10
(one of ten is), MRR (the mean of 1 / place of the first that is right, within ten), nDCG@10 and MAP (over all that was answered).
"""

import collections
import math
import pathlib
import sys

METRICS = ["S@1", "S@10", "MRR", "nDCG@10", "MAP"]


def judge(answered: list[str], right: set[str]) -> list[float]:
    places = [place for place, id in enumerate(answered, 1) if id in right]
    first = places[0] if places else math.inf
    gain = sum(1 / math.log2(place + 1) for place in places if place <= 10)
    gain_max = sum(1 / math.log2(place + 1) for place in range(1, min(len(right), 10) + 1))
    precision = sum(count / place for count, place in enumerate(places, 1)) / len(right)
    return [first == 1, first <= 10, 1 / first if first <= 10 else 0, gain / gain_max, precision]


def main(judged: pathlib.Path, runs: list[str]):
    lines = (judged / "queries.tsv").read_text(encoding="utf-8").splitlines()
    queries = [line.split("\t") for line in lines]
    print(f"{'':<26}{'':<16}" + "".join(f"{metric:>9}" for metric in METRICS))
    scores = collections.defaultdict(lambda: collections.defaultdict(list))
    for run in runs:
        answers = pathlib.Path(run).read_text(encoding="utf-8").splitlines()
        assert len(answers) == len(queries), f"{run} answers {len(answers)} of {len(queries)} queries"
        for (kind, _, right), answered in zip(queries, answers):
            scores[kind][pathlib.Path(run).stem].append(judge(answered.split(), set(right.split())))
    for kind, engines in scores.items():
        for engine, judged_queries in engines.items():
            means = [100 * sum(column) / len(judged_queries) for column in zip(*judged_queries)]
            print(f"{kind:<26}{engine:<16}" + "".join(f"{mean:>9.1f}" for mean in means))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
