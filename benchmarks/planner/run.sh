#!/bin/sh
# Play the planner with every kind of memory on TextWorld.
#
# 20 games a row of the split that no test plays, the papers' step limits, every move counted.
# Cooking rl-1 and rl-2 are left out: no memory is needed there,
# `none` wins all of them. Run it in the root of the repository; if interrupted, run it again.
set -e
export OMP_NUM_THREADS=1
for level in rl-3 rl-4 stma-1 stma-2 stma-3 stma-4 medium hard hardest; do
  set -- "$@" -e "Cooking?level=$level&split=held_out"
done
for level in easy hard hardest; do set -- "$@" -e "TreasureHunt?level=$level&split=held_out"; done
gym-memory compare "$@" -e "Cleaning?split=held_out" \
  -m none -m history -m shuffled -m arigraph -m oracle \
  -p planner --seeds 0:20 --workers "${WORKERS:-2}" --out results/planner
python benchmarks/keep.py results/planner benchmarks/planner --also table
