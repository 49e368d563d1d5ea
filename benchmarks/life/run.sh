#!/bin/sh
# A life of errands: the planner with AriGraph, its rivals and its controls, a budget a folder, so
# that what was played stays when the script is stopped; the same command goes on. A memory that
# takes no notice of the budget is played under the first one.
# Usage, from the root of the repository: benchmarks/life/run.sh [SEEDS] [WORKERS] [BUDGETS]
set -eu
cd "$(dirname "$0")/../.."
export OMP_NUM_THREADS=1
unlimited="-m none -m present -m history?full=true"
for budget in ${3:-1000 4000 300 100 16000 32000}; do
  # shellcheck disable=SC2086 - one word a name
  ${GYM_MEMORY:-gym-memory} compare --env "Errands?level=long&split=test" \
    -m arigraph -m history -m "summary?size=32000" -m "stma?size=32000" -m rag -m simulacra \
    -m shuffled -m noise -m oracle $unlimited -p planner --seeds "${1:-1000:1006}" \
    --workers "${2:-2}" --budget "$budget" --out "results/life/$budget"
  unlimited=
  gzip -9nc "results/life/$budget/episodes.jsonl" > "benchmarks/life/$budget.jsonl.gz"
done
${GYM_MEMORY:-gym-memory} report results/life/* --out results/life-report --against arigraph
cp results/life-report/report.md results/life-report/budgets-single-episode.png benchmarks/life/
