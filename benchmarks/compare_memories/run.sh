#!/bin/sh
# Play every rule-based memory with the planner and at random.
#
# Score with intervals, tokens and milliseconds a step. Interrupted, the same command goes on; the
# report is report.md.
# Usage, from the root of the repository: benchmarks/compare_memories/run.sh [SEEDS] [WORKERS]
set -eu
cd "$(dirname "$0")/../.."
memories=$(python -c "from gym_memory.memory import MEMORIES
print(' '.join('--memory ' + name for name in MEMORIES.names() if name != 'belief'))")
# shellcheck disable=SC2086 - one word a name
gym-memory compare \
    --env "Cooking?level=medium&split=test" \
    --env "Cooking?level=stma-2&split=test" \
    --env "TreasureHunt?level=easy&split=test" \
    --env "Cleaning?split=test" \
    $memories --policy planner --policy random \
    --seeds "${1:-0:20}" --workers "${2:-1}" --out results/compare_memories
python benchmarks/keep.py results/compare_memories benchmarks/compare_memories
