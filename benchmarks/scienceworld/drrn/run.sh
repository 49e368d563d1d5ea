#!/bin/sh
# Train DRRN on three tasks of ScienceWorld, with no memory and with arigraph.
#
# Trained on the first 60
# train variations, the best player chosen by 4 dev variations, played once on CLIN's test
# variations. The six trainings go on by turns, half a minute of (Python's) CPU at a time,
# up to MINUTES, so that they stay equal where all of it is stopped. Run it in the root of the
# repository; the same command goes on where it was.
set -e
export OMP_NUM_THREADS=1
out=benchmarks/scienceworld/drrn
work=${RUN:-results/scienceworld-drrn}
tasks="lifespan-longest-lived find-living-thing boil"
easy="simplification=easy"
for turn in $(seq 1 $((2 * ${MINUTES:-8}))); do
    for task in $tasks; do
        for memory in none arigraph; do
            gym-memory train drrn -e "ScienceWorld?task=$task&$easy" -m $memory \
                --valid-split dev --valid-games 4 --valid-max-steps 30 --games 60 --envs 2 \
                --reward-scale 0.02 --evaluate-every 1000 --steps 1000000 \
                --set common=0.1 --set learn_start=200 \
                --set epsilon_steps=1500 --max-cpu-minutes "$(echo "$turn" | awk '{print $1/2}')" \
                --out "$work/$task-$memory" --json >/dev/null
        done
    done
done
for task in $tasks; do
    seeds=$([ $task = boil ] && echo 0:9 || echo 0:10)
    test="ScienceWorld?task=$task&split=clin&max_steps=50&$easy"
    gym-memory run -e "$test" -m none -p random --seeds "$seeds" --out "$work/test/$task-random"
    for memory in none arigraph; do
        gym-memory run -e "$test" -m $memory -p drrn --checkpoint "$work/$task-$memory" \
            --seeds "$seeds" --out "$work/test/$task-$memory"
    done
done
python $out/table.py "$work"
