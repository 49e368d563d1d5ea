#!/bin/sh
# The planner with every kind of memory, 20 unseen games a row, the papers' step limits, every move
# counted. Cooking rl-1 and rl-2 are left out: no memory is needed there, `none` wins all of them.
# Made the numbers beside this file; run it in the root of the repository. A run that was
# broken off goes on where it was.
set -e
export OMP_NUM_THREADS=1
gym-memory compare \
  -e "Cooking?level=rl-3" -e "Cooking?level=rl-4" \
  -e "Cooking?level=stma-1" -e "Cooking?level=stma-2" -e "Cooking?level=stma-3" \
  -e "Cooking?level=stma-4" -e "Cooking?level=medium" -e "Cooking?level=hard" \
  -e "Cooking?level=hardest" -e "TreasureHunt?level=easy" -e "TreasureHunt?level=hard" \
  -e "TreasureHunt?level=hardest" -e Cleaning \
  -m none -m history -m shuffled -m arigraph -m oracle \
  -p planner --seeds 0:20 --workers "${WORKERS:-2}" --out results/planner
for file in report.md summary.json config.json environment.json; do
  cp "results/planner/$file" benchmarks/planner/
done
cp results/planner/*.png benchmarks/planner/
gzip -9nc results/planner/episodes.jsonl > benchmarks/planner/episodes.jsonl.gz
