#!/usr/bin/env bash
# Makes of a release binary what is shipped: the program without debug information, and that beside it.
# usage: package.sh BINARY FOLDER
#
# The program keeps its symbol table, so that backtraces in logs name functions. Where NAME.debug lies beside it, they have
# files and lines as well, and debuggers find it by the link in the program.
set -euo pipefail
binary=$1 folder=$2
name=$(basename "$binary")

mkdir -p "$folder"
rm -f "$folder/$name" "$folder/$name.debug"
objcopy --only-keep-debug "$binary" "$folder/$name.debug"
chmod -x "$folder/$name.debug"
# The link names the file without its folder.
objcopy --strip-debug --add-gnu-debuglink="$folder/$name.debug" "$binary" "$folder/$name"

sections=$(readelf --wide --section-headers "$folder/$name")
if grep -q '\.debug_line' <<<"$sections"; then
  echo "$folder/$name still has debug information" >&2
  exit 1
fi
for wanted in .symtab .gnu_debuglink; do
  grep -qF "$wanted" <<<"$sections" || { echo "$folder/$name has no $wanted" >&2; exit 1; }
done
"$folder/$name" --version
du -h --apparent-size "$folder/$name" "$folder/$name.debug"
