#!/bin/sh
# Train DRRN on the four levels of GATA's paper with 20 and with 100 training games.
#
# The best player on valid games plays the 20 test games once; see one.sh.
#
#   sh benchmarks/rl/levels.sh [TRAININGS]     "0 1 2"
set -e
for seed in ${1:-0 1 2}; do
  for games in 100 20; do
    for level in rl-1 rl-2 rl-3 rl-4; do
      for memory in arigraph none; do
        case $memory in none) rows="--set vocabulary=16384" ;; *) rows="" ;; esac # for words
        GAMES=$games KIND="levels-$games-drrn" sh benchmarks/rl/one.sh drrn "$level" "$memory" \
          "$seed" --steps 50000 --set update_every=8 $rows
      done
    done
  done
done
