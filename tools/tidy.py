"""Checks what no compiler checks: who may name what, who depends on whom, and how long files are.

usage: tidy.py   (in the root of the repository)
"""

import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUST_LINES_MAX = 500
SCRIPT_LINES_MAX = 200

# Which workspace member may depend on which, outside of tests.
EDGES = {
    "pressmark-proto": set(),
    "pressmark-index": set(),
    "pressmark": {"pressmark-index", "pressmark-proto"},
    "pressmark-benches": {"pressmark-index", "pressmark"},
    "pressmark-loadtest": {"pressmark-proto"},
}

# (what may not be named, where it may not, where it may all the same, why)
NAMES = [
    (r"\brocksdb::|\buse rocksdb\b", "*/src", "index/src/store", "the store is the only module that knows RocksDB"),
    (r"\btantivy::|\buse tantivy\b", "*/src", "index/src/full_text", "full text is the only module that knows tantivy"),
    (r"(?i)json[-_ ]?rpc", "index/src", None, "only the server knows the protocol's framing"),
    (r"\bserde(_json)?::|\b(Des|S)erialize\b", "index/src", None, "engine types are plain data; the server has their wire twins"),
    (r"\btokio\b|\basync fn\b", "index/src", None, "the engine is synchronous; the server decides where it runs"),
    (r"#\[ignore\b", "*", None, "a test that does not run proves nothing"),
    (r"\bthread::sleep\b|\btime::sleep\b", "*/tests", None, "tests wait for a condition or pause the clock"),
]

# Crates that may not be in the engine's dependencies, direct ones or not (False) or direct ones only (True).
ENGINE_BANS = [("tokio", False), ("hyper", False), ("serde", True), ("serde_json", True)]


def tracked(*patterns: str) -> list[pathlib.Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout
    paths = [ROOT / name for name in listing.split("\0") if name]
    return [path for path in paths if path.is_file()]


def within(path: pathlib.Path, place: str) -> bool:
    parts = path.relative_to(ROOT).parts
    wanted = place.split("/")
    if place == "*":
        return True
    return len(parts) > len(wanted) and all(w in ("*", p) for w, p in zip(wanted, parts))


def without_tests_and_comments(text: str) -> str:
    text = re.split(r"(?m)^#\[cfg\(test\)\]\nmod \w+ \{", text)[0]
    return re.sub(r"(?m)//.*$", "", text)


def check_names() -> list[str]:
    faults = []
    for path in tracked("*.rs"):
        text = without_tests_and_comments(path.read_text(encoding="utf-8"))
        for pattern, place, home, reason in NAMES:
            if not within(path, place) or (home and path.relative_to(ROOT).as_posix().startswith(home)):
                continue
            if found := re.search(pattern, text):
                faults.append(f"{path.relative_to(ROOT)} names `{found[0]}`: {reason}")
    return faults


def check_sizes() -> list[str]:
    faults = []
    limits = {".rs": RUST_LINES_MAX, ".py": SCRIPT_LINES_MAX, ".sh": SCRIPT_LINES_MAX, ".mjs": SCRIPT_LINES_MAX}
    for path in tracked(*(f"*{suffix}" for suffix in limits)):
        if within(path, "samples"):
            continue
        count = len(path.read_text(encoding="utf-8").splitlines())
        if count > limits[path.suffix]:
            faults.append(f"{path.relative_to(ROOT)} has {count} lines, more than {limits[path.suffix]}: split it by task")
    return faults


def check_links() -> list[str]:
    faults = []
    for path in tracked("*.md"):
        text = re.sub(r"(?s)```.*?```", "", path.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in target and not (path.parent / urllib.parse.unquote(target)).exists():
                faults.append(f"{path.relative_to(ROOT)} links to {target}, which does not exist")
    return faults


def cargo(*arguments: str) -> str:
    return subprocess.run(["cargo", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def check_edges() -> list[str]:
    faults = []
    packages = json.loads(cargo("metadata", "--locked", "--no-deps", "--format-version", "1"))["packages"]
    members = {package["name"] for package in packages}
    for package in packages:
        name = package["name"]
        if name not in EDGES:
            faults.append(f"{name} is not in tools/tidy.py: say there what it may depend on")
            continue
        direct = {d["name"] for d in package["dependencies"] if d["kind"] is None}
        for extra in (direct & members) - EDGES[name]:
            faults.append(f"{name} depends on {extra}, which it may not")
    # Only what stands in the tree is looked at, so that a crate's absence cannot hide a misspelling.
    for crate, direct_only in ENGINE_BANS:
        depth = ["--depth", "1"] if direct_only else []
        tree = cargo("tree", "--locked", "-p", "pressmark-index", "-e", "normal", "--prefix", "none", *depth)
        if re.search(rf"(?m)^{crate} v", tree):
            faults.append(f"pressmark-index depends on {crate}: the engine stays free of it")
    return faults


def main() -> None:
    checks = (check_names, check_sizes, check_links, check_edges)
    faults = [fault for check in checks for fault in check()]
    for fault in faults:
        print(fault)
    print(f"tidy: {len(checks)} kinds of rules, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
