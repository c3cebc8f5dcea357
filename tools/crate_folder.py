"""Prints the folder that holds a crate's source, from `cargo metadata` on standard input.

usage: cargo metadata --format-version 1 | crate_folder.py NAME
"""

import json
import pathlib
import sys

packages = json.load(sys.stdin)["packages"]
manifests = [package["manifest_path"] for package in packages if package["name"] == sys.argv[1]]
if len(manifests) != 1:
    sys.exit(f"expected one crate called {sys.argv[1]} in Cargo.lock, found {len(manifests)}")
print(pathlib.Path(manifests[0]).parent)
