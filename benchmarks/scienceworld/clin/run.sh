#!/bin/sh
# Play CLIN's four protocols on ScienceWorld.
#
# The real engine, four tasks, the first three test
# variations of each, 15 steps a trial, at most five trials. The paper's agent plays over HTTP
# against the scripted server; rules write its memory. The training episodes of Gen-Env are three
# a task (ten in the paper), those of Gen-Task the partner task on the very same variation.
# Run it in the root of the repository; an interrupted run goes on where it stopped.
set -e
out=benchmarks/scienceworld/clin
work=${RUN:-results/scienceworld-clin}
export OMP_NUM_THREADS=1 GYM_MEMORY_MODEL=scripted OPENAI_BASE_URL=http://127.0.0.1:8057/v1
mkdir -p "$work"
gym-memory serve-scripted --port 8057 >"$work/server.log" 2>&1 &
server=$!
trap 'kill $server' EXIT
sleep 5
env="ScienceWorld?split=clin&max_steps=15&task="
play() {
    gym-memory "$@" --budget 2000 --seeds 0:3 --workers 1 -p "clin?encoder=hash"
}
play compare -e "${env}find-plant" -e "${env}find-living-thing" \
    -e "${env}lifespan-longest-lived" -e "${env}lifespan-shortest-lived" -m none --out "$work/base"
for setup in adapt gen-env gen-adapt; do
    more=$([ $setup = adapt ] || echo "--train-seeds 0:3")
    # shellcheck disable=SC2086 - words on purpose
    play transfer $setup -e "${env}find-plant" -e "${env}find-living-thing" \
        -e "${env}lifespan-longest-lived" -e "${env}lifespan-shortest-lived" $more \
        --out "$work/$setup"
done
for setup in gen-task gen-adapt; do
    for pair in find-plant:find-living-thing find-living-thing:find-plant \
        lifespan-longest-lived:lifespan-shortest-lived \
        lifespan-shortest-lived:lifespan-longest-lived; do
        play transfer $setup --from "$env${pair%:*}" -e "$env${pair#*:}" \
            --out "$work/task-$setup/${pair#*:}"
    done
done
python $out/table.py "$work"
