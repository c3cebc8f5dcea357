"""Says how the checks of a conformance run went.

usage: report.py RESULTS-FOLDER counts|reasons
"""

import collections
import json
import pathlib
import re
import sys

RUN = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")
FAILING = ("FAILURE", "WARNING")  # the suite's baseline counts both


def checks(folder: pathlib.Path):
    for path in sorted(folder.glob("*/checks.json")):
        scenario = RUN.fullmatch(path.parent.name)["scenario"]
        for check in json.loads(path.read_text(encoding="utf-8")):
            yield scenario, check


def main() -> None:
    folder, what = pathlib.Path(sys.argv[1]), sys.argv[2]
    if what == "counts":
        counts = collections.Counter(check["status"] for _, check in checks(folder))
        known = sum(counts[status] for status in FAILING)
        print(f"{counts['SUCCESS']} checks hold, {known} are known not to (baseline)")
        return
    for scenario, check in checks(folder):
        if check["status"] in FAILING:
            reason = " ".join(check.get("errorMessage", "").split())
            print(f"  {scenario}:{check['id']}: {reason[:300]}")


if __name__ == "__main__":
    main()
