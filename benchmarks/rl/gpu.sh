#!/bin/sh
# Measure the training of a learner on a device, in environment steps a second.
#
# 32 games side by side, no measurement between; text with MiniLM's words at batch 64.
#
#   sh benchmarks/rl/gpu.sh cuda text            also: drrn, lm, sb3, gata, a2c, bc; default: text
#   sh benchmarks/rl/gpu.sh cpu text             OMP_NUM_THREADS=4 for four threads
#   STEPS=20000 sh benchmarks/rl/gpu.sh cuda     longer than the 2,000 steps of a measurement
set -e
device="${1:-cuda}" learner="${2:-text}" steps="${STEPS:-2000}"
gym_memory="${GYM_MEMORY:-gym-memory}"
folder="results/rl/gpu-$learner-$device"
[ "$learner" = text ] && set -- --set words=minilm --set batch=64 --set learn_start=512 --set update_every=4 || set --
rm -rf "$folder"
started="$(date +%s.%N)"
$gym_memory train "$learner" -e "Cooking?gata_actions=true&level=rl-4" -m arigraph --games 20 \
  --steps "$steps" --valid-games 1 --evaluate-every 1000000 --envs 32 --device "$device" "$@" --out "$folder"
ended="$(date +%s.%N)"
cpu="$(sed -n 's/^  "cpu_seconds": \([0-9.]*\).*/\1/p' "$folder/result.json")"
awk -v s="$steps" -v w="$started $ended" -v c="$cpu" -v d="$learner on $device" 'BEGIN {
  split(w, t, " "); wall = t[2] - t[1]
  printf "%s: %.0f s, %.1f steps/s; %.0f CPU s, %.1f steps/CPU s\n", d, wall, s / wall, c, s / c }'
