#!/bin/sh
# Play ALFWorld: walkthroughs, the searcher, quality, our engine against the stock one.
#
# Run it in the root of the repository with the
# official games in $ALFWORLD_DATA (the folder that holds json_2.1.1).
# Sections of report.md:
#   walkthrough   the games' own solutions on all 140 official games of valid_seen and on 60
#                 households of ours, ten of each type
#   searcher      the searcher with every kind of memory on the same, and without its habits
# quality.jsonl.gz: the graph against what an ideal observer of the same text would know; one random
#                 step in five is an odd command
#   stock.json    our engine against the stock one (see stock.py); planner.json: Fast Downward
#                 solves our households (see planner.py)
set -e
: "${ALFWORLD_DATA:?names no folder with the official games}"
export OMP_NUM_THREADS=1
here=benchmarks/alfworld
ours="ALFWorld?path=generated"

keep() { python benchmarks/keep.py "results/alfworld/$1" "$here" --name "$(basename "$1")"; }

gym-memory compare -e ALFWorld -m none -p walkthrough --seeds 0:140 \
  --workers "${WORKERS:-1}" --out results/alfworld/walkthrough
keep walkthrough
gym-memory compare -e "$ours" -m none -p walkthrough --seeds 0:60 \
  --workers "${WORKERS:-1}" --out results/alfworld/walkthrough_ours
keep walkthrough_ours
gym-memory compare -e ALFWorld -m none -m history -m shuffled -m arigraph -m oracle \
  -p searcher -p "searcher?habits=false" --seeds 0:140 \
  --workers "${WORKERS:-1}" --out results/alfworld/searcher
keep searcher
gym-memory compare -e "$ours" -m none -m history -m shuffled -m arigraph -m oracle \
  -p searcher -p "searcher?habits=false" --seeds 0:120 \
  --workers "${WORKERS:-1}" --out results/alfworld/searcher_ours
keep searcher_ours
python $here/within.py results/alfworld/searcher results/alfworld/searcher_ours > $here/within.md
for policy in random searcher walkthrough; do
  gym-memory quality -e ALFWorld -e "$ours" -p $policy --seeds 0:140 --out results/alfworld/quality/$policy
  keep quality/$policy
done
python $here/planner.py
python $here/stock.py --data "$ALFWORLD_DATA"
