#!/bin/sh
# Measure score against token budget.
#
# The planner (in shops the shopper) with AriGraph, its rivals and its
# controls under budgets from 100 to 16,000 tokens; an agent that asks a language model, over HTTP
# against the scripted server. Made the reports beside this file. Interrupted, the same command goes
# on; ONLY, if set, skips all worlds whose names do not contain it.
# Usage, from the root of the repository: benchmarks/budgets/run.sh [WORKERS]
set -eu
cd "$(dirname "$0")/../.."
export OMP_NUM_THREADS=1
gym_memory=${GYM_MEMORY:-gym-memory} workers=${1:-2}

play() {  # folder, environment, policy, games, further arguments
  folder="results/$1" env=$2 policy=$3 games=$4
  shift 4
  case "$folder" in *"${ONLY:-}"*) ;; *) return ;; esac
  $gym_memory compare --env "$env" -p "$policy" "$@" --seeds "0:$games" --workers "$workers" \
    --out "$folder"
  python benchmarks/keep.py "$folder" benchmarks/budgets --also episodes
}

rivals="-m history -m rag -m summary -m stma -m arigraph"

world() {  # name, environment, policy, games
  # What takes no notice of the budget, and the controls, are played under one.
  play "budgets/$1-once" "$2" "$3" "$4" -m none -m "history?full=true" \
    -m present -m noise -m shuffled -m oracle --budget 1000
  play "budgets/$1" "$2" "$3" "$4" $rivals \
    --budget 100 --budget 300 --budget 1000 --budget 4000 --budget 16000
}

world hunt-hard "TreasureHunt?level=hard&split=held_out" planner 10
world hunt-hardest "TreasureHunt?level=hardest&split=held_out" planner 10
world cooking-hard "Cooking?level=hard&split=held_out" planner 6
world cooking-hardest "Cooking?level=hardest&split=held_out" planner 6
world cleaning "Cleaning?split=held_out" planner 6
world shop "WebShop?split=test" shopper 10

export GYM_MEMORY_MODEL=scripted OPENAI_BASE_URL=http://127.0.0.1:8765/v1
$gym_memory serve-scripted --port 8765 &
trap 'kill $!' EXIT
sleep 3

agent() {  # name, environment
  # history=0: an agent that keeps five observations of its own knows most of what a memory could say.
  play "agent-budgets/agent-$1-once" "$2" "ariadne?history=0" 6 -m none -m "history?full=true" \
    --budget 1000 --concurrency 8
  play "agent-budgets/agent-$1" "$2" "ariadne?history=0" 6 $rivals \
    --budget 100 --budget 300 --budget 1000 --budget 4000 --concurrency 8
}

agent hunt-hard "TreasureHunt?level=hard&split=held_out"
agent hunt-hardest "TreasureHunt?level=hardest&split=held_out"
agent hunt-voices "TreasureHunt?level=voices-hard&split=held_out"
agent cooking-hard "Cooking?level=hard&split=held_out"
agent cooking-hardest "Cooking?level=hardest&split=held_out"
agent cleaning "Cleaning?split=held_out"

for kind in budgets agent-budgets; do
  if [ ! -d "results/$kind" ]; then continue; fi
  $gym_memory report "results/$kind"/* --out "results/$kind-report" --against arigraph
  sed -e "s/budgets-single-episode/$kind/" -e "/-single-episode.svg/d" \
    "results/$kind-report/report.md" > "benchmarks/budgets/$kind.md"
  cp "results/$kind-report/budgets-single-episode.svg" "benchmarks/budgets/$kind.svg"
done
