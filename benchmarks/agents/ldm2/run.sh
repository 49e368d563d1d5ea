#!/bin/sh
# Play LDM2's agent against the scripted server: formation, refinement, unseen games.
# Run in the root of the repository, with gym-memory installed; takes about ten minutes of one core.
# An interrupted run goes on where it stopped. WORK holds what it makes on the way.
set -e
WORK=${WORK:-results/ldm2}
export OMP_NUM_THREADS=1 GYM_MEMORY_MODEL=scripted OPENAI_BASE_URL=http://127.0.0.1:8055/v1
mkdir -p "$WORK"
gym-memory serve-scripted --port 8055 >"$WORK/server.log" 2>&1 &
server=$!
trap 'kill $server' EXIT
sleep 5
for level in rl-1 rl-2 rl-3 rl-4; do
    gym-memory run -e "Cooking?level=$level&split=train" -m none -p walkthrough --seeds 0:20 \
        --workers 1 --out "$WORK/$level/demos" >/dev/null
    gym-memory run -e "Cooking?level=$level&split=train" -m none -p walkthrough --seeds 0:3 \
        --workers 1 --out "$WORK/$level/few" >/dev/null
    case $level in rl-1 | rl-2) kinds="demos few" ;; *) kinds=demos ;; esac
    for demos in $kinds; do
        initial="$WORK/$level/$demos.db"
        refined="$WORK/$level/$demos-refined.db"
        if [ ! -e "$initial" ]; then
            gym-memory ldm2 form "$WORK/$level/$demos/steps" -m "ldm2?store=$initial"
            cp "$initial" "$refined"
        fi
        gym-memory ldm2 refine -e "Cooking?level=$level&split=train&max_steps=50" -p ldm2 \
            -m "ldm2?store=$refined" --seeds 20:40 --max-calls 200 \
            --out "$WORK/$level/$demos-refine"
        gym-memory compare -e "Cooking?level=$level&split=test&max_steps=50" -p ldm2 \
            -m "ldm2?store=$initial&learn=false" -m "ldm2?store=$refined&learn=false" \
            -m none -m history --seeds 0:40 --workers 1 --out "$WORK/$level/$demos-test"
    done
done
python benchmarks/agents/ldm2/summarize.py "$WORK"
