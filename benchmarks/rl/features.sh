#!/bin/sh
# What the features and the memories are worth under equal reward: DRRN without bonus and repeat
# penalty, on one level, all arms with the same settings; see one.sh and `--set facts=` in
# docs/reinforcement-learning.md.
#
#   sh benchmarks/rl/features.sh [LEVEL] [SEEDS]     rl-4 and "0 1", 10 CPU minutes a seed
#
# `drrn-related` has all features, `drrn-plain` has neither `=` nor signposts, `drrn-rendered`
# reads the recalled facts as text; `history` and `none` have words in any case.
set -e
level="${1:-rl-4}"
run() {
  kind="$1" memory="$2" seed="$3"
  KIND="drrn-$kind" sh benchmarks/rl/one.sh drrn "$level" "$memory" "$seed" --steps 12500 \
    --set "facts=$kind"
}
for seed in ${2:-0 1}; do
  for memory in arigraph present history none; do run plain "$memory" "$seed"; done
  run rendered arigraph "$seed"
  run related arigraph "$seed"
done
