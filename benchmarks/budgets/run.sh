#!/bin/sh
# Score against token budget: the planner with AriGraph, its rivals and its controls under budgets
# from 100 to 16,000 tokens. Made the report beside this file. Interrupted, the same command goes on.
# Usage, from the root of the repository: benchmarks/budgets/run.sh [SEEDS] [WORKERS]
set -eu
cd "$(dirname "$0")/../.."
export OMP_NUM_THREADS=1
for world in "TreasureHunt?level=hard" "TreasureHunt?level=hardest" "Cooking?level=hard"; do
  folder="results/budgets/$(echo "$world" | tr '?=' '--')"
  ${GYM_MEMORY:-gym-memory} compare --env "$world&split=held_out" \
    -m none -m present -m noise -m shuffled -m history -m "history?full=true" -m rag -m summary \
    -m stma -m arigraph -m oracle -p planner --seeds "${1:-0:20}" --workers "${2:-2}" \
    --budget 100 --budget 300 --budget 1000 --budget 4000 --budget 16000 --out "$folder"
  name=$(basename "$folder")
  gzip -9nc "$folder/episodes.jsonl" > "benchmarks/budgets/$name.jsonl.gz"
done
${GYM_MEMORY:-gym-memory} report results/budgets/* --out results/budgets-report --against arigraph
cp results/budgets-report/report.md results/budgets-report/budgets-single-episode.png \
  benchmarks/budgets/
