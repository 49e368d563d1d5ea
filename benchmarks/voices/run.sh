#!/bin/sh
# Play our generators' games in words that no rule was written by.
#
# The games are in no test: quality of the graph, and the planner with five memories and random
# play. Run it in
# the root of the repository; if interrupted, run it again.
set -e
export OMP_NUM_THREADS=1
levels="TreasureHunt?level=voices-easy TreasureHunt?level=voices-hard Cleaning?level=voices-room
 Cleaning?level=voices-house Cooking?level=voices"
envs=""
for level in $levels; do envs="$envs -e $level&split=held_out"; done
seeds="${SEEDS:-0:20}"
# shellcheck disable=SC2086 - one word an environment
gym-memory compare $envs -m none -m history -m shuffled -m arigraph -m oracle -p planner \
  --seeds "$seeds" --workers "${WORKERS:-2}" --out results/voices
# shellcheck disable=SC2086
gym-memory compare $envs -m none -p random --seeds "$seeds" --workers "${WORKERS:-2}" \
  --out results/voices-random
# shellcheck disable=SC2086
gym-memory quality $envs --policy walkthrough --seeds "$seeds" --out results/voices-quality/rules
# Who reads the notes: the rules, or (extra parser) a statistical parser, alone or behind the rules.
python benchmarks/voices/readers.py --out benchmarks/voices/readers.json
python benchmarks/keep.py results/voices-quality/rules benchmarks/voices
for run in voices voices-random; do
  python benchmarks/keep.py "results/$run" benchmarks/voices --also table
done
