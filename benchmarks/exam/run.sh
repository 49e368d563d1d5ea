#!/bin/sh
# The memory exam over all memories: numbers in exam.json, every question with all answers in
# questions.jsonl.gz, plots in exam_budget.png and exam_age.png. About half an hour of one core.
# Usage, from the root of the repository: benchmarks/exam/run.sh [SEEDS]
set -eu
exec gym-memory exam \
    --env "TreasureHunt?level=easy&split=test" \
    --env "Cooking?level=medium&split=test" \
    --env "Cooking?level=stma-2&split=test" \
    --env "Cleaning?split=test" \
    --policy planner --policy random \
    --budgets 200,500,1000,2000 --lengths 50,150,500 \
    --seeds "${1:-0:20}" --per-kind 3 --out benchmarks/exam
