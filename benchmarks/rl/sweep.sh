#!/bin/sh
# The main table: DRRN on Cooking levels 1-4 with the memories arigraph, none and shuffled, three
# seeds, at most 12,500 environment steps and CPU_MINUTES (15) a run; see one.sh.
#
#   sh benchmarks/rl/sweep.sh                    all runs, one at a time
#   ONLY=rl-3 sh benchmarks/rl/sweep.sh          those whose name contains rl-3
#   CPU_MINUTES=5 sh benchmarks/rl/sweep.sh      another limit a run
#
# It can be broken off and started again. `python benchmarks/rl/table.py` makes the table and the
# plots of all that is finished.
set -e
for seed in 0 1 2; do
  for memory in arigraph none shuffled; do
    for level in rl-1 rl-2 rl-3 rl-4; do
      sh benchmarks/rl/one.sh drrn "$level" "$memory" "$seed" --steps 12500 \
        --max-cpu-minutes "${CPU_MINUTES:-15}"
    done
  done
done
