#!/bin/sh
# Pretrain the memory `belief` and its control, which sees the present observation only; probe both.
#
# Goes on where it was stopped; about 10 CPU minutes.
#
#   sh benchmarks/belief/run.sh
set -e
export OMP_NUM_THREADS=1
gym_memory="${GYM_MEMORY:-gym-memory}"
python="${PYTHON:-python}"

$gym_memory memory pretrain --out results/belief
$gym_memory memory pretrain --set remember=false --out results/belief-control
for run in belief belief-control; do
  $python benchmarks/keep.py "results/$run" benchmarks/belief
done
cp results/belief/belief.safetensors packages/belief/gym_memory_belief/default.safetensors
$python benchmarks/belief/probe.py
