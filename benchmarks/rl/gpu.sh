#!/bin/sh
# Measure DRRN with a frozen MiniLM at batch 512 on a device.
#
# 32 games side by side: environment steps and updates a second of wall clock, and of CPU time.
#
#   sh benchmarks/rl/gpu.sh cuda
#   sh benchmarks/rl/gpu.sh cpu
#   STEPS=20000 sh benchmarks/rl/gpu.sh cuda     longer than the 2,000 steps of a measurement
set -e
device="${1:-cuda}"
gym_memory="${GYM_MEMORY:-gym-memory}"
folder="results/rl/minilm-$device"
rm -rf "$folder"
started="$(date +%s.%N)"
$gym_memory train drrn -e "Cooking?gata_actions=true&level=rl-4" -m arigraph --games 20 \
  --steps "${STEPS:-2000}" --valid-games 1 --evaluate-every 1000000 --envs 32 --device "$device" \
  --set encoder=minilm --set batch=512 --set learn_start=512 --set update_every=4 --out "$folder"
ended="$(date +%s.%N)"
cpu="$(sed -n 's/^  "cpu_seconds": \([0-9.]*\).*/\1/p' "$folder/result.json")"
awk -v s="${STEPS:-2000}" -v w="$started $ended" -v c="$cpu" -v d="$device" 'BEGIN {
  split(w, t, " "); wall = t[2] - t[1]; u = (s - 512) / 4
  printf "%s: %.0f s, %.1f steps/s, %.1f updates/s; ", d, wall, s / wall, u / wall
  printf "%.0f CPU s, %.1f steps/CPU s, %.1f updates/CPU s\n", c, s / c, u / c }'
