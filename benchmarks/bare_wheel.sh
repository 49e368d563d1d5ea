#!/bin/sh
# Build the wheel and use it in an empty venv: import, list, doctor, compare.
#
#   sh benchmarks/bare_wheel.sh [PYTHON]      # wants the package index; minutes
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
python=${1:-python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset PYTHONPATH || true

"$python" -m venv "$folder/tools"
"$folder/tools/bin/pip" install --quiet --disable-pip-version-check build
"$folder/tools/bin/python" -m build --outdir "$folder/dist" "$here" > "$folder/build.log"
ls -l "$folder/dist"

"$python" -m venv "$folder/bare"
set -- "$folder"/dist/*.whl
"$folder/bare/bin/pip" install --quiet --disable-pip-version-check -c "$here/constraints.txt" "$1[textworld]"
cd "$folder"
"$folder/bare/bin/python" -c 'import gym_memory; print(gym_memory.__version__, gym_memory.__file__)'
"$folder/bare/bin/gym-memory" list > list.txt
"$folder/bare/bin/gym-memory" doctor
"$folder/bare/bin/gym-memory" compare -e "TreasureHunt?level=easy&split=test" -m none -m arigraph -p planner \
    --seeds 0:2 --out results
du -sm "$folder/bare" | cut -f1 | sed 's/$/ MB in the venv/'
