#!/bin/sh
# The other baselines that `gym-memory train` knows, with arigraph, one seed each: as sweep.sh does
# it with DRRN, at a smaller size. What a run came to is kept in benchmarks/rl/runs.
set -e
export OMP_NUM_THREADS=1
gym_memory="${GYM_MEMORY:-gym-memory}"

one() { # baseline level, then options of `train`
  baseline="$1" level="$2"
  shift 2
  name="$baseline-$level-arigraph-0"
  kept="benchmarks/rl/runs/$name"
  if [ -f "$kept/episodes.jsonl" ]; then return 0; fi
  folder="results/rl/$name"
  env="Cooking?level=$level&gata_actions=true"
  echo "$name"
  $gym_memory train "$baseline" -e "$env" -m arigraph --games 20 --out "$folder" "$@"
  $gym_memory run -e "$env&split=test&max_steps=100" -m arigraph -p "$baseline" \
    --checkpoint "$folder" --seeds 0:20 --workers 1 --out "$folder/test"
  mkdir -p "$kept"
  cp "$folder/curve.jsonl" "$folder/result.json" "$folder/config.json" "$kept/"
  cp "$folder/test/episodes.jsonl" "$kept/"
}

one bc rl-1 --steps 3000 --valid-games 10 --evaluate-every 1000 --stop-at 1.0 --set beta_steps=2000
for level in rl-3 rl-4; do
  one bc "$level" --steps 5000 --evaluate-every 2500 --max-cpu-minutes 1.5 --set beta_steps=4000
done
one a2c rl-1 --steps 12000 --evaluate-every 2000 --stop-at 1.0
one gata rl-1 --steps 4000 --evaluate-every 2000 --max-cpu-minutes 2 --stop-at 1.0 \
  --set epsilon_steps=2500
one gata rl-3 --steps 8000 --evaluate-every 2000 --max-cpu-minutes 2.2 --stop-at 1.0 \
  --set epsilon_steps=4000
