#!/bin/sh
# Play LDM2 on ALFWorld: form, refine, judge.
#
# A memory formed from expert trajectories on train games (batches of 50, as in the
# paper), refined by tree exploration, judged on valid_seen. The agent asks the scripted server,
# whose answers are analogies with the examples in the prompt and nothing else: it replaces a
# language model and knows no game. Run in the root of the repository, official games in
# $ALFWORLD_DATA. An interrupted run goes on where it stopped. WORK holds what it makes on the way.
set -e
: "${ALFWORLD_DATA:?names no folder with the official games}"
WORK=${WORK:-results/alfworld/ldm2}
here=benchmarks/alfworld
export OMP_NUM_THREADS=1 GYM_MEMORY_MODEL=scripted OPENAI_BASE_URL=http://127.0.0.1:8077/v1
mkdir -p "$WORK"
gym-memory serve-scripted --port 8077 >"$WORK/server.log" 2>&1 &
server=$!
trap 'kill $server' EXIT
sleep 8
train="ALFWorld?split=train"
# 300 train games, 50 of each type, played by the games' own solutions and by the searcher
gym-memory run -e "$train" -m none -p walkthrough --seeds 0:300 --workers 1 \
  --out "$WORK/planner" >/dev/null
gym-memory run -e "$train" -m arigraph -p searcher --seeds 0:300 --workers 1 \
  --out "$WORK/searcher" >/dev/null
for expert in planner searcher; do
  store="$WORK/$expert.db"
  [ -e "$store" ] || gym-memory ldm2 form "$WORK/$expert/steps" --successes \
    -m "ldm2?store=$store&batch_size=50"
done
refined="$WORK/planner-refined.db"
[ -e "$refined" ] || cp "$WORK/planner.db" "$refined"
# 42 other train games
gym-memory ldm2 refine -e "$train" -m "ldm2?store=$refined" -p ldm2 \
  --seeds 300:342 --max-calls 80 --out "$WORK/refine"
# half of valid_seen: the types take turns
gym-memory compare -e ALFWorld -p ldm2 --seeds 0:70 --workers 1 \
  -m none -m "ldm2?store=$WORK/planner.db&learn=false" -m "ldm2?store=$refined&learn=false" \
  -m "ldm2?store=$WORK/searcher.db&learn=false" --out "$WORK/valid_seen"
python benchmarks/keep.py "$WORK/valid_seen" $here --name ldm2
python $here/within.py "$WORK/valid_seen" > "$WORK/within.md" # a table of within.md
