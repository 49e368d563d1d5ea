#!/bin/sh
# Train the main table: what memories and features are worth under equal reward.
#
# DRRN without bonus and repeat penalty, all 100 training games of a level, 100 games of `held_out`,
# which nothing else plays, five trainings, all arms with the same settings; see one.sh and
# `--set facts=` in docs/reinforcement-learning.md. The first two arms are played on other levels too.
#
#   sh benchmarks/rl/sweep.sh [LEVELS] [TRAININGS]     "rl-4 rl-3" and "0 1 2 3 4"
#
# UNHINTED=1 trains all without the rules hint. CLONED=1 has the planner label the first 1,500 of
# 5,000 steps (DAgger): in hunts reward alone teaches little. GAMES=20 is GATA's other protocol, with
# its 20 test games. Three CPU minutes a run, nine runs a level and training, 13 of hunts; if
# interrupted, run it again.
set -e
export GAMES="${GAMES:-100}"
case $GAMES in 100) export SPLIT=held_out SEEDS=0:100 ;; esac
baseline=drrn options="--steps 12500"
if [ -n "$CLONED" ]; then
  baseline=bc options="--steps 5000 --evaluate-every 1250 --set beta_steps=1500 --set rl_after=1500"
fi
run() { # FACTS MEMORY [LEVELS to play too]
  KIND="$1-$GAMES${UNHINTED:+-unhinted}${CLONED:+-cloned}" ALSO="$3" \
    sh benchmarks/rl/one.sh $baseline "$level" "$2" "$seed" $options --set "facts=$1"
}
for seed in ${2:-0 1 2 3 4}; do
  for level in ${1:-rl-4 rl-3}; do
    case $level in rl-4) other="rl-2 rl-3" ;; hunt-*) other=hunt-hard ;; *) other=rl-4 ;; esac
    run related arigraph "$other"
    run plain arigraph "$other"
    for memory in present none history summary stma shuffled; do run plain "$memory"; done
    run rendered arigraph
    # In hunts most is due to the signposts; these are what they are worth to other memories.
    case $level in hunt-*) for memory in present shuffled stma summary; do run related "$memory"; done ;; esac
  done
done
