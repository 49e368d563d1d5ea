#!/bin/sh
# Build wheel and sdist; play from each in an empty venv, with the core alone and with an extra.
#
#   sh benchmarks/bare_wheel.sh [PYTHON [KEEP]]      # needs the package index; minutes
#
# KEEP is a folder to which the packages are copied once they have played.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
python=${1:-python3}
keep=${2:+$(pwd)/$2}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset PYTHONPATH || true
pip_of() { "$1/bin/pip" install --quiet --disable-pip-version-check -c "$here/constraints.txt" "$2"; }

"$python" -m venv "$folder/tools"
"$folder/tools/bin/pip" install --quiet --disable-pip-version-check build
"$folder/tools/bin/python" -m build --outdir "$folder/dist" "$here" > "$folder/build.log"
ls -l "$folder/dist"
cd "$folder"

for file in dist/*.tar.gz dist/*.whl; do
    rm -rf bare results
    "$folder/tools/bin/python" -m venv bare
    pip_of bare "$file"
    bare/bin/python -c 'import gym_memory; print(gym_memory.__version__, gym_memory.__file__)'
    bare/bin/gym-memory list > list.txt
    bare/bin/gym-memory compare -e "Fetch?level=hard" -m none -m arigraph -p planner --seeds 0:2 --out results
done
pip_of bare "$file[textworld]"
bare/bin/gym-memory doctor
bare/bin/gym-memory compare -e "TreasureHunt?level=easy&split=test" -m none -m arigraph -p planner \
    --seeds 0:2 --out results/hunt
du -sm bare | cut -f1 | sed 's/$/ MB in the venv/'
if [ -n "$keep" ]; then mkdir -p "$keep" && cp dist/* "$keep"; fi
