#!/bin/sh
# Measure the graph's facts against an ideal observer's.
#
# Run it in the root of the repository.
# Our families: tasks 15 to 19 of each test split, never played while the rules were written (75
# games). Held out: 30 games of challenges that no rule was written for. One random step in five
# is an
# odd command. The games in many voices: benchmarks/voices.
set -e
export OMP_NUM_THREADS=1
families="
 -e Cooking?level=rl-1 -e Cooking?level=rl-2 -e Cooking?level=rl-3 -e Cooking?level=rl-4
 -e Cooking?level=medium -e Cooking?level=hard -e Cooking?level=hardest
 -e Cooking?level=stma-1 -e Cooking?level=stma-2 -e Cooking?level=stma-3 -e Cooking?level=stma-4
 -e TreasureHunt?level=easy -e TreasureHunt?level=hard -e TreasureHunt?level=hardest -e Cleaning"
held_out="
 -e TextWorld?challenge=coin_collector&split=valid&level=20 -e TextWorld?challenge=coin_collector&split=valid&level=120
 -e TextWorld?challenge=simple&split=valid&level=dense-detailed -e TextWorld?challenge=simple&split=valid&level=sparse-none
 -e TextWorld?challenge=treasure_hunter&split=valid&level=5 -e TextWorld?challenge=treasure_hunter&split=valid&level=15"
out=benchmarks/quality runs=results/quality
gym-memory quality $families --policy random --seeds 15:20 --out $runs/random
gym-memory quality $families --policy planner --seeds 15:20 --out $runs/planner
gym-memory quality $families --policy walkthrough --seeds 15:20 --out $runs/walkthrough
gym-memory quality $held_out --policy random --seeds 0:5 --out $runs/held_out
for run in random planner walkthrough held_out; do python benchmarks/keep.py $runs/$run $out; done
python $out/extract_speed.py --out $out/extract_speed.json
