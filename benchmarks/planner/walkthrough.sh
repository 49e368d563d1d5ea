#!/bin/sh
# Win every generated game of the test splits with the engine's solution.
#
# All 20 tasks of every level (300 games). Run it in the root of the repository.
set -e
export OMP_NUM_THREADS=1
gym-memory compare \
  -e "Cooking?level=rl-1" -e "Cooking?level=rl-2" -e "Cooking?level=rl-3" -e "Cooking?level=rl-4" \
  -e "Cooking?level=stma-1" -e "Cooking?level=stma-2" -e "Cooking?level=stma-3" \
  -e "Cooking?level=stma-4" -e "Cooking?level=medium" -e "Cooking?level=hard" \
  -e "Cooking?level=hardest" -e "TreasureHunt?level=easy" -e "TreasureHunt?level=hard" \
  -e "TreasureHunt?level=hardest" -e Cleaning \
  -m none -p walkthrough --seeds 0:20 --workers "${WORKERS:-2}" --out results/walkthrough
python benchmarks/keep.py results/walkthrough benchmarks/planner
