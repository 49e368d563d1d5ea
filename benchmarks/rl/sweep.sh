#!/bin/sh
# DRRN on Cooking levels 1-4: 20 training games, the best player on 20 valid games, played once on
# 20 test games with unseen foods; memories arigraph, none and shuffled; three seeds.
#
#   sh benchmarks/rl/sweep.sh                    all runs, one at a time
#   sh benchmarks/rl/sweep.sh --only rl-3        those whose name contains rl-3
#   CPU_MINUTES=15 sh benchmarks/rl/sweep.sh     another limit a run
#
# A finished run is skipped and one that was broken off goes on, so the sweep can be spread over
# days. Checkpoints stay in results/rl; what a run came to is copied to benchmarks/rl/runs, and
# `python benchmarks/rl/table.py` makes the table and the plots of all that is there.
set -e
only=""
if [ "${1:-}" = "--only" ]; then only="$2"; fi
export OMP_NUM_THREADS=1
cpu_minutes="${CPU_MINUTES:-5}"
gym_memory="${GYM_MEMORY:-gym-memory}"

one() { # level memory seed
  name="drrn-$1-$2-$3"
  case "$name" in *"$only"*) ;; *) return 0 ;; esac
  kept="benchmarks/rl/runs/$name"
  if [ -f "$kept/episodes.jsonl" ]; then return 0; fi
  folder="results/rl/$name"
  env="Cooking?gata_actions=true&level=$1"
  steps=30000
  if [ "$1" = "rl-4" ]; then steps=60000; fi
  echo "$name"
  $gym_memory train drrn -e "$env" -m "$2" --seed "$3" --games 20 --steps "$steps" \
    --max-cpu-minutes "$cpu_minutes" --stop-at 1.0 --out "$folder"
  $gym_memory run -e "$env&split=test&max_steps=100" -m "$2" -p drrn --checkpoint "$folder" \
    --seeds 0:20 --workers 1 --out "$folder/test"
  mkdir -p "$kept"
  cp "$folder/curve.jsonl" "$folder/result.json" "$folder/config.json" "$kept/"
  cp "$folder/test/episodes.jsonl" "$kept/"
}

for seed in 0 1 2; do
  for memory in arigraph none shuffled; do
    for level in rl-1 rl-3 rl-2 rl-4; do
      one "$level" "$memory" "$seed"
    done
  done
done
