#!/bin/sh
# Play a life of errands: the planner with AriGraph, its rivals and its controls.
#
# A folder for each budget
# and for rivals and controls apart, so that what was played stays when the script is stopped; the
# same command goes on. The controls, and what takes no notice of the budget, are played under the
# first one.
# Usage, from the root of the repository: benchmarks/life/run.sh [SEEDS] [WORKERS] [BUDGETS]
set -eu
cd "$(dirname "$0")/../.."
export OMP_NUM_THREADS=1

play() {  # name of the folder, budget, memories
  folder="results/life/$1-$2" budget=$2
  shift 2
  ${GYM_MEMORY:-gym-memory} compare --env "Errands?level=long&split=held_out" "$@" -p planner \
    --seeds "$seeds" --workers "$workers" --budget "$budget" --out "$folder"
  python benchmarks/keep.py "$folder" benchmarks/life --also episodes
}

seeds=${1:-0:10} workers=${2:-2} budgets=${3:-1000 4000 300 100 16000 32000}
first=${budgets%% *}
play unlimited "$first" -m "history?full=true" -m none
for budget in $budgets; do
  play rivals "$budget" -m arigraph -m history -m "summary?size=32000" -m "stma?size=32000" -m rag
done
play controls "$first" -m simulacra -m shuffled -m oracle -m noise -m present
${GYM_MEMORY:-gym-memory} report results/life/* --out results/life-report --against arigraph
sed -e "/scores-single-episode.svg/d" -e "/steps-single-episode.svg/d" results/life-report/report.md \
  > benchmarks/life/report.md
cp results/life-report/budgets-single-episode.svg benchmarks/life/
