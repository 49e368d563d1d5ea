#!/bin/sh
# Play five memories with the same prompt before three readers: chance, rules, SmolLM2.
#
# Makes models.jsonl.gz; run it in the root of the repository. If interrupted, run it again.
# The rules are those of the scripted server. SmolLM2 needs the extras llm and smollm, and plays four
# of the ten games; it takes some five CPU minutes.
set -eu
export OMP_NUM_THREADS=1 GYM_MEMORY_MODEL=scripted OPENAI_BASE_URL=http://127.0.0.1:8791/v1

play() {  # tasks, policies
  tasks=$1
  shift
  gym-memory compare -e "Cooking?level=rl-2&gata_actions=true&split=test&max_steps=10" \
    -m none -m summary -m arigraph -m "memrl?inner=history" -m "workflows?inner=history" \
    "$@" --protocol "stream?tasks=$tasks&shown=5" --budget 150 --seeds 0 --workers 1 \
    --out "results/models/$tasks"
  python -c "
from pathlib import Path
from benchmarks.keep import pack, read_rows
rows = read_rows(Path('results/models/$tasks/episodes.jsonl'))
pack(Path('benchmarks/agents/models.jsonl.gz'), 'models-$tasks', rows)"
}

gym-memory serve-scripted --port 8791 &
trap 'kill $!' EXIT
sleep 10
play 15 -p random -p "plain?history=0"
play 9 -p "choose?model=smollm&history=0&score=char"
