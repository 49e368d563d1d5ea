#!/bin/sh
# Play CLIN's agent over five trials against the scripted server.
#
# Unseen games, the memories paired; then the rule-based learner with an empty memory (Adapt) and
# with a meta-memory (Gen-Env, G+A).
# Run in the root of the repository, with gym-memory installed; a quarter of an hour of one core.
# An interrupted run goes on where it stopped. WORK holds what it makes on the way.
set -e
WORK=${WORK:-results/clin}
export OMP_NUM_THREADS=1 GYM_MEMORY_MODEL=scripted OPENAI_BASE_URL=http://127.0.0.1:8056/v1
mkdir -p "$WORK"
gym-memory serve-scripted --port 8056 >"$WORK/server.log" 2>&1 &
server=$!
trap 'kill $server' EXIT
sleep 5
gym-memory compare --protocol "trials?k=5" --budget 2000 --seeds 0:12 --workers 1 \
    -e "Cooking?level=rl-3&split=test&max_steps=50" \
    -e "TreasureHunt?level=easy&split=test&max_steps=75" \
    -m none -m reflexion -m clin \
    -p "clin?encoder=hash" --out "$WORK/trials"
for setup in adapt gen-adapt; do
    gym-memory transfer "$setup" --budget 2000 --seeds 0:12 --workers 1 \
        -e "Cooking?level=rl-2&split=test&max_steps=50" \
        -e "Cooking?level=rl-3&split=test&max_steps=50" \
        -m "clin?inner=history" -p learner --out "$WORK/$setup"
done
python benchmarks/agents/clin/summarize.py "$WORK"
